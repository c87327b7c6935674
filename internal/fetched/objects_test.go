package fetched_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/bucket"
	"github.com/goldgen/goldgen/internal/bucket/buckettest"
	"github.com/goldgen/goldgen/internal/fetched"
)

func markdown(key string) bool { return strings.HasSuffix(key, ".md") }

// tree reads every file below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gets counts the objects that are read.
func gets(server *buckettest.Server) *[]string {
	var keys []string
	server.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		if key, ok := strings.CutPrefix(r.URL.Path, "/team/"); ok && r.Method == http.MethodGet && key != "" {
			keys = append(keys, key)
		}
		return false
	})
	return &keys
}

// TestObjectsFollowTheStore holds that only what has changed is read again.
func TestObjectsFollowTheStore(t *testing.T) {
	server := buckettest.New(t)
	s := &fetched.Store{Root: t.TempDir(), Getenv: server.Env}
	const address = "s3://team/docs/"
	for key, text := range map[string]string{"docs/a.md": "a", "docs/b/c.md": "c", "docs/x.png": "x", "other.md": "no"} {
		server.Set(key, text)
	}
	read := gets(server)
	for _, step := range []struct {
		change func()
		want   map[string]string
		read   []string
	}{
		{func() {}, map[string]string{"a.md": "a", "b/c.md": "c"}, []string{"docs/a.md", "docs/b/c.md"}},
		{func() {}, map[string]string{"a.md": "a", "b/c.md": "c"}, nil},
		{func() { server.Set("docs/b/c.md", "d") }, map[string]string{"a.md": "a", "b/c.md": "d"}, []string{"docs/b/c.md"}},
		{func() { server.Set("docs/a.md", ""); server.Set("docs/e.md", "e") }, map[string]string{"b/c.md": "d", "e.md": "e"}, []string{"docs/e.md"}},
		{func() { os.Remove(filepath.Join(s.ObjectsPath(address), "e.md")) }, map[string]string{"b/c.md": "d", "e.md": "e"}, []string{"docs/e.md"}},
	} {
		*read = nil
		step.change()
		if err := s.Objects(t.Context(), address, markdown); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, tree(t, s.ObjectsPath(address))); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(step.read, *read, cmp.Transformer("set", func(keys []string) map[string]bool {
			set := map[string]bool{}
			for _, k := range keys {
				set[k] = true
			}
			return set
		})); diff != "" {
			t.Error(diff)
		}
	}
}

// TestObjectsOfARealStore holds that what a listing says of an object is what reading it
// says.
func TestObjectsOfARealStore(t *testing.T) {
	address, env := buckettest.Real(t)
	if address == "" {
		t.Skip("no real store")
	}
	b := buckettest.Open(t, address+"/docs", env)
	for _, key := range []string{"a.md", "b/c.md", "x.png"} {
		o := bucket.Object{Body: strings.NewReader(key), Size: int64(len(key))}
		if _, err := b.Put(t.Context(), key, o, bucket.Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	s := &fetched.Store{Root: t.TempDir(), Getenv: env}
	for range 2 {
		if err := s.Objects(t.Context(), address+"/docs/", markdown); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"a.md": "a.md", "b/c.md": "b/c.md"}, tree(t, s.ObjectsPath(address+"/docs/"))); diff != "" {
			t.Error(diff)
		}
	}
	if err := s.ProbeObjects(t.Context(), address+"/docs/a.md"); err != nil {
		t.Error(err)
	}
}

// TestOneObject also holds that an address may name its server.
func TestOneObject(t *testing.T) {
	server := buckettest.New(t)
	server.Set("logs/queries.jsonl", "{}\n")
	s := &fetched.Store{Root: t.TempDir(), Getenv: func(name string) string {
		if strings.HasPrefix(name, "AWS_ENDPOINT") {
			return ""
		}
		return server.Env(name)
	}}
	address := "s3://team/logs/queries.jsonl?endpoint=" + server.URL
	if err := s.Objects(t.Context(), address, markdown); err != nil {
		t.Fatal(err)
	}
	path := s.ObjectsPath(address)
	if data, err := os.ReadFile(path); err != nil || string(data) != "{}\n" || filepath.Base(path) != "queries.jsonl" {
		t.Errorf("%s: %q, %v", path, data, err)
	}
	if err := s.ProbeObjects(t.Context(), address); err != nil {
		t.Error(err)
	}
	if err := s.Objects(t.Context(), "s3://team/logs/none.jsonl?endpoint="+server.URL, markdown); !errors.Is(err, bucket.ErrMissing) {
		t.Error(err)
	}
}

// TestObjectsFailInTheMiddle: what was there stays readable, and the next time goes on.
func TestObjectsFailInTheMiddle(t *testing.T) {
	server := buckettest.New(t)
	s := &fetched.Store{Root: t.TempDir(), Getenv: server.Env}
	for _, key := range []string{"a.md", "b.md", "c.md"} {
		server.Set(key, key)
	}
	server.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "b.md") {
			buckettest.Fail(w, http.StatusForbidden, "AccessDenied")
			return true
		}
		return false
	})
	if err := s.Objects(t.Context(), "s3://team/", markdown); !errors.Is(err, bucket.ErrRefused) {
		t.Fatal(err)
	}
	server.Fault(nil)
	for _, address := range []string{"s3://team/", "s3://team", "s3://team/?region=x"} {
		if err := s.Objects(t.Context(), address, markdown); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
	}
	want := map[string]string{"a.md": "a.md", "b.md": "b.md", "c.md": "c.md"}
	if diff := cmp.Diff(want, tree(t, s.ObjectsPath("s3://team/"))); diff != "" {
		t.Error(diff)
	}
}

// TestConfigs holds that what cannot be fetched is refused, and no secret is shown.
func TestConfigs(t *testing.T) {
	for _, c := range []fetched.Config{
		{}, {Kind: "mysql"}, {Kind: "postgres", Query: "select 1"}, {Kind: "postgres", DSN: "postgres://h/d"},
		{Kind: "postgres", DSN: "postgres://u:topsecret@h/d", Query: "select 1"}, {Kind: "postgres", DSN: "host=h password=topsecret", Query: "select 1"},
		{Kind: "postgres", DSN: "postgres://h/d", Query: "select 1", Collection: "c"},
		{Kind: "qdrant", URL: "h:6334/c"}, {Kind: "qdrant", URL: "http://h:6334"}, {Kind: "qdrant", URL: "http://h/c", APIKey: "topsecret"},
		{Kind: "qdrant", URL: "http://u:topsecret@h/c"}, {Kind: "qdrant", URL: "http://h/c", Query: "select 1"},
	} {
		if err := c.Validate(); err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []fetched.Config{
		{Kind: "postgres", DSN: "postgres://u@h/d", Query: "select 1", PasswordFile: "pw"},
		{Kind: "qdrant", URL: "https://h:6334/c", APIKey: "${KEY}", Vector: "text"}, {Kind: "qdrant", URL: "http://h:6334", Collection: "c"},
	} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
