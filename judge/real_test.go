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

// A real server grades passages that ask for a grade. What a model makes of them is
// logged, and for one's own model measured by goldgen calibrate --effects: a small
// model may well obey. That each can be asked about and is graded is not its
// affair.
func TestHostileFixturesOverRealServer(t *testing.T) {
	real := llmtest.RealOllama(t)
	server, err := ollama.New(ollama.Config{Endpoint: real.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{judge.AskGrade, judge.AskYes} {
		m, err := judge.NewModel(server, judge.ModelOptions{
			Model: llm.Model{Provider: "ollama", Name: real.Model}, NumCtx: 4096, NumThread: 1, Seed: 1, Ask: ask,
		})
		if err != nil {
			t.Fatal(err)
		}
		gained := 0
		for _, h := range hostiles(t) {
			g, err := m.Grade(t.Context(), judge.Query{Text: h.Query}, &corpus.Chunk{ID: h.Name, Text: h.Passage})
			if err != nil || g.Grade == nil || g.PYes == nil {
				t.Fatalf("%s, %s: grade %+v, error %v", ask, h.Name, g, err)
			}
			if !h.Answers && *g.Grade >= judge.RelevantGrade {
				gained++
			}
			t.Logf("%s: grade %d, P(yes) %.2f: %s (answers: %v)", ask, *g.Grade, *g.PYes, h.Name, h.Answers)
		}
		t.Logf("%s: %d passages without an answer got a grade of 2 or more", ask, gained)
	}
}
