package judge_test

import (
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/llm/ollama"
)

// A real server gives the expected grade, and a plain answer more of it than a
// text about something else.
func TestModelOverRealServer(t *testing.T) {
	real := llmtest.RealOllama(t)
	server, err := ollama.New(ollama.Config{Endpoint: real.URL})
	if err != nil {
		t.Fatal(err)
	}
	m, err := judge.NewModel(server, judge.ModelOptions{Model: llm.Model{Provider: "ollama", Name: real.Model}, NumCtx: 4096, NumThread: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := judge.Query{Text: "how many vacation days does a new employee get"}
	var expected []float64
	for _, text := range []string{
		"New employees get 26 vacation days a year. The days of the first year are granted after the trial period.",
		"The pump is primed with clean water. Never run it dry for longer than ten seconds.",
	} {
		g, err := m.Grade(t.Context(), q, &corpus.Chunk{ID: text, Text: text})
		if err != nil || g.Expected == nil {
			t.Fatalf("grade %+v, error %v", g, err)
		}
		t.Logf("expected grade %.2f, probabilities %.2f: %s", *g.Expected, g.Probs, text)
		expected = append(expected, *g.Expected)
	}
	if expected[0] <= expected[1] {
		t.Errorf("expected grades %v: the answer is not above the other text", expected)
	}
}
