package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
)

// TestJoinedErrorsAreSaidOnce holds that one cause is not told as often as it was met.
func TestJoinedErrorsAreSaidOnce(t *testing.T) {
	full := errors.New("cache: disk is full")
	if got := oneLine(errors.Join(fmt.Errorf("judge: %w", full), full, full)); got != "judge: cache: disk is full; cache: disk is full" {
		t.Errorf("%q", got)
	}
}

// TestHints holds that an error which a person can do something about says what.
func TestHints(t *testing.T) {
	written := func(errno syscall.Errno) error {
		return fmt.Errorf("result: %w", &fs.PathError{Op: "write", Path: "/data/results/.tmp-1/cases.parquet", Err: errno})
	}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"a full disk":           {written(syscall.ENOSPC), "free space on the disk of /data/results, then run the same command again"},
		"full under the cache":  {fmt.Errorf("%w: .goldgen/cache/replies.sqlite: %w", llm.ErrCache, syscall.ENOSPC), "free space on its disk, or move that folder to another disk"},
		"no permission":         {written(syscall.EACCES), "give the permission"},
		"no such set":           {fmt.Errorf("eval: %w", &datasets.MissingError{Why: "no golden set hb"}), "goldgen run makes a set, goldgen datasets ls lists"},
		"nothing to be done of": {fmt.Errorf("chunk c1: reply: no JSON"), ""},
	} {
		got := hintOf(tc.err)
		if !strings.Contains(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
