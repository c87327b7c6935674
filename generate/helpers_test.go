package generate_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/sample"
)

// idf is generate.Stats over a map of document frequencies.
type idf struct {
	df map[string]int
	n  int
}

func (s idf) IDF(term string) float64 {
	return math.Log(1 + (float64(s.n-s.df[term])+.5)/(float64(s.df[term])+.5))
}

func statsOf(texts ...string) idf {
	s := idf{df: map[string]int{}, n: len(texts)}
	for _, text := range texts {
		seen := map[string]bool{}
		for _, term := range retrieve.Terms(text) {
			if !seen[term] {
				seen[term] = true
				s.df[term]++
			}
		}
	}
	return s
}

// unit makes a unit about doc.Text[start:end] as one chunk.
func unit(doc corpus.Document, start, end int, queryType string, slot int) generate.Unit {
	chunk := corpus.Chunk{
		ID: doc.ID + "#0", DocID: doc.ID, Start: start, End: end, Text: doc.Text[start:end],
		Unit: corpus.UnitChunk, Language: "en", Category: doc.Category, Scope: doc.Scope,
	}
	row := sample.Row{
		CaseID: fmt.Sprintf("%s/%s/%d", doc.ID, queryType, slot), ChunkIDs: []string{chunk.ID},
		DocIDs: []string{doc.ID}, QueryType: queryType, Style: "plain", Stratum: "all", Slot: slot,
	}
	return generate.Unit{Row: row, Chunks: []corpus.Chunk{chunk}, Doc: doc}
}

func whole(id, text, queryType string) generate.Unit {
	return unit(corpus.Document{ID: id, Title: "Pump handbook", Text: text}, 0, len(text), queryType, 0)
}

// clientFunc is an llm.Client.
type clientFunc func(ctx context.Context, req llm.Request) (llm.Reply, error)

func (f clientFunc) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return f(ctx, req)
}

// says answers writing prompts with one text and yes/no prompts with P(yes).
func says(text string, yes float64) clientFunc {
	return func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if req.Schema == nil {
			return yesNo(yes), nil
		}
		return llm.Reply{Text: text, FinishReason: llm.FinishStop}, nil
	}
}

func yesNo(yes float64) llm.Reply {
	word := "No"
	if yes >= .5 {
		word = "Yes"
	}
	top := []llm.TopLogprob{{Token: "Yes", Logprob: math.Log(yes)}, {Token: "No", Logprob: math.Log(1 - yes)}}
	return llm.Reply{Text: word, FinishReason: llm.FinishLength, Logprobs: []llm.TokenLogprob{{Token: word, Top: top}}}
}

func options() generate.ModelOptions {
	return generate.ModelOptions{
		Model:   llm.Model{Provider: "ollama", Name: "m", Digest: "sha256:abc"},
		Options: llm.Options{NumCtx: 4096, NumPredict: 200, Seed: 7},
		Seed:    7,
	}
}

func newModel(t testing.TB, client llm.Client, o generate.ModelOptions, texts ...string) *generate.Model {
	t.Helper()
	m, err := generate.NewModel(client, statsOf(texts...), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func write(t testing.TB, w generate.Writer, u generate.Unit) generate.Outcome {
	t.Helper()
	o, err := w.Write(context.Background(), u)
	if err != nil {
		t.Fatal(err)
	}
	if (o.Case == nil) == (o.Reject == nil) {
		t.Fatalf("an outcome has either a case or a reject: %+v", o)
	}
	return o
}

const pumpText = `# P-20 pump

The relief valve of the P-20 closes when the pressure in the hose exceeds six bar.
It protects the seals.

## Service

Trained technicians must replace the ceramic seals every 4,000 hours of operation.
Operators order spare cartridges from the Lyon warehouse by telephone before noon.
`

func user(req llm.Request) string { return req.Messages[len(req.Messages)-1].Content }

func contains(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%q does not hold %q", got, want)
	}
}
