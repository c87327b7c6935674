package datasets_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/bucket"
	"github.com/goldgen/goldgen/internal/bucket/buckettest"
)

func pull(t *testing.T, s *datasets.Store, from *bucket.Bucket, ref string, o datasets.PullOptions) (datasets.Pulled, error) {
	t.Helper()
	o.Partial = filepath.Join(filepath.Dir(s.Root), "partial")
	return s.Pull(t.Context(), from, ref, o)
}

func push(t *testing.T, s *datasets.Store, to *bucket.Bucket, ref datasets.Ref, o datasets.PushOptions) datasets.Pushed {
	t.Helper()
	done, err := s.Push(t.Context(), to, ref, o)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// filesOf reads all files of a set but for its tags.
func filesOf(t *testing.T, s *datasets.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(s.Root, "*", "v*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(s.Root, path)
		out[rel] = string(data)
	}
	return out
}

// TestPushedIsPulledByteForByte also holds that what is there is not moved twice.
func TestPushedIsPulledByteForByte(t *testing.T) {
	for name, place := range buckettest.Stores(t) {
		t.Run(name, func(t *testing.T) {
			here, there := newStore(t), newStore(t)
			write(t, here, "set", draft("one?"))
			v2 := write(t, here, "set", draft("two?"))
			if _, _, err := here.SetTag(t.Context(), v2, "prod", datasets.TagOptions{Why: "release"}); err != nil {
				t.Fatal(err)
			}
			first := push(t, here, place, v2, datasets.PushOptions{Tags: []string{"prod"}})
			want := datasets.Pushed{
				Versions: []datasets.Transfer{{Ref: datasets.Ref{Name: "set", Version: 1}, Files: 3}, {Ref: datasets.Ref{Name: "set", Version: 2}, Files: 3}},
				Tags:     []datasets.TagTransfer{{Name: "prod", Version: 2, Changed: true}},
			}
			loose := cmp.Options{cmpopts.IgnoreFields(datasets.Ref{}, "Digest", "Path"), cmpopts.IgnoreFields(datasets.Transfer{}, "Bytes")}
			if diff := cmp.Diff(want, first, loose); diff != "" {
				t.Error(diff)
			}
			again := push(t, here, place, v2, datasets.PushOptions{Tags: []string{"prod"}})
			for i := range want.Versions {
				want.Versions[i].There, want.Versions[i].Files = true, 0
			}
			want.Tags[0].Changed, want.Tags[0].From = false, 2
			if diff := cmp.Diff(want, again, loose); diff != "" {
				t.Error(diff)
			}
			for _, ref := range []string{"set@prod", "set", "set@v2", "set@" + v2.Digest} {
				got, err := pull(t, there, place, ref, datasets.PullOptions{Tags: []string{"prod"}})
				if err != nil || got.Golden.Version != 2 {
					t.Fatalf("%s: %+v, %v", ref, got, err)
				}
			}
			if diff := cmp.Diff(filesOf(t, here), filesOf(t, there)); diff != "" {
				t.Error(diff)
			}
			ours, _ := here.Tags("set")
			theirs, err := there.Tags("set")
			if diff := cmp.Diff(ours, theirs); diff != "" || err != nil {
				t.Errorf("tags (%v): %s", err, diff)
			}
		})
	}
}

// TestOnlyOneVersionMoves holds what --only says.
func TestOnlyOneVersionMoves(t *testing.T) {
	here, there := newStore(t), newStore(t)
	place := buckettest.Stores(t)["folder"]
	write(t, here, "set", draft("one?"))
	v2 := write(t, here, "set", draft("two?"))
	if done := push(t, here, place, v2, datasets.PushOptions{Only: true}); len(done.Versions) != 1 {
		t.Errorf("pushed %+v", done.Versions)
	}
	if _, err := pull(t, there, place, "set", datasets.PullOptions{}); err != nil {
		t.Error(err)
	}
	if log, err := there.Log("set"); err != nil || len(log) != 1 || !log[0].Missing {
		t.Errorf("%+v, %v", log, err)
	}
}

// TestDivergedVersionsAreRefused holds that neither a push nor a pull writes over a
// version that somebody else made.
func TestDivergedVersionsAreRefused(t *testing.T) {
	for name, place := range buckettest.Stores(t) {
		t.Run(name, func(t *testing.T) {
			a, b := newStore(t), newStore(t)
			push(t, a, place, write(t, a, "set", draft("one?")), datasets.PushOptions{})
			mine := write(t, b, "set", draft("another?"))
			before := filesOf(t, b)
			if _, err := b.Push(t.Context(), place, mine, datasets.PushOptions{}); !errors.Is(err, datasets.ErrDiverged) {
				t.Errorf("push: %v", err)
			}
			if _, err := pull(t, b, place, "set", datasets.PullOptions{}); !errors.Is(err, datasets.ErrDiverged) {
				t.Errorf("pull: %v", err)
			}
			if diff := cmp.Diff(before, filesOf(t, b)); diff != "" {
				t.Error(diff)
			}
			c := newStore(t)
			if _, err := pull(t, c, place, "set", datasets.PullOptions{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(filesOf(t, a), filesOf(t, c)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTagsOfPlacesMoveFromWhereTheyWereBelieved has two who go on from one tag.
func TestTagsOfPlacesMoveFromWhereTheyWereBelieved(t *testing.T) {
	for name, place := range buckettest.Stores(t) {
		t.Run(name, func(t *testing.T) {
			a, b := newStore(t), newStore(t)
			v1 := write(t, a, "set", draft("one?"))
			setTag(t, a, v1, "prod")
			prod := []string{"prod"}
			push(t, a, place, v1, datasets.PushOptions{Tags: prod})
			if _, err := pull(t, b, place, "set", datasets.PullOptions{Tags: prod}); err != nil {
				t.Fatal(err)
			}
			v2 := write(t, a, "set", draft("two?"))
			setTag(t, a, v2, "prod")
			push(t, a, place, v2, datasets.PushOptions{Tags: prod})

			if _, _, err := b.RemoveTag(t.Context(), "set", "prod", datasets.TagOptions{}); err != nil {
				t.Fatal(err)
			}
			at1, err := b.Resolve("set@v1")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Push(t.Context(), place, at1, datasets.PushOptions{Tags: prod}); !errors.Is(err, datasets.ErrTagMoved) {
				t.Errorf("push of a tag that others moved: %v", err)
			}
			if _, err := pull(t, b, place, "set", datasets.PullOptions{Tags: prod}); !errors.Is(err, datasets.ErrTagMoved) {
				t.Errorf("pull over a tag that was moved here: %v", err)
			}
			if _, err := b.Push(t.Context(), place, at1, datasets.PushOptions{Tags: prod, If: new(1)}); !errors.Is(err, datasets.ErrTagMoved) {
				t.Errorf("push that believes v1: %v", err)
			}
			got := push(t, b, place, at1, datasets.PushOptions{Tags: prod, If: new(2)})
			want := []datasets.TagTransfer{{Name: "prod", From: 2, Changed: true}}
			if diff := cmp.Diff(want, got.Tags); diff != "" {
				t.Error(diff)
			}
			sets, err := datasets.ListRemote(t.Context(), place)
			if err != nil || len(sets) != 1 || len(sets[0].Tags) != 0 || !cmp.Equal(sets[0].Versions, []int{1, 2}) {
				t.Errorf("%+v, %v", sets, err)
			}
		})
	}
}

func setTag(t *testing.T, s *datasets.Store, to datasets.Ref, tag string) {
	t.Helper()
	if _, _, err := s.SetTag(t.Context(), to, tag, datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestPushFailsAtEveryRequest lets the store refuse each request in turn: what can be
// pulled then is whole, and the next push goes on.
func TestPushFailsAtEveryRequest(t *testing.T) {
	here := newStore(t)
	write(t, here, "set", draft("one?"))
	v2 := write(t, here, "set", draft("two?"))
	setTag(t, here, v2, "prod")
	failures := 0
	for at := 0; ; at++ {
		fake := buckettest.New(t)
		place := buckettest.Open(t, "s3://team/golden", fake.Env)
		n := 0
		fake.Fault(func(w http.ResponseWriter, r *http.Request) bool {
			if n++; n != at+1 {
				return false
			}
			buckettest.Fail(w, http.StatusForbidden, "AccessDenied")
			return true
		})
		_, err := here.Push(t.Context(), place, v2, datasets.PushOptions{Tags: []string{"prod"}})
		fake.Fault(nil)
		wantWholeThere(t, place)
		if n <= at {
			break // it asked no more often
		}
		if err != nil {
			failures++
		}
		push(t, here, place, v2, datasets.PushOptions{Tags: []string{"prod"}})
		there := newStore(t)
		if _, err := pull(t, there, place, "set@prod", datasets.PullOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(filesOf(t, here), filesOf(t, there)); diff != "" {
			t.Errorf("failed at request %d: %s", at, diff)
		}
	}
	if failures < 10 {
		t.Errorf("failed at %d requests only", failures)
	}
}

// wantWholeThere wants all that is seen in a place to be pulled.
func wantWholeThere(t *testing.T, place *bucket.Bucket) {
	t.Helper()
	sets, err := datasets.ListRemote(t.Context(), place)
	if err != nil || len(sets) == 0 {
		return // nothing was made yet
	}
	if _, err := pull(t, newStore(t), place, "set", datasets.PullOptions{}); err != nil || sets[0].Problem != "" {
		t.Errorf("what is seen there cannot be pulled: %v %s", err, sets[0].Problem)
	}
}

// TestPullFailsAtEveryRequest: whatever fails, no version is seen here that is not whole.
func TestPullFailsAtEveryRequest(t *testing.T) {
	here, fake := newStore(t), buckettest.New(t)
	place := buckettest.Open(t, "s3://team/golden", fake.Env)
	write(t, here, "set", draft("one?"))
	push(t, here, place, write(t, here, "set", draft("two?")), datasets.PushOptions{})
	for at := 0; ; at++ {
		there, n := newStore(t), 0
		fake.Fault(func(w http.ResponseWriter, r *http.Request) bool {
			if n++; n != at+1 {
				return false
			}
			buckettest.Fail(w, http.StatusForbidden, "AccessDenied")
			return true
		})
		_, err := pull(t, there, place, "set", datasets.PullOptions{})
		fake.Fault(nil)
		if n <= at {
			break
		}
		if err == nil {
			t.Errorf("request %d failed, pull did not", at)
		}
		for path, data := range filesOf(t, there) {
			if data != filesOf(t, here)[path] {
				t.Errorf("request %d failed: %s is seen, and is not what was pushed", at, path)
			}
		}
		if _, err := pull(t, there, place, "set", datasets.PullOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(filesOf(t, here), filesOf(t, there)); diff != "" {
			t.Errorf("request %d failed: %s", at, diff)
		}
	}
}

// TestDamageInAPlaceIsSeen alters each object in turn.
func TestDamageInAPlaceIsSeen(t *testing.T) {
	here, fake := newStore(t), buckettest.New(t)
	place := buckettest.Open(t, "s3://team", fake.Env)
	push(t, here, place, write(t, here, "set", draft("one?")), datasets.PushOptions{})
	for key, body := range fake.Objects() {
		half := body[:len(body)/2]
		flipped := []byte(body)
		flipped[len(flipped)/2] ^= 1
		for what, now := range map[string]string{"gone": "", "cut": half, "altered": string(flipped), "longer": body + "x"} {
			if strings.HasSuffix(key, "manifest.json") && what != "cut" {
				continue // whole, it says what is true, or that there is no such version
			}
			fake.Set(key, now)
			there := newStore(t)
			_, err := pull(t, there, place, "set", datasets.PullOptions{})
			if err == nil {
				t.Errorf("%s is %s: pulled", key, what)
			}
			if files := filesOf(t, there); len(files) > 0 {
				t.Errorf("%s is %s: %v is seen", key, what, files)
			}
		}
		fake.Set(key, body)
	}
}

// TestHostileManifests: a place may hold anything.
func TestHostileManifests(t *testing.T) {
	here, fake := newStore(t), buckettest.New(t)
	place := buckettest.Open(t, "s3://team", fake.Env)
	push(t, here, place, write(t, here, "set", draft("one?")), datasets.PushOptions{})
	const key = "set/v0001/manifest.json"
	good := fake.Objects()[key]
	for what, bad := range map[string]string{
		"another name":     strings.Replace(good, `"name": "set"`, `"name": "../../etc"`, 1),
		"another version":  strings.Replace(good, `"version": 1`, `"version": 7`, 1),
		"no digests":       strings.ReplaceAll(good, "sha256:", "../../../x:"),
		"another format":   strings.Replace(good, `"format": 1`, `"format": 99`, 1),
		"its own ancestor": strings.Replace(good, `"version": 1,`, `"version": 1, "parent_version": 1, "parent": "sha256:00",`, 1),
		"no JSON":          "<html>",
		"a wrong digest":   strings.Replace(good, `"digest": "sha256:`, `"digest": "sha256:00`, 1),
	} {
		if bad == good {
			t.Fatalf("%s: nothing was changed", what)
		}
		fake.Set(key, bad)
		there := newStore(t)
		if _, err := pull(t, there, place, "set", datasets.PullOptions{}); err == nil && what != "its own ancestor" {
			t.Errorf("%s: pulled", what)
		}
		if files := filesOf(t, there); len(files) > 0 && what != "its own ancestor" {
			t.Errorf("%s: %d files are seen", what, len(files))
		}
	}
}

// TestAlteredVersionIsNotPushed holds that a damaged version does not spread.
func TestAlteredVersionIsNotPushed(t *testing.T) {
	here := newStore(t)
	ref := write(t, here, "set", draft("one?"))
	path := filepath.Join(ref.Path, "cases.parquet")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	fake := buckettest.New(t)
	if _, err := here.Push(context.Background(), buckettest.Open(t, "s3://team", fake.Env), ref, datasets.PushOptions{}); !errors.Is(err, datasets.ErrDamaged) {
		t.Error(err)
	}
	if got := fake.Objects(); len(got) != 0 {
		t.Errorf("sent %v", got)
	}
}

// TestDeafPlaceIsNamed holds that a store without conditions is said to be one.
func TestDeafPlaceIsNamed(t *testing.T) {
	here, fake := newStore(t), buckettest.New(t)
	fake.Deaf()
	ref := write(t, here, "set", draft("one?"))
	if done := push(t, here, buckettest.Open(t, "s3://team", fake.Env), ref, datasets.PushOptions{}); !done.Unguarded {
		t.Error("nothing was said")
	}
}

// TestDryPushWritesNothing also holds that it counts what would be sent.
func TestDryPushWritesNothing(t *testing.T) {
	here, fake := newStore(t), buckettest.New(t)
	ref := write(t, here, "set", draft("one?"))
	setTag(t, here, ref, "prod")
	done := push(t, here, buckettest.Open(t, "s3://team", fake.Env), ref, datasets.PushOptions{DryRun: true, Tags: []string{"prod"}})
	if got := fake.Objects(); len(got) != 0 || done.Versions[0].Files != 3 || !done.Tags[0].Changed {
		t.Errorf("%+v; sent %v", done, got)
	}
}
