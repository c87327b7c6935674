package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/llm/openai"
)

var model = llm.Model{Provider: "openai", Name: "fake-chat"}

func fake(t *testing.T, cfg llmtest.Config) (*llmtest.Server, *openai.Client) {
	t.Helper()
	s := llmtest.NewOpenAI(cfg)
	t.Cleanup(s.Close)
	return s, client(t, s.URL, cfg.APIKey)
}

func client(t *testing.T, address, key string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{Endpoint: address, APIKey: key, HTTP: quick(2)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

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
	for name, cfg := range map[string]llmtest.Config{
		"a server that refuses long prompts": {Window: 2048},
		"a server that cuts them silently":   {Window: 2048, Truncates: true},
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.TestClient(t, func(t *testing.T) llmtest.ClientUnderTest {
				_, c := fake(t, cfg)
				return llmtest.ClientUnderTest{Client: c, Model: model, Options: llm.Options{NumCtx: 4096, NumPredict: 64}}
			})
		})
	}
}

func TestEmbedderConformsOverFake(t *testing.T) {
	llmtest.TestEmbedder(t, func(t *testing.T) llmtest.EmbedderUnderTest {
		_, c := fake(t, llmtest.Config{})
		return llmtest.EmbedderUnderTest{Embedder: c, Model: llm.Model{Provider: "openai", Name: "fake-embed"}, Limited: true}
	})
}

