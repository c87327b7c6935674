// Package llmtest has what tests need in the place of a language model: a
// deterministic fake model, fake servers of both protocols that fail in the
// ways real ones do, and a conformance suite for clients and embedders.
package llmtest

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/goldgen/goldgen/llm"
)

// Handler answers a request; it decides text, finish reason and log-probabilities.
// Token counts that it leaves 0 are filled in.
type Handler func(llm.Request) llm.Reply

// Model is a fake model: an llm.Client and llm.Embedder without a server.
type Model struct {
	// Handler answers; nil means Answer.
	Handler Handler
	// Dimensions of vectors; 0 means 64.
	Dimensions int

	mu       sync.Mutex
	requests []llm.Request
}

// Complete answers with the handler.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, context.Cause(ctx)
	}
	m.mu.Lock()
	m.requests = append(m.requests, req)
	m.mu.Unlock()
	return answer(m.Handler, req), nil
}

// Requests lists what was asked, in order of arrival.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Embed gives hashed bags of words: texts that share words are near each other.
func (m *Model) Embed(ctx context.Context, req llm.EmbedRequest) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	out := make([][]float32, len(req.Texts))
	for i, t := range req.Texts {
		out[i] = Vector(req.Prefix+t, m.Dimensions)
	}
	return out, nil
}

func answer(h Handler, req llm.Request) llm.Reply {
	if h == nil {
		h = Answer
	}
	r := h(req)
	if r.PromptTokens == 0 {
		r.PromptTokens = PromptTokens(req.Messages)
	}
	if r.OutputTokens == 0 {
		r.OutputTokens = min(Tokens(r.Text)+Tokens(r.Thinking), req.Options.NumPredict)
	}
	if r.FinishReason == "" {
		r.FinishReason = llm.FinishStop
	}
	return r
}

// Tokens is the fake tokenizer's count: one for each run of up to four bytes of
// a word.
func Tokens(text string) int {
	n := 0
	for _, w := range strings.Fields(text) {
		n += (len(w) + 3) / 4
	}
	return n
}

// PromptTokens counts a prompt, with three tokens a turn for its marks.
func PromptTokens(messages []llm.Message) int {
	n := 3
	for _, m := range messages {
		n += 3 + Tokens(m.Content)
	}
	return n
}

// Vector is a unit vector of word counts, hashed to the dimensions (0 means 64).
// A text without words has the first axis.
func Vector(text string, dimensions int) []float32 {
	if dimensions <= 0 {
		dimensions = 64
	}
	sums := make([]float64, dimensions)
	for _, w := range Words(text) {
		h := fnv.New64a()
		h.Write([]byte(w))
		sum := h.Sum64()
		sign := 1 - 2*float64(sum>>63)
		sums[sum%uint64(dimensions)] += sign
	}
	norm := 0.0
	for _, s := range sums {
		norm += float64(s * s)
	}
	if norm == 0 {
		sums[0], norm = 1, 1
	}
	v := make([]float32, dimensions)
	for i, s := range sums {
		v[i] = float32(s / math.Sqrt(norm))
	}
	return v
}

// Words lists the lower-cased words of a text.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// Answer is the default handler, a function of the request alone. With a schema
// it answers JSON of that schema, its strings made of words of the last message.
// Asked for one token, it answers a grade from 0 to 3 with log-probabilities.
// Otherwise it answers a few words of the last message.
func Answer(req llm.Request) llm.Reply {
	w := newWriter(req)
	switch {
	case len(req.Schema) > 0:
		return w.json(req)
	case req.Options.NumPredict == 1:
		return w.grade(req)
	}
	return llm.Reply{Text: w.phrase(4, 8)}
}

// writer draws from a request's own random stream.
type writer struct {
	rand  *rand.Rand
	words []string
}

func newWriter(req llm.Request) *writer {
	key, _ := hex.DecodeString(req.Key())
	last := ""
	if len(req.Messages) > 0 {
		last = req.Messages[len(req.Messages)-1].Content
	}
	w := &writer{rand: rand.New(rand.NewPCG(binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])))}
	for _, word := range Words(last) {
		if len(word) >= 4 && !slices.Contains(w.words, word) {
			w.words = append(w.words, word)
		}
	}
	if len(w.words) == 0 {
		w.words = []string{"nothing"}
	}
	return w
}

func (w *writer) phrase(least, most int) string {
	n := least + w.rand.IntN(most-least+1)
	start := w.rand.IntN(len(w.words))
	var out []string
	for i := range min(n, len(w.words)) {
		out = append(out, w.words[(start+i)%len(w.words)])
	}
	return strings.Join(out, " ")
}

