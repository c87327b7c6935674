//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/smalldisk"
	"github.com/goldgen/goldgen/llm/llmtest"
)

// fullDisk is a command that makes the second version of a set, on a disk that is full
// at ever another of its writes.
type fullDisk struct {
	bin, host string
	start     string // the project's files before
	args      []string
	disk      *smalldisk.Disk
	want      map[string]string // the set's files after
}

// newFullDisk runs the command once with all the room that it takes, and says how much
// that is beyond the project's files. The command must make the same set wherever the
// project lies.
func newFullDisk(t *testing.T, bin, host, start string, args ...string) (f *fullDisk, before, after smalldisk.Room) {
	f = &fullDisk{bin: bin, host: host, start: start, args: args, disk: smalldisk.New(t)}
	before = f.restore(t)
	ended(t, t.Context(), bin, f.dir(), host, args...)
	f.want = setBytes(t, f.dir())
	return f, before, f.disk.Used(t)
}

func (f *fullDisk) dir() string { return filepath.Join(f.disk.Dir, "project") }

// restore puts the project there as it was before the command.
func (f *fullDisk) restore(t *testing.T) smalldisk.Room {
	t.Helper()
	f.disk.Limit(t, smalldisk.Room{})
	if err := os.RemoveAll(f.dir()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(f.dir(), os.DirFS(f.start)); err != nil {
		t.Fatal(err)
	}
	return f.disk.Used(t)
}

// failsWithin runs the command with so much room. Where that is too little, the command
// must say so, leave what was there, and make the same set when there is room; else
// false is returned.
func (f *fullDisk) failsWithin(t *testing.T, room smalldisk.Room) bool {
	t.Helper()
	f.restore(t)
	f.disk.Limit(t, room)
	t.Setenv("OLLAMA_HOST", f.host)
	text, code := failing(t, f.bin, f.dir(), f.args...)
	if code == exitDone || code == exitPartly {
		return false
	}
	if code != exitFailed || !strings.Contains(text, "no space left on device") && !strings.Contains(text, "is full") ||
		!strings.Contains(text, "free space on") {
		t.Errorf("%+v: code %d:\n%s", room, code, text)
	}
	f.wantWhole(t, room)
	f.disk.Limit(t, smalldisk.Room{})
	ended(t, t.Context(), f.bin, f.dir(), f.host, f.args...)
	if diff := cmp.Diff(f.want, setBytes(t, f.dir())); diff != "" {
		t.Errorf("%+v: with room again it made other bytes:\n%s", room, diff)
	}
	return true
}

// failing runs a command that may fail; what it says and its exit code are returned.
func failing(t *testing.T, bin, dir string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"-C", dir, "-q"}, args...)...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// wantWhole wants every version that is to be seen to hold, and nothing besides.
func (f *fullDisk) wantWhole(t *testing.T, room smalldisk.Room) {
	t.Helper()
	home := filepath.Join(f.dir(), "golden", "handbook")
	entries, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		problems, err := datasets.Verify(t.Context(), filepath.Join(home, e.Name()), nil)
		if err != nil || len(problems) > 0 {
			t.Errorf("%+v: left in %s: %v, %v", room, e.Name(), problems, err)
		}
	}
	newest, err := (&datasets.Store{Root: filepath.Dir(home)}).Load("handbook")
	if err != nil || newest.Manifest.Version > 2 {
		t.Errorf("%+v: the newest version: %+v, %v", room, newest, err)
	}
}

// sweep gives the command ever more room until it has enough: bytes in about so many
// steps, then files one by one.
func (f *fullDisk) sweep(t *testing.T, before, after smalldisk.Room, steps int64) {
	t.Helper()
	page := int64(os.Getpagesize())
	step := max(1, (after.Bytes-before.Bytes)/page/steps) * page
	failed := smalldisk.Room{}
	for at := before.Bytes; f.failsWithin(t, smalldisk.Room{Bytes: at}); at += step {
		failed.Bytes++
	}
	for at := before.Files; f.failsWithin(t, smalldisk.Room{Files: at}); at++ {
		failed.Files++
	}
	if failed.Bytes < steps/2 || failed.Files < 3 {
		t.Errorf("the disk was full at %d sizes and %d counts of files only", failed.Bytes, failed.Files)
	}
	t.Logf("failed at %d sizes, %d bytes apart, and %d counts of files", failed.Bytes, step, failed.Files)
}

// TestRebaseOnAFullDisk has each of its writes fail in turn.
func TestRebaseOnAFullDisk(t *testing.T) {
	bin := binary(t)
	f, before, after := newFullDisk(t, bin, "", rebaseProject(t, bin), "rebase", "handbook")
	f.sweep(t, before, after, 20)
}

// TestRefreshOnAFullDisk has writes of its snapshot, its replies, its version and its
// results fail in turn.
func TestRefreshOnAFullDisk(t *testing.T) {
	bin := binary(t)
	server := llmtest.NewOllama(llmtest.Config{Handler: actor})
	t.Cleanup(server.Close)
	f, before, after := newFullDisk(t, bin, server.URL, refreshProject(t, bin, server.URL), "refresh")
	f.sweep(t, before, after, 30)
}
