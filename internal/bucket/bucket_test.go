package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/internal/bucket"
	"github.com/goldgen/goldgen/internal/bucket/buckettest"
)

func object(text string) bucket.Object {
	sum := sha256.Sum256([]byte(text))
	return bucket.Object{Body: strings.NewReader(text), Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}

func TestObjects(t *testing.T) {
	for name, b := range buckettest.Stores(t) {
		t.Run(name, func(t *testing.T) {
			if _, _, err := b.Get(t.Context(), "a/1"); !errors.Is(err, bucket.ErrMissing) {
				t.Errorf("an object that is not there: %v", err)
			}
			for _, key := range []string{"a/1", "a/2", "b"} {
				if _, err := b.Put(t.Context(), key, object("text of "+key), bucket.Condition{}); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for info, err := range b.List(t.Context(), "a/") {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(info.Key, " ", info.Size))
			}
			if diff := cmp.Diff([]string{"a/1 11", "a/2 11"}, got); diff != "" {
				t.Error(diff)
			}
			text, info, err := b.ReadAll(t.Context(), "b", 100)
			if err != nil || string(text) != "text of b" {
				t.Errorf("%q, %v", text, err)
			}
			want := bucket.Info{Key: "b", Size: 9, SHA256: object("text of b").SHA256}
			if diff := cmp.Diff(want, info, cmpopts.IgnoreFields(bucket.Info{}, "ETag", "Modified")); diff != "" {
				t.Error(diff)
			}
			if _, _, err := b.ReadAll(t.Context(), "b", 8); err == nil {
				t.Error("read 9 bytes where 8 are the most")
			}
		})
	}
}

// TestConditions holds that of two writers who saw the same one is told.
func TestConditions(t *testing.T) {
	for name, b := range buckettest.Stores(t) {
		t.Run(name, func(t *testing.T) {
			first, err := b.Put(t.Context(), "tag", object("one"), bucket.Condition{Absent: true})
			if err != nil {
				t.Fatal(err)
			}
			if heeds, err := b.Conditional(t.Context(), "tag", object("one")); err != nil || !heeds {
				t.Fatalf("heeds conditions: %v, %v", heeds, err)
			}
			if _, err := b.Put(t.Context(), "tag", object("two"), bucket.Condition{ETag: first.ETag}); err != nil {
				t.Fatal(err)
			}
			for _, on := range []bucket.Condition{{Absent: true}, {ETag: first.ETag}} {
				if _, err := b.Put(t.Context(), "tag", object("three"), on); !errors.Is(err, bucket.ErrCondition) {
					t.Errorf("%+v: %v", on, err)
				}
			}
			if text, _, err := b.ReadAll(t.Context(), "tag", 100); string(text) != "two" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// TestDeafStore holds that a store without conditions is found out.
func TestDeafStore(t *testing.T) {
	fake := buckettest.New(t)
	fake.Deaf()
	b := buckettest.Open(t, "s3://team", fake.Env)
	if _, err := b.Put(t.Context(), "x", object("one"), bucket.Condition{}); err != nil {
		t.Fatal(err)
	}
	if heeds, err := b.Conditional(t.Context(), "x", object("one")); err != nil || heeds {
		t.Errorf("heeds conditions: %v, %v", heeds, err)
	}
}

func TestErrorsOfStores(t *testing.T) {
	fake := buckettest.New(t)
	deny := func(w http.ResponseWriter, r *http.Request) bool {
		buckettest.Fail(w, http.StatusForbidden, "AccessDenied")
		return true
	}
	for _, test := range []struct {
		name, address string
		fault         func(http.ResponseWriter, *http.Request) bool
		want          error
	}{
		{"no bucket", "s3://other/x", nil, bucket.ErrMissing},
		{"no folder", filepath.Join(t.TempDir(), "no"), nil, bucket.ErrMissing},
		{"no right", "s3://team/x", deny, bucket.ErrRefused},
	} {
		fake.Fault(test.fault)
		b := buckettest.Open(t, test.address, fake.Env)
		for _, err := range b.List(t.Context(), "") {
			if !errors.Is(err, test.want) {
				t.Errorf("%s: list: %v, want %v", test.name, err, test.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: a key is in %v", test.name, err)
			}
		}
		if _, _, err := b.Get(t.Context(), "k"); !errors.Is(err, test.want) {
			t.Errorf("%s: get: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestHostileKeys holds that no key of a store leads out of a folder.
func TestHostileKeys(t *testing.T) {
	fake := buckettest.New(t)
	b := buckettest.Open(t, "s3://team/p", fake.Env)
	for _, key := range []string{"p/../../etc/passwd", "p//x", "p/a\\b", "p/./x"} {
		fake.Set(key, "text")
		var errs int
		for _, err := range b.List(t.Context(), "") {
			if err != nil {
				errs++
			}
		}
		if errs != 1 {
			t.Errorf("%q: listed", key)
		}
		fake.Set(key, "")
	}
	if _, err := b.Put(t.Context(), "../x", object("x"), bucket.Condition{}); err == nil {
		t.Error("wrote ../x")
	}
}

func TestAddresses(t *testing.T) {
	none := func(string) string { return "" }
	for _, address := range []string{"s3://", "s3://id:key@team/x", "gs://team", "s3://team?secret=x", "s3://team?endpoint=nowhere", "s3://team?endpoint=http://id:key@host"} {
		if _, err := bucket.Open(address, none); err == nil {
			t.Errorf("%s: opened", address)
		} else if strings.Contains(err.Error(), "key@") || strings.Contains(err.Error(), "=") {
			t.Errorf("%s: a key may be in %v", address, err)
		}
	}
	if b := buckettest.Open(t, "s3://team/a/b/?endpoint=http://127.0.0.1:1", none); b.Where("k") != "s3://team/a/b/k" {
		t.Error(b.Where("k"))
	}
}

// TestChangedWhileRead holds that the bytes of two versions of an object are not
// taken for one.
func TestChangedWhileRead(t *testing.T) {
	fake := buckettest.New(t)
	b := buckettest.Open(t, "s3://team", fake.Env)
	if _, err := b.Put(t.Context(), "x", object(strings.Repeat("a", 1<<20)), bucket.Condition{}); err != nil {
		t.Fatal(err)
	}
	r, _, err := b.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fake.Set("x", strings.Repeat("b", 1<<20))
	data, err := io.ReadAll(r)
	if err == nil && bytes.Contains(data, []byte("a")) && bytes.Contains(data, []byte("b")) {
		t.Error("half of either was read as one object")
	}
}