func (w *writer) json(req llm.Request) llm.Reply {
	var schema map[string]any
	if err := json.Unmarshal(req.Schema, &schema); err != nil {
		return llm.Reply{Text: "null"}
	}
	text, err := json.Marshal(w.value("", schema))
	if err != nil {
		return llm.Reply{Text: "null"}
	}
	if Tokens(string(text)) > req.Options.NumPredict {
		return llm.Reply{Text: string(text[:len(text)/2]), FinishReason: llm.FinishLength}
	}
	return llm.Reply{Text: string(text)}
}

// value makes a value of the schemas that goldgen sends: objects, arrays,
// strings, numbers, booleans, enums and constants.
func (w *writer) value(name string, schema map[string]any) any {
	if c, ok := schema["const"]; ok {
		return c
	}
	if choices, ok := schema["enum"].([]any); ok && len(choices) > 0 {
		return choices[w.rand.IntN(len(choices))]
	}
	switch typeOf(schema) {
	case "object":
		return w.object(schema)
	case "array":
		return w.array(name, schema)
	case "integer":
		least := number(schema, "minimum", 0)
		return least + w.rand.IntN(max(1, number(schema, "maximum", least+3)-least+1))
	case "number":
		return float64(number(schema, "minimum", 0)) + math.Round(100*w.rand.Float64())/100
	case "boolean":
		return w.rand.IntN(2) == 1
	case "null":
		return nil
	}
	return w.text(name, schema)
}

func typeOf(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if s, ok := one.(string); ok && s != "null" {
				return s
			}
		}
	}
	if schema["properties"] != nil {
		return "object"
	}
	return "string"
}

func (w *writer) object(schema map[string]any) map[string]any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names) // a map's order would not be the same twice
	for _, name := range names {
		if inner, ok := properties[name].(map[string]any); ok {
			out[name] = w.value(name, inner)
		}
	}
	return out
}

func (w *writer) array(name string, schema map[string]any) []any {
	least := number(schema, "minItems", 1)
	most := number(schema, "maxItems", max(least, 3))
	items, _ := schema["items"].(map[string]any)
	out := []any{}
	for range least + w.rand.IntN(max(1, most-least+1)) {
		inner := w.value(name, items)
		if s, ok := inner.(string); ok && items["enum"] == nil {
			inner = strings.Fields(s)[0]
		}
		out = append(out, inner)
	}
	return out
}

func (w *writer) text(name string, schema map[string]any) string {
	s := w.phrase(5, 9)
	if strings.Contains(name, "question") || strings.Contains(name, "query") {
		s = "how does " + s + "?"
	}
	if most := number(schema, "maxLength", 1500); len(s) > most {
		s = s[:most]
	}
	for len(s) < number(schema, "minLength", 0) {
		s += " more"
	}
	return s
}

func number(schema map[string]any, name string, otherwise int) int {
	if f, ok := schema[name].(float64); ok {
		return int(f)
	}
	return otherwise
}

// grade answers one digit and the log-probabilities of all four.
func (w *writer) grade(req llm.Request) llm.Reply {
	weights := make([]float64, 4)
	total := 0.0
	for i := range weights {
		weights[i] = 0.05 + w.rand.Float64()
		total += weights[i]
	}
	return Graded(req, [4]float64{weights[0] / total, weights[1] / total, weights[2] / total, weights[3] / total})
}

// Graded is a judge's reply of one token with the given probabilities of the
// grades 0 to 3. Log-probabilities are given only if they were asked for.
func Graded(req llm.Request, p [4]float64) llm.Reply {
	best := 0
	var top []llm.TopLogprob
	for g, q := range p {
		if q > p[best] {
			best = g
		}
		top = append(top, llm.TopLogprob{Token: fmt.Sprint(g), Logprob: math.Log(max(q, 1e-9))})
	}
	slices.SortStableFunc(top, func(a, b llm.TopLogprob) int {
		if a.Logprob > b.Logprob {
			return -1
		}
		return 1
	})
	r := llm.Reply{Text: fmt.Sprint(best), FinishReason: llm.FinishLength, OutputTokens: 1}
	if n := min(req.Options.TopLogprobs, len(top)); n > 0 {
		r.Logprobs = []llm.TokenLogprob{{Token: r.Text, Logprob: top[0].Logprob, Top: top[:n]}}
	}
	return r
}
