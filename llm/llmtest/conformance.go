package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
)

// ClientUnderTest is a client and what it is asked with.
type ClientUnderTest struct {
	Client  llm.Client
	Model   llm.Model
	Options llm.Options // num_ctx at most 4096, so that a prompt can be too long
	Unknown string      // a model that the server does not have; "" means "no-such-model"
}

// answerSchema is the schema that the suite asks with.
const answerSchema = `{"type":"object","properties":{"city":{"type":"string","maxLength":60},"kind":{"type":"string","enum":["capital","other"]},"size":{"type":"integer","minimum":0,"maximum":3}},"required":["city","kind","size"],"additionalProperties":false}`

type answered struct {
	City string `json:"city"`
	Kind string `json:"kind"`
	Size int    `json:"size"`
}

// TestClient is what every llm.Client has to pass, over a fake or a real server.
func TestClient(t *testing.T, newClient func(t *testing.T) ClientUnderTest) {
	t.Helper()
	tests := map[string]func(*testing.T, ClientUnderTest){
		"a reply is complete":                         completeReply,
		"the same request has the same reply":         sameReply,
		"a schema is obeyed":                          schemaObeyed,
		"num_predict reached is told":                 cutReplyTold,
		"log-probabilities come when asked for":       logprobsCome,
		"an unknown model is told":                    unknownModel,
		"a prompt longer than the window is an error": longPrompt,
		"a cancelled call ends with the cause":        cancelled,
		"calls may be concurrent":                     concurrent,
		"a request without options is refused":        withoutOptions,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newClient(t)) })
	}
}

func ask(u ClientUnderTest, text string) llm.Request {
	return llm.Request{Model: u.Model, Options: u.Options, Messages: []llm.Message{
		{Role: "system", Content: "You answer briefly."}, {Role: "user", Content: text},
	}}
}

func completeReply(t *testing.T, u ClientUnderTest) {
	r, err := u.Client.Complete(t.Context(), ask(u, "Which city is the capital of France?"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(r.Text) == "" || r.FinishReason == "" || r.PromptTokens == 0 || r.OutputTokens == 0 {
		t.Errorf("reply %+v lacks text, finish reason or counts", r)
	}
}

func sameReply(t *testing.T, u ClientUnderTest) {
	var texts [2]string
	for i := range texts {
		r, err := u.Client.Complete(t.Context(), ask(u, "Name a river in Germany."))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = r.Text
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Errorf("two replies differ:\n%s", diff)
	}
}

func schemaObeyed(t *testing.T, u ClientUnderTest) {
	req := ask(u, "Describe the capital city of France in JSON.")
	req.Schema = json.RawMessage(answerSchema)
	r, err := u.Client.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := llm.ParseJSON[answered](r, req.Schema)
	if err != nil {
		t.Fatalf("reply %q: %v", r.Text, err)
	}
	if got.City == "" {
		t.Errorf("reply %q has no city", r.Text)
	}
}

func cutReplyTold(t *testing.T, u ClientUnderTest) {
	req := ask(u, "Describe the capital city of France in JSON, at length.")
	req.Schema = json.RawMessage(answerSchema)
	req.Options.NumPredict = 3
	r, err := u.Client.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.ParseJSON[answered](r, req.Schema); !errors.Is(err, llm.KindCutOff) || r.FinishReason != llm.FinishLength {
		t.Errorf("finish %q, parse error %v, want length and cut off", r.FinishReason, err)
	}
}

func logprobsCome(t *testing.T, u ClientUnderTest) {
	req := ask(u, "Answer with one digit, 0, 1, 2 or 3.")
	req.Options.NumPredict, req.Options.TopLogprobs = 1, 5
	r, err := u.Client.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Logprobs) == 0 || len(r.Logprobs[0].Top) == 0 || r.Logprobs[0].Top[0].Logprob > 0 {
		t.Errorf("log-probabilities %+v", r.Logprobs)
	}
}

func unknownModel(t *testing.T, u ClientUnderTest) {
	req := ask(u, "Hello.")
	req.Model.Name = u.Unknown
	if req.Model.Name == "" {
		req.Model.Name = "no-such-model"
	}
	_, err := u.Client.Complete(t.Context(), req)
	if !errors.Is(err, llm.KindModelNotFound) || !strings.Contains(err.Error(), req.Model.Name) {
		t.Errorf("error %v, want model not found that names it", err)
	}
}

func longPrompt(t *testing.T, u ClientUnderTest) {
	req := ask(u, strings.Repeat("the river flows to the sea and the sea is deep ", u.Options.NumCtx/4))
	_, err := u.Client.Complete(t.Context(), req)
	if !errors.Is(err, llm.KindPromptTooLong) {
		t.Errorf("error %v, want prompt too long", err)
	}
}

func cancelled(t *testing.T, u ClientUnderTest) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := u.Client.Complete(ctx, ask(u, "Hello.")); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause of the cancel", err)
	}
}

