package generate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

const valve = "The relief valve of the P-20 closes when the pressure in the hose exceeds six bar."

// candidate is a query about the valve sentence.
func candidate(queryType, query string) generate.Candidate {
	return generate.Candidate{
		Query: query, Type: queryType, Language: "en",
		Chunk:    corpus.Chunk{ID: "p#0", Text: pumpText, Language: "en"},
		Evidence: []datasets.Evidence{{ChunkID: "p#0", Quote: valve}},
	}
}

func TestAPhraseOfTheEvidenceIsNoReference(t *testing.T) {
	c := candidate(datasets.Factual, "What changes during the passage of a shock wave?")
	c.Evidence[0].Quote = "The pressure jumps during the\npassage of a shock wave."
	if v := generate.RefersToText(c); !v.Check.Passed {
		t.Errorf("refused: %+v", v)
	}
	c.Query = "What does the passage say of a shock wave?"
	c.Evidence[0].Quote = "The pressure jumps in a shock wave."
	if v := generate.RefersToText(c); v.Check.Passed {
		t.Error("a mention of the text passed")
	}
}

func TestGates(t *testing.T) {
	const f, k, r = datasets.Factual, datasets.Keyword, datasets.Reformulated
	for _, tc := range []struct {
		gate        generate.Gate
		name        string
		queryType   string
		query       string
		passed      bool
		value       float64
		reason      string
		anyValueFor string // why the value is not compared
	}{
		{gate: generate.Preamble, name: "a question", queryType: f, query: "At which pressure does the valve of the P-20 close?", passed: true},
		{gate: generate.Preamble, name: "here are", queryType: f, query: "Here are two questions:", value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "here is", queryType: f, query: "Here's a question about the pump", value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "sure", queryType: f, query: "Sure! What closes the valve?", value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "label", queryType: f, query: "Question: What closes the valve?", value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "numbered label", queryType: f, query: "Query 1: what closes the valve", value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "two questions", queryType: f, query: "What closes? What opens?", value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "a list", queryType: f, query: "1. what closes the valve 2. what opens it", value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "JSON", queryType: f, query: `{"question": "x"}`, value: 1, reason: "preamble"},
		{gate: generate.Preamble, name: "a word that begins like one", queryType: f, query: "How sure is the closing of the valve?", passed: true},

		{gate: generate.Length, name: "fits", queryType: f, query: "When does the valve close?", passed: true, value: 5},
		{gate: generate.Length, name: "short", queryType: f, query: "Valve closes?", value: 2, reason: "length"},
		{gate: generate.Length, name: "keywords", queryType: k, query: "P-20 relief valve", passed: true, value: 3},
		{gate: generate.Length, name: "one keyword", queryType: k, query: "valve", value: 1, reason: "length"},
		{gate: generate.Length, name: "a sentence of keywords", queryType: k, query: "the valve that closes when pressure gets too high", value: 9, reason: "length"},
		{gate: generate.Length, name: "scripts without spaces", queryType: f, query: "ポンプの弁はいつ閉じますか", passed: true, value: 6},

		{gate: generate.Language, name: "same", queryType: f, query: "At which pressure does the relief valve of the pump close by itself?", passed: true, anyValueFor: "detection may be unsure"},
		{gate: generate.Language, name: "another", queryType: f, query: "Bei welchem Druck schließt sich das Ventil der Pumpe von selbst wieder?", value: 0, reason: "language"},
		{gate: generate.Language, name: "another script", queryType: f, query: "当压力超过多少时阀门关闭？", value: 0, reason: "language"},
		{gate: generate.Language, name: "too short to tell", queryType: f, query: "Ventil Druck P-20", passed: true, value: .5},

		{gate: generate.RefersToText, name: "none", queryType: f, query: "At which pressure does the valve close?", passed: true},
		{gate: generate.RefersToText, name: "passage", queryType: f, query: "What does the passage say about valves?", reason: "refers_to_text", anyValueFor: "several patterns match"},
		{gate: generate.RefersToText, name: "this document", queryType: f, query: "What is this document about?", value: 1, reason: "refers_to_text"},
		{gate: generate.RefersToText, name: "provided context", queryType: f, query: "What is the pressure in the context of the provided text?", value: 1, reason: "refers_to_text"},
		{gate: generate.RefersToText, name: "according to", queryType: f, query: "According to the manual, when does the valve close?", value: 1, reason: "refers_to_text"},
		{gate: generate.RefersToText, name: "author", queryType: f, query: "Why does the author prefer valves?", value: 1, reason: "refers_to_text"},
		{gate: generate.RefersToText, name: "above", queryType: f, query: "What closes in the case described above?", reason: "refers_to_text", anyValueFor: "several patterns match"},
		{gate: generate.RefersToText, name: "figure", queryType: f, query: "What does Figure 2 show about the valve?", value: 1, reason: "refers_to_text"},
		{gate: generate.RefersToText, name: "in the document", queryType: f, query: "Which valves are named in the document?", value: 1, reason: "refers_to_text"},
		{gate: generate.RefersToText, name: "German", queryType: f, query: "Was sagt der Text laut Autor?", value: 1, reason: "refers_to_text"},
		{gate: generate.RefersToText, name: "a document as the subject", queryType: f, query: "How do I upload a document to the archive?", passed: true},
		{gate: generate.RefersToText, name: "above a number", queryType: f, query: "What happens above six bar?", passed: true},

		{gate: generate.SelfContained, name: "named", queryType: f, query: "At which pressure does the P-20 valve close?", passed: true},
		{gate: generate.SelfContained, name: "this", queryType: f, query: "When does this valve close?", value: 1, reason: "self_contained"},
		{gate: generate.SelfContained, name: "dangling it", queryType: f, query: "When does it close?", value: 1, reason: "self_contained"},
		{gate: generate.SelfContained, name: "it with an antecedent", queryType: f, query: "Does the relief valve close when it gets hot?", passed: true},
		{gate: generate.SelfContained, name: "empty it", queryType: f, query: "Is it possible to close the valve by hand?", passed: true},
		{gate: generate.SelfContained, name: "the given", queryType: f, query: "What is the pressure for the given pump?", value: 1, reason: "self_contained"},
		{gate: generate.SelfContained, name: "German", queryType: f, query: "Wann schließt dieses Ventil?", value: 1, reason: "self_contained"},

		{gate: generate.CopiedRun, name: "own words", queryType: f, query: "How high must the pressure be to shut the P-20?", passed: true, anyValueFor: "incidental runs"},
		{gate: generate.CopiedRun, name: "half the sentence", queryType: f, query: "What closes when the pressure in the hose exceeds six bar?", value: 10, reason: "copied"},
		{gate: generate.CopiedRun, name: "keywords in a row", queryType: k, query: "pressure in the hose exceeds", value: 5, reason: "copied"},
		{gate: generate.CopiedRun, name: "reformulated and copied", queryType: r, query: "What about the relief valve of pumps?", value: 4, reason: "copied"},

		{gate: generate.CopiedOverlap, name: "half", queryType: f, query: "Which threshold makes the valve shut?", passed: true, value: .2},
		{gate: generate.CopiedOverlap, name: "all", queryType: f, query: "relief valve closes pressure hose?", value: 1, reason: "copied"},
		{gate: generate.CopiedOverlap, name: "keywords may", queryType: k, query: "relief valve pressure", passed: true, value: 1},
		{gate: generate.CopiedOverlap, name: "reformulated with its terms", queryType: r, query: "relief valve hose pressure limit?", value: .8, reason: "copied"},
		{gate: generate.CopiedOverlap, name: "no content word", queryType: f, query: "is it on or at the", value: 0, reason: "length"},
	} {
		c := candidate(tc.queryType, tc.query)
		got := tc.gate(c)
		t.Run(got.Check.Name+"/"+tc.name, func(t *testing.T) {
			want := datasets.Check{Name: got.Check.Name, Passed: tc.passed, Value: tc.value}
			if tc.anyValueFor != "" {
				want.Value = got.Check.Value
			}
			if diff := cmp.Diff(want, got.Check); diff != "" {
				t.Errorf("%q (-want +got):\n%s%s", tc.query, diff, got.Detail)
			}
			if got.Reason != tc.reason {
				t.Errorf("%q: reason %q, want %q", tc.query, got.Reason, tc.reason)
			}
		})
	}
}
