//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

// binary builds goldgen once a test.
func binary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: runs goldgen many times")
	}
	path := filepath.Join(t.TempDir(), "goldgen")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// newProject makes a project over a part of the quickstart that asks a model.
func newProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("../../examples/quickstart/docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"api", "billing", "install"} {
		if err := os.CopyFS(filepath.Join(dir, "docs", part), os.DirFS(filepath.Join(source, part))); err != nil {
			t.Fatal(err)
		}
	}
	yaml := `version: 1
name: handbook
corpus: {source: docs}
sample: {cases: 12, seed: 7}
generate: {provider: ollama, model: fake-chat}
judge: {provider: ollama, model: fake-chat, pool: {bm25: 4, max: 5}}
embedding: {provider: ollama, model: fake-embed}
eval: {retrievers: []}
`
	if err := os.WriteFile(filepath.Join(dir, "goldgen.yaml"), []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ended runs goldgen and returns its exit code; killed is reported apart.
func ended(t *testing.T, ctx context.Context, bin, dir, host string, args ...string) (code int, killed bool) {
	t.Helper()
	cmd := exec.CommandContext(ctx, bin, append([]string{"-C", dir, "-q"}, args...)...)
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+host)
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		// The deadline passed before it was started, or after it had ended.
		return 0, false
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		return 0, true
	case errors.As(err, &exit) && exit.ExitCode() == exitPartly:
		return exitPartly, false
	}
	t.Fatalf("goldgen %v: %v\n%s", args, err, stderr.String())
	return 0, false
}

// killer kills a command at random moments of its run.
type killer struct {
	random *rand.Rand
	whole  time.Duration // how long the last run took that was let be
	kills  int
}

const wantedKills, mostAttempts = 20, 400

// more reports whether it is to be run again. A command that comes to its end before
// the moment is no kill; where that is so of nearly all, the test has failed.
func (k *killer) more(t *testing.T, attempt int) bool {
	t.Helper()
	if k.kills < wantedKills && attempt == mostAttempts {
		t.Fatalf("killed %d times only in %d attempts of about %v", k.kills, attempt, k.whole)
	}
	return k.kills < wantedKills
}

// strike runs the command and kills it at a moment before about its end. Runs grow
// shorter as the cache fills, and longer when others use the machine: moments go by the
// last one that came to its end, and now and then beyond that, so that there is one.
func (k *killer) strike(t *testing.T, bin, dir, host string, args ...string) (killed bool) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(k.random.Float64()*1.1*float64(k.whole)))
	defer cancel()
	began := ctx.Err() == nil
	_, killed = ended(t, ctx, bin, dir, host, args...)
	took := time.Since(start)
	switch {
	case killed:
		k.kills++
	case began && took > k.whole/20: // else it may never have been started
		k.whole = took
	}
	return killed
}

// setBytes reads the golden set's files; of the manifest, what its digest may
// leave out is dropped.
func setBytes(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "golden", "handbook", "v*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden set in %s", dir)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f) == "manifest.json" {
			var m map[string]any
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			delete(m, "created_at")
			delete(m, "costs")
			data, err = json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
		}
		out[name] = string(data)
	}
	return out
}

// TestKilledAtAnyPointGoesOn kills a run 20 times at random moments, lets the
// same command go on each time, and wants the bytes of a run that was left
// alone, with hardly a call made twice.
func TestKilledAtAnyPointGoesOn(t *testing.T) {
	bin := binary(t)
	server := llmtest.NewOllama(llmtest.Config{Handler: actor, Delay: 2 * time.Millisecond})
	t.Cleanup(server.Close)

	alone := newProject(t)
	start := time.Now()
	ended(t, t.Context(), bin, alone, server.URL, "run")
	whole := time.Since(start)
	calls := server.Calls()

	dir := newProject(t)
	k := &killer{random: rand.New(rand.NewPCG(1, 2)), whole: whole}
	for attempt := 0; k.more(t, attempt); attempt++ {
		if k.strike(t, bin, dir, server.URL, "run") {
			continue
		}
		// It came to its end: make another set, so that there is something to kill.
		if err := os.RemoveAll(filepath.Join(dir, "golden")); err != nil {
			t.Fatal(err)
		}
	}
	ended(t, t.Context(), bin, dir, server.URL, "run")
	if diff := cmp.Diff(setBytes(t, alone), setBytes(t, dir)); diff != "" {
		t.Errorf("killed 20 times, it made other bytes:\n%s", diff)
	}
	// A kill can lose what was in flight and one batch of the cache's writer.
	again := server.Calls() - 2*calls
	if most := k.kills * lostAtMost; again > most {
		t.Errorf("%d calls were made twice, want at most %d", again, most)
	}
	verified(t, bin, dir)
}

