package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/llm/ollama"
)

var model = llm.Model{Provider: "ollama", Name: "fake-chat"}

func fake(t *testing.T, cfg llmtest.Config) (*llmtest.Server, *ollama.Client) {
	t.Helper()
	s := llmtest.NewOllama(cfg)
	t.Cleanup(s.Close)
	return s, client(t, s.URL)
}

func client(t *testing.T, address string) *ollama.Client {
	t.Helper()
	c, err := ollama.New(ollama.Config{Endpoint: address, HTTP: quick(2)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// quick retries without noticeable waits.
func quick(retries int) *http.Client {
	return llm.NewHTTPClient(llm.TransportConfig{Timeout: 200 * time.Millisecond, Retries: retries, WaitMin: time.Millisecond, WaitMax: 2 * time.Millisecond})
}

func request() llm.Request {
	return llm.Request{
		Model:    model,
		Messages: []llm.Message{{Role: "system", Content: "You are brief."}, {Role: "user", Content: "Which rivers flow through Hamburg?"}},
		Options:  llm.Options{NumCtx: 2048, NumPredict: 64, Seed: 3},
	}
}

func TestConformsOverFake(t *testing.T) {
	llmtest.TestClient(t, func(t *testing.T) llmtest.ClientUnderTest {
		_, c := fake(t, llmtest.Config{})
		return llmtest.ClientUnderTest{Client: c, Model: model, Options: request().Options}
	})
}

func TestEmbedderConformsOverFake(t *testing.T) {
	llmtest.TestEmbedder(t, func(t *testing.T) llmtest.EmbedderUnderTest {
		_, c := fake(t, llmtest.Config{})
		return llmtest.EmbedderUnderTest{Embedder: c, Model: llm.Model{Provider: "ollama", Name: "fake-embed"}, ChatModel: "fake-chat", Limited: true}
	})
}

func TestConformsOverRealServer(t *testing.T) {
	real := llmtest.RealOllama(t)
	c, err := ollama.New(ollama.Config{Endpoint: real.URL})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Resolve(t.Context(), real.Model)
	if err != nil || len(m.Digest) != 64 {
		t.Fatalf("model %+v, %v: want a digest of 64 digits", m, err)
	}
	llmtest.TestClient(t, func(t *testing.T) llmtest.ClientUnderTest {
		return llmtest.ClientUnderTest{Client: c, Model: m, Options: llm.Options{NumCtx: 4096, NumPredict: 40, NumThread: 1, Seed: 1}}
	})
	llmtest.TestEmbedder(t, func(t *testing.T) llmtest.EmbedderUnderTest {
		return llmtest.EmbedderUnderTest{Embedder: c, Model: llm.Model{Provider: "ollama", Name: real.Embedder}, ChatModel: real.Model, Limited: true}
	})
}

// Everything that changes the text is sent, and nothing is cut silently.
func TestEveryOptionIsSent(t *testing.T) {
	s, _ := fake(t, llmtest.Config{Thinks: true})
	c, err := ollama.New(ollama.Config{Endpoint: s.URL, HTTP: quick(0), KeepAlive: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	req := request()
	req.Schema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)
	req.Options = llm.Options{NumCtx: 2048, NumPredict: 64, NumThread: 1, Temperature: 0.5, Seed: 7, TopLogprobs: 5}
	if _, err := c.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(s.Bodies()[0], &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": "fake-chat", "stream": false, "truncate": false, "shift": false, "think": false,
		"keep_alive": "5m0s", "logprobs": true, "top_logprobs": 5.0,
		"format":   map[string]any{"type": "object", "properties": map[string]any{"query": map[string]any{"type": "string"}}},
		"messages": []any{map[string]any{"role": "system", "content": "You are brief."}, map[string]any{"role": "user", "content": "Which rivers flow through Hamburg?"}},
		"options": map[string]any{
			"num_ctx": 2048.0, "num_predict": 64.0, "num_thread": 1.0, "temperature": 0.5, "seed": 7.0,
			"repeat_penalty": 1.0, "top_k": 40.0, "top_p": 0.9, "min_p": 0.0,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body sent (-want +got):\n%s", diff)
	}
}

func TestFaultsOfChat(t *testing.T) {
	tests := map[string]struct {
		faults []llmtest.Fault // every call has the last one
		kind   llm.Kind
		calls  int
		cut    bool
	}{
		"500 once is retried":            {faults: []llmtest.Fault{llmtest.Status(500, "unexpected EOF"), {}}, calls: 2},
		"500 for ever":                   {faults: []llmtest.Fault{llmtest.Status(500, "unexpected EOF")}, kind: llm.KindServerError, calls: 3},
		"bad schema is not retried":      {faults: []llmtest.Fault{llmtest.Status(500, "invalid JSON schema in format")}, kind: llm.KindBadSchema, calls: 1},
		"429 in seconds":                 {faults: []llmtest.Fault{llmtest.RateLimited("3600"), {}}, calls: 2},
		"429 with a date":                {faults: []llmtest.Fault{llmtest.RateLimited("Fri, 31 Dec 2100 23:59:59 GMT"), {}}, calls: 2},
		"429 for ever":                   {faults: []llmtest.Fault{llmtest.RateLimited("1")}, kind: llm.KindRateLimited, calls: 3},
		"400 is not retried":             {faults: []llmtest.Fault{llmtest.Status(400, "options: bad")}, kind: llm.KindBadRequest, calls: 1},
		"400 too long":                   {faults: []llmtest.Fault{llmtest.Status(400, "the input length exceeds the context length")}, kind: llm.KindPromptTooLong, calls: 1},
		"401":                            {faults: []llmtest.Fault{llmtest.Status(401, "unauthorized")}, kind: llm.KindAuth, calls: 1},
		"404 of the model":               {faults: []llmtest.Fault{llmtest.Status(404, "model 'fake-chat' not found")}, kind: llm.KindModelNotFound, calls: 1},
		"404 of a page":                  {faults: []llmtest.Fault{llmtest.Status(404, "404 page not found")}, kind: llm.KindNotTheProtocol, calls: 1},
		"501 without a body":             {faults: []llmtest.Fault{llmtest.Status(501, "")}, kind: llm.KindNotTheProtocol, calls: 1},
		"HTML with 200":                  {faults: []llmtest.Fault{llmtest.HTML()}, kind: llm.KindNotTheProtocol, calls: 1},
		"garbage with 200":               {faults: []llmtest.Fault{llmtest.Garbage()}, kind: llm.KindNotTheProtocol, calls: 1},
		"empty body with 200":            {faults: []llmtest.Fault{llmtest.EmptyBody()}, kind: llm.KindServerGone, calls: 1, cut: true},
		"body shorter than its length":   {faults: []llmtest.Fault{{Cut: true}}, kind: llm.KindServerGone, calls: 1, cut: true},
		"body ends in the middle":        {faults: []llmtest.Fault{{Truncated: true}}, kind: llm.KindServerGone, calls: 1, cut: true},
		"done is false":                  {faults: []llmtest.Fault{{NotDone: true}}, kind: llm.KindServerGone, calls: 1, cut: true},
		"connection reset once":          {faults: []llmtest.Fault{{Reset: true}, {}}, calls: 2},
		"connection reset for ever":      {faults: []llmtest.Fault{{Reset: true}}, kind: llm.KindServerGone, calls: 3},
		"no answer in time, not retried": {faults: []llmtest.Fault{{Hang: true}}, kind: llm.KindTimeout, calls: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := fake(t, llmtest.Config{})
			s.FailNext(tt.faults...)
			for n := range 5 {
				s.FailCall(len(tt.faults)+n+1, tt.faults[len(tt.faults)-1])
			}
			reply, err := c.Complete(t.Context(), request())
			if got := llm.KindOf(err); got != tt.kind {
				t.Fatalf("error %v is of kind %q, want %q", err, got, tt.kind)
			}
			if err == nil && reply.Text == "" {
				t.Error("no text")
			}
			if got := s.Calls(); got != tt.calls {
				t.Errorf("%d calls, want %d", got, tt.calls)
			}
			if e, ok := errors.AsType[*llm.Error](err); ok && e.Cut != tt.cut {
				t.Errorf("cut is %v, want %v", e.Cut, tt.cut)
			}
		})
	}
}

func TestModelsThatCannot(t *testing.T) {
	tests := map[string]struct {
		cfg   llmtest.Config
		model string
		kind  llm.Kind
	}{
		"an embedder asked to chat":                    {llmtest.Config{}, "fake-embed", llm.KindNotAChatModel},
		"no chat template":                             {llmtest.Config{NoTemplate: true}, "fake-chat", llm.KindNoSystem},
		"no chat template, found by comparing lengths": {llmtest.Config{NoTemplate: true, NoDebug: true}, "fake-chat", llm.KindNoSystem},
		"a template, found by comparing lengths":       {llmtest.Config{NoDebug: true}, "fake-chat", ""},
		"capabilities not told":                        {llmtest.Config{NoShow: true}, "fake-chat", ""},
		"capabilities not told, an embedder":           {llmtest.Config{NoShow: true, NoDebug: true}, "fake-embed", llm.KindModelNotFound},
		"not there":                                    {llmtest.Config{}, "llama9", llm.KindModelNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, c := fake(t, tt.cfg)
			req := request()
			req.Model.Name = tt.model
			if _, err := c.Complete(t.Context(), req); llm.KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %q", err, tt.kind)
			}
		})
	}
}

// A server that does not know truncate cuts the prompt: the count tells.
func TestPromptCutByOldServer(t *testing.T) {
	_, c := fake(t, llmtest.Config{Truncates: true})
	req := request()
	req.Messages[1].Content = strings.Repeat("water ", 3000)
	if _, err := c.Complete(t.Context(), req); !errors.Is(err, llm.KindPromptTooLong) {
		t.Errorf("error %v, want prompt too long", err)
	}
}

func TestUnknownModelHint(t *testing.T) {
	_, c := fake(t, llmtest.Config{})
	_, err := c.Resolve(t.Context(), "llama9:8b")
	if got, want := llm.Hint(err), "ollama pull llama9:8b"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}

func TestResolveGivesDigest(t *testing.T) {
	_, c := fake(t, llmtest.Config{Model: "llama:latest", Digest: strings.Repeat("c0", 32)})
	got, err := c.Resolve(t.Context(), "llama")
	want := llm.Model{Provider: "ollama", Name: "llama", Digest: strings.Repeat("c0", 32)}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestServerDownIsSaidAtOnce(t *testing.T) {
	s := llmtest.NewOllama(llmtest.Config{})
	s.Close()
	c, err := ollama.New(ollama.Config{Endpoint: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = c.Complete(t.Context(), request())
	if !errors.Is(err, llm.KindServerDown) || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("error %v, want server down with its address", err)
	}
	if took := time.Since(start); took > 400*time.Millisecond {
		t.Errorf("took %s: the first contact was retried", took)
	}
}

func TestAddressIsRedacted(t *testing.T) {
	s := llmtest.NewOllama(llmtest.Config{})
	s.Close()
	c := client(t, strings.Replace(s.URL, "http://", "http://anna:secret@", 1)+"?token=hidden")
	_, err := c.Complete(t.Context(), request())
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "anna") {
		t.Errorf("error %v shows credentials, or is none", err)
	}
	if _, err := ollama.New(ollama.Config{Endpoint: "ftp://anna:secret@host"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v shows credentials, or is none", err)
	}
}

func TestCancelFreesTheCall(t *testing.T) {
	s, c := fake(t, llmtest.Config{})
	s.FailNext(llmtest.Fault{Hang: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("interrupted")
	go func() {
		for s.Calls() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel(stop)
	}()
	if _, err := c.Complete(ctx, request()); !errors.Is(err, stop) {
		t.Errorf("error %v, want the cause of the cancel", err)
	}
}

func TestFaultsOfEmbedding(t *testing.T) {
	tests := map[string]struct {
		fault llmtest.Fault
		kind  llm.Kind
	}{
		"a vector is missing":     {llmtest.WrongCount(), llm.KindVectors},
		"a zero vector":           {llmtest.ZeroVector(), llm.KindVectors},
		"vectors of two lengths":  {llmtest.Ragged(), llm.KindDimension},
		"body ends in the middle": {llmtest.Fault{Truncated: true}, llm.KindServerGone},
		"empty body":              {llmtest.EmptyBody(), llm.KindServerGone},
		"HTML":                    {llmtest.HTML(), llm.KindNotTheProtocol},
		"no answer in time":       {llmtest.Fault{Hang: true}, llm.KindTimeout},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := fake(t, llmtest.Config{})
			s.FailNext(tt.fault)
			_, err := c.Embed(t.Context(), llm.EmbedRequest{Model: llm.Model{Name: "fake-embed"}, Texts: []string{"one", "two"}})
			if llm.KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %q", err, tt.kind)
			}
		})
	}
}

func TestPull(t *testing.T) {
	s, c := fake(t, llmtest.Config{})
	type step struct {
		Status           string
		Completed, Total int64
	}
	var got []step
	err := c.Pull(t.Context(), "fake-chat", func(status string, completed, total int64) {
		got = append(got, step{status, completed, total})
	})
	want := []step{{Status: "pulling manifest"}, {"pulling layer", 40, 100}, {"pulling layer", 100, 100}, {Status: "success"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := c.Pull(t.Context(), "llama9", nil); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("error %v, want that the model does not exist", err)
	}
	s.FailNext(llmtest.Fault{Truncated: true})
	if err := c.Pull(t.Context(), "fake-chat", nil); !errors.Is(err, llm.KindServerGone) {
		t.Errorf("error %v, want server gone", err)
	}
}
