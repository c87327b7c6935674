package llm_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

var model = llm.Model{Provider: "ollama", Name: "m", Digest: "d1"}

func request(text string) llm.Request {
	return llm.Request{
		Model:    model,
		Messages: []llm.Message{{Role: "user", Content: text}},
		Options:  llm.Options{NumCtx: 2048, NumPredict: 64, Seed: 3},
	}
}

func openCache(t testing.TB, path string) *llm.Cache {
	t.Helper()
	c, err := llm.OpenCache(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func cachePath(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "cache.db") }

func TestReplyIsReplayedWhole(t *testing.T) {
	path := cachePath(t)
	want := llm.Reply{
		Text: "2\x00 ü", Thinking: "hm", FinishReason: llm.FinishLength, PromptTokens: 7, OutputTokens: 1,
		Logprobs: []llm.TokenLogprob{{Token: "2", Logprob: -0.1234567890123, Top: []llm.TopLogprob{{Token: "2", Logprob: -0.12}, {Token: "3", Logprob: -4}}}},
	}
	fake := &llmtest.Model{Handler: func(llm.Request) llm.Reply { return want }}
	for run := range 3 { // fresh, from the queue, and from the file
		cache := openCache(t, path)
		client := llm.Cached(fake, cache)
		for n := range 2 {
			got, err := client.Complete(t.Context(), request("q"))
			if err != nil {
				t.Fatal(err)
			}
			expected := want
			expected.Cached = run+n > 0
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("run %d, call %d:\n%s", run, n, diff)
			}
		}
		if err := cache.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(fake.Requests()); n != 1 {
		t.Errorf("%d calls were made, want 1", n)
	}
}

func TestKeyCoversTheRequest(t *testing.T) {
	base := request("q")
	base.Schema = []byte(`{"type": "object"}`)
	same := map[string]func(*llm.Request){
		"white space in the schema": func(r *llm.Request) { r.Schema = []byte("{\"type\":\n\"object\"}") },
		"threads":                   func(r *llm.Request) { r.Options.NumThread = 4 },
	}
	other := map[string]func(*llm.Request){
		"digest":       func(r *llm.Request) { r.Model.Digest = "d2" },
		"name":         func(r *llm.Request) { r.Model.Name = "n" },
		"revision":     func(r *llm.Request) { r.Model.Revision = "r" },
		"provider":     func(r *llm.Request) { r.Model.Provider = "openai" },
		"role":         func(r *llm.Request) { r.Messages = []llm.Message{{Role: "system", Content: "q"}} },
		"split":        func(r *llm.Request) { r.Messages = append(r.Messages, llm.Message{Role: "user"}) },
		"schema":       func(r *llm.Request) { r.Schema = nil },
		"num_ctx":      func(r *llm.Request) { r.Options.NumCtx++ },
		"num_predict":  func(r *llm.Request) { r.Options.NumPredict++ },
		"temperature":  func(r *llm.Request) { r.Options.Temperature = 0.1 },
		"seed":         func(r *llm.Request) { r.Options.Seed++ },
		"top_logprobs": func(r *llm.Request) { r.Options.TopLogprobs = 1 },
		"attempt":      func(r *llm.Request) { r.Attempt = 1 },
	}
	for name, change := range same {
		r := base
		change(&r)
		if r.Key() != base.Key() {
			t.Errorf("%s changes the key", name)
		}
	}
	seen := map[string]string{base.Key(): "nothing"}
	for name, change := range other {
		r := base
		change(&r)
		if with, ok := seen[r.Key()]; ok {
			t.Errorf("%s has the key of %s", name, with)
		}
		seen[r.Key()] = name
	}
}

// The key is written into files that outlive this program.
func TestKeyIsStable(t *testing.T) {
	const want = "e12893441737808812405e15994124af48f626a1610f4c52c6b1ce663d690637"
	if got := request("q").Key(); got != want {
		t.Errorf("key %s, want %s: all caches made so far are lost", got, want)
	}
}

func TestErrorsAreNotCached(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	defer server.Close()
	client := llm.Cached(ollamaClient(t, server.URL, -1), openCache(t, cachePath(t)))
	server.FailNext(llmtest.Status(500, "runner: unexpected EOF"), llmtest.Status(400, "no"), llmtest.Fault{Truncated: true})
	req := request("q")
	req.Model.Name = "fake-chat"
	var kinds []llm.Kind
	for range 5 {
		_, err := client.Complete(t.Context(), req)
		kinds = append(kinds, llm.KindOf(err))
	}
	want := []llm.Kind{llm.KindServerError, llm.KindBadRequest, llm.KindServerGone, "", ""}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if n := server.Calls(); n != 4 {
		t.Errorf("%d calls, want 4: the fifth is cached", n)
	}
}

func TestFilesBelongToTheirOwner(t *testing.T) {
	path := cachePath(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cache := openCache(t, path)
	if err := cache.PutReply(request("q").Key(), model, llm.Reply{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := cache.Flush(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v: want the file and its journal", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestEqualRequestsInFlightAreAskedOnce(t *testing.T) {
	release := make(chan struct{})
	fake := &llmtest.Model{Handler: func(llm.Request) llm.Reply { <-release; return llm.Reply{Text: "a"} }}
	client := llm.Cached(fake, openCache(t, cachePath(t)))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if r, err := client.Complete(t.Context(), request("q")); err != nil || r.Text != "a" {
				t.Errorf("%q, %v", r.Text, err)
			}
		})
	}
	for len(fake.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	wg.Wait()
	if n := len(fake.Requests()); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

// A caller who gives up does not take others with it who wait for the same.
func TestCancelOfOneIsNotTheOthers(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{Delay: 20 * time.Millisecond})
	defer server.Close()
	client := llm.Cached(ollamaClient(t, server.URL, -1), openCache(t, cachePath(t)))
	req := request("q")
	req.Model.Name = "fake-chat"
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := client.Complete(ctx, req); !errors.Is(err, stop) {
			t.Errorf("cancelled caller: %v", err)
		}
	})
	for server.Calls() == 0 {
		time.Sleep(time.Millisecond)
	}
	wg.Go(func() {
		if _, err := client.Complete(t.Context(), req); err != nil {
			t.Errorf("other caller: %v", err)
		}
	})
	cancel(stop)
	wg.Wait()
}

func TestWriteErrorEndsTheRun(t *testing.T) {
	path := cachePath(t)
	cache := openCache(t, path)
	breakTable(t, path)
	key := request("q").Key()
	err := cache.PutReply(key, model, llm.Reply{Text: "a"})
	err = errors.Join(err, cache.Flush())
	if !errors.Is(err, llm.ErrCache) || !llm.EndsRun(err) {
		t.Errorf("error %v, want one of the cache that ends the run", err)
	}
	if err := cache.PutReply(key, model, llm.Reply{}); !errors.Is(err, llm.ErrCache) {
		t.Errorf("put after a write error: %v", err)
	}
}

func breakTable(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TRIGGER full BEFORE INSERT ON replies BEGIN SELECT RAISE(FAIL, 'disk full'); END`); err != nil {
		t.Fatal(err)
	}
}

func TestOtherFormatIsRefused(t *testing.T) {
	path := cachePath(t)
	if err := openCache(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE meta SET value = '99'`); err != nil {
		t.Fatal(err)
	}
	if _, err := llm.OpenCache(t.Context(), path, nil); !errors.Is(err, llm.ErrCache) || !strings.Contains(err.Error(), "99") {
		t.Errorf("error %v, want one that names the format", err)
	}
}

func TestNotADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := llm.OpenCache(t.Context(), path, nil); !errors.Is(err, llm.ErrCache) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one of the cache that names the file", err)
	}
}

// A file is prepared by one process at a time: two that turn a new file to WAL
// at once do not wait for each other.
func TestPreparedAlone(t *testing.T) {
	path := cachePath(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	other := flock.New(path + ".lock")
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := llm.OpenCache(ctx, path, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v while another process prepares the file, want the deadline's", err)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	openCache(t, path)
}

// TestMain lets this binary be the process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("GOLDGEN_TEST_FILL"); path != "" {
		fill(path)
	}
	if delay := os.Getenv("GOLDGEN_TEST_SERVE"); delay != "" {
		serve(delay)
	}
	os.Exit(m.Run())
}

// fill puts replies for ever and prints how many it has handed over.
func fill(path string) {
	cache, err := llm.OpenCache(context.Background(), path, nil)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for n := 0; ; n++ {
		if err := cache.PutReply(request(strconv.Itoa(n)).Key(), model, llm.Reply{Text: strconv.Itoa(n)}); err != nil {
			os.Exit(1)
		}
		fmt.Println(n + 1)
	}
}

// kill -9 loses at most one batch, and what is there is whole.
func TestKilled(t *testing.T) {
	path := cachePath(t)
	const enough = 1200 // rows of each process: more than two batches
	var put [2]int
	var lines [2]*bufio.Scanner
	var cmds [2]*exec.Cmd
	for i := range cmds { // two processes in one cache
		cmds[i] = exec.Command(os.Args[0])
		cmds[i].Env = append(os.Environ(), "GOLDGEN_TEST_FILL="+path)
		stdout, err := cmds[i].StdoutPipe()
		if err == nil {
			err = cmds[i].Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = bufio.NewScanner(stdout)
	}
	for i := range cmds {
		for put[i] < enough && lines[i].Scan() {
			put[i], _ = strconv.Atoi(lines[i].Text())
		}
	}
	for i, cmd := range cmds {
		cmd.Process.Kill()
		for last := enough; lines[i].Scan(); { // the line that the kill cut off does not count
			put[i] = last
			last, _ = strconv.Atoi(lines[i].Text())
		}
		cmd.Wait()
	}
	if min(put[0], put[1]) < enough {
		t.Fatalf("the processes put %v rows, want %d of each", put, enough)
	}
	cache := openCache(t, path)
	stats, err := cache.Stats(t.Context())
	if err != nil || len(stats) != 1 {
		t.Fatalf("%v, %v", stats, err)
	}
	most := max(put[0], put[1])
	if kept := stats[0].Replies; kept < most-500 {
		t.Errorf("%d replies kept of %d put: more than one batch is lost", kept, most)
	}
	for n := range stats[0].Replies {
		if r, ok, err := cache.Reply(t.Context(), request(strconv.Itoa(n)).Key()); err != nil || !ok || r.Text != strconv.Itoa(n) {
			t.Fatalf("reply %d: %+v, %v, %v", n, r, ok, err)
		}
	}
}

// Several runs may begin in a new project at once.
func TestOpenedByManyAtOnce(t *testing.T) {
	path := cachePath(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			cache, err := llm.OpenCache(t.Context(), path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			err = cache.PutReply(request(strconv.Itoa(i)).Key(), model, llm.Reply{Text: "a"})
			if err := errors.Join(err, cache.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if stats, err := openCache(t, path).Stats(t.Context()); err != nil || len(stats) != 1 || stats[0].Replies != 8 {
		t.Errorf("stats %+v, %v: want 8 replies", stats, err)
	}
}

func TestStatsAndPrune(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cache, err := llm.OpenCache(t.Context(), cachePath(t), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	put := func(m llm.Model, text string) {
		t.Helper()
		r := request(text)
		r.Model = m
		if err := cache.PutReply(r.Key(), m, llm.Reply{Text: text}); err != nil {
			t.Fatal(err)
		}
		if err := cache.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	old, other := model, llm.Model{Provider: "openai", Name: "gpt", Revision: "2026"}
	put(old, "a")
	now = now.AddDate(0, 1, 0)
	put(old, "b")
	put(other, "c")
	if err := cache.PutVector(llm.EmbedRequest{Model: other, Texts: []string{"v"}}.Key(0), other, []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	got, err := cache.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].Bytes = 0
	}
	january, february := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	want := []llm.ModelStats{
		{Model: "ollama/m@d1", Replies: 2, Oldest: january, Newest: february},
		{Model: "openai/gpt@2026", Replies: 1, Vectors: 1, Oldest: february, Newest: february},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	steps := []struct {
		opts llm.PruneOptions
		want llm.Pruned
	}{
		{llm.PruneOptions{Before: february}, llm.Pruned{Replies: 1}},
		{llm.PruneOptions{Model: "pt"}, llm.Pruned{}},
		{llm.PruneOptions{Model: "gpt"}, llm.Pruned{Replies: 1, Vectors: 1}},
		{llm.PruneOptions{Model: "ollama/m@d1"}, llm.Pruned{Replies: 1}},
	}
	for _, s := range steps {
		got, err := cache.Prune(t.Context(), s.opts)
		if diff := cmp.Diff(s.want, got); diff != "" || err != nil {
			t.Errorf("prune %+v: %v\n%s", s.opts, err, diff)
		}
	}
	if _, err := cache.Prune(t.Context(), llm.PruneOptions{}); err == nil {
		t.Error("pruning everything was not refused")
	}
}

func TestPaceIsReadFromCachedReplies(t *testing.T) {
	cache, err := llm.OpenCache(t.Context(), filepath.Join(t.TempDir(), "replies.sqlite"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	model := request("x").Model
	if pace, ok, err := cache.Pace(t.Context(), model); pace != 0 || ok || err != nil {
		t.Errorf("empty cache: got %v, %v, %v", pace, ok, err)
	}
	for i, took := range []time.Duration{time.Second, 3 * time.Second, 0} {
		req := request(fmt.Sprint(i))
		if err := cache.PutReply(req.Key(), model, llm.Reply{Text: "x", FinishReason: llm.FinishStop, Elapsed: took}); err != nil {
			t.Fatal(err)
		}
	}
	if pace, ok, err := cache.Pace(t.Context(), model); pace != 2*time.Second || !ok || err != nil {
		t.Errorf("got %v, %v, %v, want 2s from the two replies whose time is known", pace, ok, err)
	}
	if _, ok, err := cache.Pace(t.Context(), llm.Model{Provider: "ollama", Name: "other"}); ok || err != nil {
		t.Errorf("another model: got %v, %v", ok, err)
	}
}
