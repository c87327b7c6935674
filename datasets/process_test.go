//go:build unix

package datasets_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
)

// This test binary also serves as the other process: with these variables it
// commits to the store at childRoot and exits.
const (
	childRoot  = "GOLDGEN_TEST_ROOT"
	childName  = "GOLDGEN_TEST_NAME"
	childLimit = "GOLDGEN_TEST_FILE_LIMIT" // bytes that one file may have
	childTask  = "GOLDGEN_TEST_TASK"       // keep: move a tag and collect versions after each commit; tag: only move a tag
)

func TestMain(m *testing.M) {
	if root := os.Getenv(childRoot); root != "" {
		os.Exit(child(root, os.Getenv(childName), os.Getenv(childLimit)))
	}
	os.Exit(m.Run())
}

// child commits five versions, or fails.
func child(root, name, limit string) int {
	if n, err := strconv.ParseUint(limit, 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ) // a write beyond the limit gives EFBIG, as a full disk gives ENOSPC
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	if os.Getenv(childTask) == "tag" {
		return tagFirst(testStore(root))
	}
	for i := range 5 {
		if _, _, err := testStore(root).Write(context.Background(), "set", draft(fmt.Sprint(name, i))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if os.Getenv(childTask) == "keep" {
			if err := keep(testStore(root)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		fmt.Println("committed")
	}
	return 0
}

// tagFirst moves a tag to v1.
func tagFirst(s *datasets.Store) int {
	v1, err := s.Resolve("set@v1")
	if err == nil {
		_, _, err = s.SetTag(context.Background(), v1, "prod", datasets.TagOptions{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// keep tags the newest version and deletes the others.
func keep(s *datasets.Store) error {
	ctx := context.Background()
	newest, err := s.Resolve("set")
	if err != nil {
		return err
	}
	if _, _, err := s.SetTag(ctx, newest, "prod", datasets.TagOptions{}); err != nil {
		return err
	}
	_, err = s.Collect(ctx, "set", datasets.CollectOptions{Needed: nobody})
	return err
}

func command(root, name, limit string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childRoot+"="+root, childName+"="+name, childLimit+"="+limit)
	return c
}

// killAfter starts a process and kills it when it has committed so often.
func killAfter(t *testing.T, c *exec.Cmd, commits int) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range commits {
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	c.Process.Kill()
	c.Wait()
}

func TestTwoProcessesCommitAtOnce(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			if out, err := command(root, name, "").CombinedOutput(); err != nil {
				t.Errorf("process %s: %v: %s", name, err, out)
			}
		})
	}
	wg.Wait()
	checkChain(t, testStore(root), 10)
}

// A disk that is full in the middle of a commit leaves what was there.
func TestDiskFull(t *testing.T) {
	root := t.TempDir()
	s := testStore(root)
	for _, limit := range []string{"0", "100", "3000"} {
		out, err := command(root, "new", limit).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "file too large") {
			t.Fatalf("limit %s: error %v: %s", limit, err, out)
		}
		if files := tree(t, s.Root); len(files) > 0 {
			t.Errorf("limit %s left %v", limit, files)
		}
	}
	write(t, s, "set", draft("old"))
	before := tree(t, s.Root)
	if out, err := command(root, "new", "3000").CombinedOutput(); err == nil {
		t.Fatalf("no error: %s", out)
	}
	after := tree(t, s.Root)
	if len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
	if set, err := s.Load("set"); err != nil || set.Manifest.Version != 1 {
		t.Errorf("set %+v, error %v", set, err)
	}
}

// A disk that is full when a tag is moved leaves it where it stood.
func TestDiskFullForATag(t *testing.T) {
	root := t.TempDir()
	s := testStore(root)
	write(t, s, "set", draft("one?"))
	v2 := write(t, s, "set", draft("two?"))
	if _, _, err := s.SetTag(context.Background(), v2, "prod", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	before := tree(t, s.Root)
	c := command(root, "", "20")
	c.Env = append(c.Env, childTask+"=tag")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "file too large") {
		t.Fatalf("error %v: %s", err, out)
	}
	if diff := cmp.Diff(before, tree(t, s.Root)); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Resolve("set@prod"); err != nil || got != v2 {
		t.Errorf("the tag stands at %v (%v)", got, err)
	}
}

// A process that is killed while it moves a tag or deletes versions leaves a tag
// that can be followed and whole versions.
func TestKilledKeeper(t *testing.T) {
	root := t.TempDir()
	s := testStore(root)
	for i := range 20 {
		c := command(root, fmt.Sprint("round ", i, " "), "")
		c.Env = append(c.Env, childTask+"=keep")
		killAfter(t, c, 1+i%4) // then it is in its next round
		tagged, err := s.Load("set@prod")
		if err != nil {
			t.Fatal(err)
		}
		if problems := verify(t, tagged.Dir, nil); len(problems) > 0 {
			t.Errorf("round %d: %v", i, problems)
		}
	}
	if err := keep(s); err != nil {
		t.Fatal(err)
	}
	for name := range tree(t, filepath.Join(s.Root, "set")) {
		if name != "gone.json" && (strings.Contains(name, ".tmp-") || strings.Count(name, "/") != 1) {
			t.Errorf("left over: %s", name)
		}
	}
}

// A process that is killed in mid-commit loses only its own version.
func TestKilledProcess(t *testing.T) {
	root := t.TempDir()
	for i := range 8 {
		killAfter(t, command(root, fmt.Sprint("round ", i, " "), ""), 1+i%3) // then it is in its next commit
	}
	s := testStore(root)
	if _, _, err := s.Write(context.Background(), "set", draft("last")); err != nil {
		t.Fatal(err)
	}
	checkChain(t, s, 2)
	for name := range tree(t, s.Root) {
		if strings.Contains(name, ".tmp-") {
			t.Errorf("left over: %s", name)
		}
	}
	set, err := s.Load("set")
	if err != nil {
		t.Fatal(err)
	}
	if problems := verify(t, set.Dir, nil); set.Cases[0].Query != "last" || len(problems) > 0 {
		t.Errorf("newest version asks %q and has problems %v", set.Cases[0].Query, problems)
	}
}
