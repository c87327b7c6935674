package llm_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/goldgen/goldgen/llm"
)

func TestFull(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "small.sqlite")+"?_pragma=max_page_count(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, full := db.Exec("CREATE TABLE t (x)")
	_, wrong := db.Exec("CREATE NONSENSE")
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"a cache that may not grow": {fmt.Errorf("%w: replies.sqlite: %w", llm.ErrCache, full), true},
		"a file":                    {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		"another error of SQLite":   {wrong, false},
		"no right":                  {&fs.PathError{Op: "write", Path: "x", Err: syscall.EACCES}, false},
		"none":                      {nil, false},
	} {
		if got := llm.Full(tc.err); got != tc.want {
			t.Errorf("%s: %v: %v", name, tc.err, got)
		}
	}
}