// lostAtMost is how many calls one kill may lose: those in flight and those of
// the batch that was not committed, which a writer holds for 50 ms.
const lostAtMost = 40

func verified(t *testing.T, bin, dir string) {
	t.Helper()
	out, err := exec.Command(bin, "-C", dir, "datasets", "verify", "handbook").CombinedOutput()
	if err != nil {
		t.Errorf("datasets verify: %v\n%s", err, out)
	}
}

// TestTwoPipesAtOnce runs two pipes in one folder at the same time: both end,
// and the set is one of a run left alone.
func TestTwoPipesAtOnce(t *testing.T) {
	bin := binary(t)
	server := llmtest.NewOllama(llmtest.Config{Handler: actor})
	t.Cleanup(server.Close)
	alone, dir := newProject(t), newProject(t)
	ended(t, t.Context(), bin, alone, server.URL, "run")
	ended(t, t.Context(), bin, dir, server.URL, "snapshot")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	failures := make([]error, 2)
	for i := range failures {
		wg.Go(func() { failures[i] = pipe(ctx, bin, dir, server.URL) })
	}
	wg.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(setBytes(t, alone), setBytes(t, dir)); diff != "" {
		t.Errorf("two pipes at once made other bytes:\n%s", diff)
	}
}

// pipe runs sample | generate | judge. Partly done counts as done.
func pipe(ctx context.Context, bin, dir, host string) error {
	script := fmt.Sprintf("%[1]s -q -C %[2]s sample | %[1]s -q -C %[2]s generate | %[1]s -q -C %[2]s judge --json", bin, dir)
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+host)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitPartly {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pipe: %w\n%s", err, out)
	}
	return nil
}

// TestOneFailureKeepsTheRest has one call of many fail with status 500 for
// good, another return garbage: all other cases are kept, the run says so with
// exit code 3, and the next run asks only for what failed.
func TestOneFailureKeepsTheRest(t *testing.T) {
	bin := binary(t)
	fail := true
	var mu sync.Mutex
	var victim string
	server := llmtest.NewOllama(llmtest.Config{Handler: func(req llm.Request) llm.Reply {
		mu.Lock()
		defer mu.Unlock()
		if victim == "" && len(req.Schema) > 0 {
			victim = req.Key()
		}
		if fail && req.Key() == victim {
			return llm.Reply{Text: "I would rather talk about something else."}
		}
		return actor(req)
	}})
	t.Cleanup(server.Close)
	dir := newProject(t)
	ended(t, t.Context(), bin, dir, server.URL, "run")
	bytes := setBytes(t, dir)
	if !slices.ContainsFunc(slices.Collect(keys(bytes)), func(s string) bool { return filepath.Base(s) == "rejects.parquet" }) {
		t.Fatal("no rejects.parquet")
	}
	mu.Lock()
	fail = false
	mu.Unlock()
	before := server.Calls()
	ended(t, t.Context(), bin, dir, server.URL, "run")
	if made := server.Calls() - before; made != 0 {
		t.Errorf("the next run made %d calls; an unusable reply is repeated without one", made)
	}
	if diff := cmp.Diff(bytes, setBytes(t, dir)); diff != "" {
		t.Errorf("the next run made other bytes:\n%s", diff)
	}
}

func keys(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