func concurrent(t *testing.T, u ClientUnderTest) {
	var wg sync.WaitGroup
	for _, word := range []string{"river", "mountain", "lake", "forest"} {
		wg.Go(func() {
			if r, err := u.Client.Complete(t.Context(), ask(u, "Name a "+word+".")); err != nil || r.Text == "" {
				t.Errorf("%s: %q, %v", word, r.Text, err)
			}
		})
	}
	wg.Wait()
}

func withoutOptions(t *testing.T, u ClientUnderTest) {
	req := ask(u, "Hello.")
	req.Options = llm.Options{}
	if _, err := u.Client.Complete(t.Context(), req); !errors.Is(err, llm.KindBadRequest) {
		t.Errorf("error %v, want bad request", err)
	}
}

// EmbedderUnderTest is an embedder and what it is asked with.
type EmbedderUnderTest struct {
	Embedder  llm.Embedder
	Model     llm.Model
	ChatModel string // a chat model of the server that must be refused; "" where the protocol cannot tell
	Limited   bool   // a text of 20,000 words is refused, not cut
}

// TestEmbedder is what every llm.Embedder has to pass.
func TestEmbedder(t *testing.T, newEmbedder func(t *testing.T) EmbedderUnderTest) {
	t.Helper()
	tests := map[string]func(*testing.T, EmbedderUnderTest){
		"one vector a text, in order":        vectorsInOrder,
		"the prefix is part of the text":     prefixCounts,
		"no texts need no call":              noTexts,
		"an unknown model is told":           unknownEmbedder,
		"a chat model is refused":            chatModelRefused,
		"the text that is too long is named": longTextNamed,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newEmbedder(t)) })
	}
}

func embed(t *testing.T, u EmbedderUnderTest, prefix string, texts ...string) [][]float32 {
	t.Helper()
	got, err := u.Embedder.Embed(t.Context(), llm.EmbedRequest{Model: u.Model, Prefix: prefix, Texts: texts})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(got), len(texts))
	}
	return got
}

func vectorsInOrder(t *testing.T, u EmbedderUnderTest) {
	batch := embed(t, u, "", "the cat sleeps", "rockets burn fuel", "the cat is asleep")
	alone := embed(t, u, "", "rockets burn fuel")
	if c := cosine(batch[1], alone[0]); c < 0.999 {
		t.Errorf("cosine of a text in a batch and alone is %.4f", c)
	}
	if near, far := cosine(batch[0], batch[2]), cosine(batch[0], batch[1]); near <= far {
		t.Errorf("cosine of like texts %.3f is not above that of unlike ones %.3f", near, far)
	}
}

func prefixCounts(t *testing.T, u EmbedderUnderTest) {
	with := embed(t, u, "query: ", "rockets burn fuel")
	whole := embed(t, u, "", "query: rockets burn fuel")
	if c := cosine(with[0], whole[0]); c < 0.999 {
		t.Errorf("cosine of prefixed and whole text is %.4f", c)
	}
}

func noTexts(t *testing.T, u EmbedderUnderTest) {
	if got := embed(t, u, ""); len(got) != 0 {
		t.Errorf("%d vectors for no texts", len(got))
	}
}

func unknownEmbedder(t *testing.T, u EmbedderUnderTest) {
	u.Model.Name = "no-such-model"
	_, err := u.Embedder.Embed(t.Context(), llm.EmbedRequest{Model: u.Model, Texts: []string{"x"}})
	if !errors.Is(err, llm.KindModelNotFound) {
		t.Errorf("error %v, want model not found", err)
	}
}

func chatModelRefused(t *testing.T, u EmbedderUnderTest) {
	if u.ChatModel == "" {
		t.Skip("the protocol cannot tell a chat model from an embedder")
	}
	u.Model.Name = u.ChatModel
	_, err := u.Embedder.Embed(t.Context(), llm.EmbedRequest{Model: u.Model, Texts: []string{"x"}})
	if !errors.Is(err, llm.KindNotAnEmbedder) {
		t.Errorf("error %v, want not an embedder", err)
	}
}

func longTextNamed(t *testing.T, u EmbedderUnderTest) {
	if !u.Limited {
		t.Skip("the server cuts long texts")
	}
	texts := []string{"a", "b", strings.Repeat("rockets burn fuel ", 2000), "d", "e"}
	_, err := u.Embedder.Embed(t.Context(), llm.EmbedRequest{Model: u.Model, Texts: texts})
	if diff := cmp.Diff([]int{2}, llm.TooLong(err)); diff != "" {
		t.Errorf("error %v names other texts:\n%s", err, diff)
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(float64(a[i]) * float64(b[i]))
		aa += float64(float64(a[i]) * float64(a[i]))
		bb += float64(float64(b[i]) * float64(b[i]))
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / (math.Sqrt(aa) * math.Sqrt(bb))
}
