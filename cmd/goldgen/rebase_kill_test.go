//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rebaseProject is a quickstart whose set is of the corpus before, and whose
// latest snapshot is of the corpus after.
func rebaseProject(t *testing.T, bin string) string {
	t.Helper()
	dir := t.TempDir()
	quickstart, err := filepath.Abs("../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	yaml, err := os.ReadFile(filepath.Join(quickstart, "goldgen.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "goldgen.yaml"), yaml, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, step := range [][2]string{{"docs", "run"}, {"docs-v2", "snapshot"}} {
		docs := filepath.Join(dir, "docs")
		if err := os.RemoveAll(docs); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(docs, os.DirFS(filepath.Join(quickstart, step[0]))); err != nil {
			t.Fatal(err)
		}
		ended(t, t.Context(), bin, dir, "", step[1])
	}
	return dir
}

// TestRebaseKilledAtAnyPoint kills rebase 20 times at random moments. After each
// kill the newest version is whole, the old one or the new one; in the end the
// bytes are those of a rebase that was left alone.
func TestRebaseKilledAtAnyPoint(t *testing.T) {
	bin := binary(t)
	dir := rebaseProject(t, bin)
	second := filepath.Join(dir, "golden", "handbook", "v0002")

	start := time.Now()
	ended(t, t.Context(), bin, dir, "", "rebase", "handbook")
	whole := time.Since(start)
	alone := setBytes(t, dir)

	k := &killer{random: rand.New(rand.NewPCG(3, 4)), whole: whole}
	for attempt := 0; k.more(t, attempt); attempt++ {
		if err := os.RemoveAll(second); err != nil {
			t.Fatal(err)
		}
		k.strike(t, bin, dir, "", "rebase", "handbook")
		wantWhole(t, bin, dir, second)
	}
	ended(t, t.Context(), bin, dir, "", "rebase", "handbook")
	if diff := cmp.Diff(alone, setBytes(t, dir)); diff != "" {
		t.Errorf("killed 20 times, it made other bytes:\n%s", diff)
	}
}

// wantWhole wants the newest version to hold over the snapshot that it is of. A
// folder that is there is finished.
func wantWhole(t *testing.T, bin, dir, second string) {
	t.Helper()
	if _, err := os.Stat(second); err == nil {
		if _, err := os.Stat(filepath.Join(second, "manifest.json")); err != nil {
			t.Fatalf("half a version is there: %v", err)
		}
	}
	if out, err := exec.Command(bin, "-C", dir, "datasets", "verify", "handbook").CombinedOutput(); err != nil {
		t.Fatalf("datasets verify: %v\n%s", err, out)
	}
}
