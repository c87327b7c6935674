package connect_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/connect"
	"github.com/goldgen/goldgen/llm/llmtest"
)

func request(m llm.Model, text string) llm.Request {
	return llm.Request{
		Model:    m,
		Messages: []llm.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: text}},
		Options:  llm.Options{NumCtx: 2048, NumPredict: 64},
	}
}

func config(t *testing.T, endpoints ...string) connect.Config {
	return connect.Config{
		Provider: "ollama", Model: "fake-chat", Endpoints: endpoints, Retries: 1, WaitMin: time.Millisecond,
		CachePath: filepath.Join(t.TempDir(), "cache.db"), Timeout: time.Second,
	}
}

func open(t *testing.T, cfg connect.Config) *connect.Stack {
	t.Helper()
	s, err := connect.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStackConforms(t *testing.T) {
	for provider, start := range map[string]func(llmtest.Config) *llmtest.Server{"ollama": llmtest.NewOllama, "openai": llmtest.NewOpenAI} {
		t.Run(provider, func(t *testing.T) {
			server := start(llmtest.Config{Window: 2048})
			defer server.Close()
			llmtest.TestClient(t, func(t *testing.T) llmtest.ClientUnderTest {
				cfg := config(t, server.URL)
				cfg.Provider = provider
				s := open(t, cfg)
				return llmtest.ClientUnderTest{Client: s.Client, Model: s.Model, Options: llm.Options{NumCtx: 2048, NumPredict: 64}}
			})
			llmtest.TestEmbedder(t, func(t *testing.T) llmtest.EmbedderUnderTest {
				cfg := config(t, server.URL)
				cfg.Provider, cfg.Model = provider, "fake-embed"
				s := open(t, cfg)
				return llmtest.EmbedderUnderTest{Embedder: s.Embedder, Model: s.Model, Limited: true}
			})
		})
	}
}

func TestReplayWithTheServerDown(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	cfg := config(t, server.URL)
	up := open(t, cfg)
	want, err := up.Client.Complete(t.Context(), request(up.Model, "q"))
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Close(); err != nil {
		t.Fatal(err)
	}
	server.Close()

	down := open(t, cfg)
	if !down.Seen.FromCache || down.Model != up.Model || down.Seen.At.Before(up.Seen.At) {
		t.Errorf("model %+v seen %+v, want %+v from the cache", down.Model, down.Seen, up.Model)
	}
	got, err := down.Client.Complete(t.Context(), request(down.Model, "q"))
	if err != nil || got.Text != want.Text || !got.Cached {
		t.Errorf("replayed %+v, %v", got, err)
	}
	if _, err := down.Client.Complete(t.Context(), request(down.Model, "another")); !errors.Is(err, llm.KindServerDown) {
		t.Errorf("error %v, want server down", err)
	}
	if diff := cmp.Diff(llm.Calls{Made: 1, Cached: 1, Failed: 1}, down.Counter.Calls(), ignoreBusy); diff != "" {
		t.Error(diff)
	}
}

var ignoreBusy = cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Busy" }, cmp.Ignore())

func TestServerDownAndNeverSeen(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	server.Close()
	_, err := connect.Open(t.Context(), config(t, server.URL))
	if !errors.Is(err, llm.KindServerDown) || !strings.Contains(llm.Hint(err), "ollama serve") {
		t.Errorf("error %v, hint %q", err, llm.Hint(err))
	}
	cfg := config(t, server.URL)
	cfg.DryRun = &llm.DryRun{}
	s := open(t, cfg)
	if _, err := s.Client.Complete(t.Context(), request(s.Model, "q")); !errors.Is(err, llm.ErrDryRun) || cfg.DryRun.Missed().Calls != 1 {
		t.Errorf("error %v, missed %+v", err, cfg.DryRun.Missed())
	}
}

func TestUnknownModel(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	defer server.Close()
	cfg := config(t, server.URL)
	cfg.Model = "llama9"
	_, err := connect.Open(t.Context(), cfg)
	if !errors.Is(err, llm.KindModelNotFound) || llm.Hint(err) != "ollama pull llama9" {
		t.Errorf("error %v, hint %q", err, llm.Hint(err))
	}
}

func TestOneEndpointOfTwoIsDown(t *testing.T) {
	dead, alive := llmtest.NewOllama(llmtest.Config{}), llmtest.NewOllama(llmtest.Config{})
	dead.Close()
	defer alive.Close()
	s := open(t, config(t, dead.URL, alive.URL))
	for _, q := range []string{"a", "b", "c", "d", "e"} {
		if _, err := s.Client.Complete(t.Context(), request(s.Model, q)); err != nil {
			t.Fatal(err)
		}
	}
	if alive.Calls() != 5 || s.Concurrency != 4 {
		t.Errorf("%d calls, concurrency %d", alive.Calls(), s.Concurrency)
	}
}

// Two endpoints, or another address, change nothing in what is cached.
func TestEndpointIsNoPartOfTheKey(t *testing.T) {
	first, second := llmtest.NewOllama(llmtest.Config{}), llmtest.NewOllama(llmtest.Config{})
	defer first.Close()
	defer second.Close()
	cfg := config(t, first.URL)
	for _, address := range []string{first.URL, second.URL} {
		cfg.Endpoints = []string{address}
		s := open(t, cfg)
		if _, err := s.Client.Complete(t.Context(), request(s.Model, "q")); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if first.Calls() != 1 || second.Calls() != 0 {
		t.Errorf("%d and %d calls, want 1 and 0", first.Calls(), second.Calls())
	}
}

func TestValidate(t *testing.T) {
	good := connect.Config{Provider: "openai", Model: "m", Endpoints: []string{"http://host/v1"}, CachePath: "x"}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(*connect.Config){
		"provider":    func(c *connect.Config) { c.Provider = "anthropic" },
		"model":       func(c *connect.Config) { c.Model = " " },
		"endpoints":   func(c *connect.Config) { c.Endpoints = nil },
		"entry 0":     func(c *connect.Config) { c.Endpoints = []string{"host:80"} },
		"concurrency": func(c *connect.Config) { c.Concurrency = -1 },
		"rate":        func(c *connect.Config) { c.Rate = -1 },
		"timeout":     func(c *connect.Config) { c.Timeout = -1 },
		"cache":       func(c *connect.Config) { c.CachePath = "" },
	}
	for field, change := range tests {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: error %v", field, err)
		}
	}
}
