package buckettest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goldgen/goldgen/internal/bucket"
)

// Stores are one of each kind, each empty: a folder that is not there yet, a fake and,
// where GOLDGEN_TEST_S3 names one, a real server.
func Stores(t *testing.T) map[string]*bucket.Bucket {
	t.Helper()
	fake := New(t)
	out := map[string]*bucket.Bucket{
		"folder": Open(t, filepath.Join(t.TempDir(), "new"), os.Getenv),
		"fake":   Open(t, "s3://"+Name+"/below/here", fake.Env),
	}
	if address, env := Real(t); address != "" {
		out["real"] = Open(t, address+"/below", env)
	}
	return out
}

// Open opens an address.
func Open(t *testing.T, address string, env func(string) string) *bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(address, env)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