// Ollama serves this protocol under /v1, where it ignores num_ctx.
func TestConformsOverRealServer(t *testing.T) {
	real := llmtest.RealOllama(t)
	c, err := openai.New(openai.Config{Endpoint: real.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	llmtest.TestClient(t, func(t *testing.T) llmtest.ClientUnderTest {
		m := llm.Model{Provider: "openai", Name: real.Model}
		return llmtest.ClientUnderTest{Client: c, Model: m, Options: llm.Options{NumCtx: 4096, NumPredict: 40, Seed: 1}}
	})
	llmtest.TestEmbedder(t, func(t *testing.T) llmtest.EmbedderUnderTest {
		return llmtest.EmbedderUnderTest{Embedder: c, Model: llm.Model{Provider: "openai", Name: real.Embedder}}
	})
}

func TestWording(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	format := map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "reply", "strict": true, "schema": map[string]any{"type": "object"}}}
	messages := []any{map[string]any{"role": "user", "content": "Hi."}}
	tests := map[string]struct {
		model string
		want  map[string]any
	}{
		"temperature 0 is not dropped": {"fake-chat", map[string]any{
			"model": "fake-chat", "messages": messages, "stream": false, "max_tokens": 64.0, "seed": 7.0,
			"temperature": 1e-6, "logprobs": true, "top_logprobs": 5.0, "response_format": format,
		}},
		"a reasoning series takes other fields": {"o3-mini", map[string]any{
			"model": "o3-mini", "messages": messages, "stream": false, "max_completion_tokens": 64.0, "seed": 7.0, "response_format": format,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := fake(t, llmtest.Config{Model: tt.model})
			req := llm.Request{
				Model: llm.Model{Provider: "openai", Name: tt.model}, Schema: schema,
				Messages: []llm.Message{{Role: "user", Content: "Hi."}},
				Options:  llm.Options{NumCtx: 2048, NumPredict: 64, Seed: 7, TopLogprobs: 5},
			}
			if _, err := c.Complete(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(s.Bodies()[0], &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("body sent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsOfChat(t *testing.T) {
	tests := map[string]struct {
		faults []llmtest.Fault
		kind   llm.Kind
		calls  int
		cut    bool
	}{
		"500 once is retried":            {faults: []llmtest.Fault{llmtest.Status(500, "oops"), {}}, calls: 2},
		"503 for ever":                   {faults: []llmtest.Fault{llmtest.Status(503, "overloaded")}, kind: llm.KindServerError, calls: 3},
		"429 in seconds":                 {faults: []llmtest.Fault{llmtest.RateLimited("3600"), {}}, calls: 2},
		"429 with a date":                {faults: []llmtest.Fault{llmtest.RateLimited("Fri, 31 Dec 2100 23:59:59 GMT"), {}}, calls: 2},
		"429 for ever":                   {faults: []llmtest.Fault{llmtest.RateLimited("1")}, kind: llm.KindRateLimited, calls: 3},
		"400 is not retried":             {faults: []llmtest.Fault{llmtest.Status(400, "no such field")}, kind: llm.KindBadRequest, calls: 1},
		"400 too long":                   {faults: []llmtest.Fault{llmtest.Status(400, "This model's maximum context length is 4096 tokens.")}, kind: llm.KindPromptTooLong, calls: 1},
		"401":                            {faults: []llmtest.Fault{llmtest.Status(401, "wrong key")}, kind: llm.KindAuth, calls: 1},
		"403":                            {faults: []llmtest.Fault{llmtest.Status(403, "not yours")}, kind: llm.KindAuth, calls: 1},
		"404 of the model":               {faults: []llmtest.Fault{llmtest.Status(404, "The model `x` does not exist")}, kind: llm.KindModelNotFound, calls: 1},
		"501 without a body":             {faults: []llmtest.Fault{llmtest.Status(501, "")}, kind: llm.KindNotTheProtocol, calls: 1},
		"HTML with 200":                  {faults: []llmtest.Fault{llmtest.HTML()}, kind: llm.KindNotTheProtocol, calls: 1},
		"garbage with 200":               {faults: []llmtest.Fault{llmtest.Garbage()}, kind: llm.KindNotTheProtocol, calls: 1},
		"empty body with 200":            {faults: []llmtest.Fault{llmtest.EmptyBody()}, kind: llm.KindServerGone, calls: 1, cut: true},
		"body shorter than its length":   {faults: []llmtest.Fault{{Cut: true}}, kind: llm.KindServerGone, calls: 1, cut: true},
		"body ends in the middle":        {faults: []llmtest.Fault{{Truncated: true}}, kind: llm.KindServerGone, calls: 1, cut: true},
		"no finish reason":               {faults: []llmtest.Fault{{NotDone: true}}, kind: llm.KindServerGone, calls: 1, cut: true},
		"no choices":                     {faults: []llmtest.Fault{{NoChoices: true}}, kind: llm.KindEmpty, calls: 1, cut: true},
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
			_, err := c.Complete(t.Context(), request())
			if got := llm.KindOf(err); got != tt.kind {
				t.Fatalf("error %v is of kind %q, want %q", err, got, tt.kind)
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

func TestThinkingIsNoAnswer(t *testing.T) {
	tests := map[string]struct {
		said string
		want llm.Reply
	}{
		"a block before the answer": {"<think>\nwell, 3?\n</think>\n\n2", llm.Reply{Text: "2", Thinking: "well, 3?"}},
		"only the end of a block":   {"well, 3?\n</think>\n2", llm.Reply{Text: "2", Thinking: "well, 3?"}},
		"a block that never ends":   {"<think>well, 3? or", llm.Reply{Text: "", Thinking: "well, 3? or"}},
		"no block":                  {" 2 ", llm.Reply{Text: " 2 "}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := fake(t, llmtest.Config{})
			s.FailNext(llmtest.Says(tt.said))
			r, err := c.Complete(t.Context(), request())
			got := llm.Reply{Text: r.Text, Thinking: r.Thinking}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestNoTemplate(t *testing.T) {
	_, c := fake(t, llmtest.Config{NoTemplate: true})
	for range 2 {
		if _, err := c.Complete(t.Context(), request()); !errors.Is(err, llm.KindNoSystem) {
			t.Errorf("error %v, want no system", err)
		}
	}
}

func TestKeyIsSentAndNeverShown(t *testing.T) {
	const key = "sk-very-secret"
	_, c := fake(t, llmtest.Config{APIKey: key})
	if _, err := c.Complete(t.Context(), request()); err != nil {
		t.Fatalf("with the right key: %v", err)
	}
	s, _ := fake(t, llmtest.Config{APIKey: "another"})
	_, err := client(t, s.URL, key).Complete(t.Context(), request())
	if !errors.Is(err, llm.KindAuth) || strings.Contains(err.Error(), key) {
		t.Errorf("error %v: want auth, without the key", err)
	}
}

func TestServerDownIsSaidAtOnce(t *testing.T) {
	s := llmtest.NewOpenAI(llmtest.Config{})
	s.Close()
	c, err := openai.New(openai.Config{Endpoint: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := c.Complete(t.Context(), request()); !errors.Is(err, llm.KindServerDown) {
		t.Errorf("error %v, want server down", err)
	}
	if took := time.Since(start); took > 400*time.Millisecond {
		t.Errorf("took %s: the first contact was retried", took)
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
		"HTML":                    {llmtest.HTML(), llm.KindNotTheProtocol},
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

func TestResolve(t *testing.T) {
	_, c := fake(t, llmtest.Config{})
	got, err := c.Resolve(t.Context(), "fake-chat")
	if diff := cmp.Diff(model, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := c.Resolve(t.Context(), "gpt-9"); !errors.Is(err, llm.KindModelNotFound) || !strings.HasSuffix(llm.Hint(err), "/v1/models") {
		t.Errorf("error %v, hint %q, want model not found and where to look", err, llm.Hint(err))
	}
}
