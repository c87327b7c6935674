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

// gateCase is a query about the valve sentence, and what a gate makes of it.
type gateCase struct {
	name        string
	queryType   string
	query       string
	passed      bool
	value       float64
	reason      string
	anyValueFor string // why the value is not compared
}

func tryGate(t *testing.T, gate generate.Gate, check string, cases []gateCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := gate(candidate(tc.queryType, tc.query))
			want := datasets.Check{Name: check, Passed: tc.passed, Value: tc.value}
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

func TestBareWordsRefusesQuestions(t *testing.T) {
	const k = datasets.Keyword
	tryGate(t, generate.BareWords, "bare_words", []gateCase{
		{name: "words", queryType: k, query: "relief valve pressure", passed: true},
		{name: "a modal that is a name", queryType: k, query: "can bus voltage", passed: true},
		{name: "a question word that is a name", queryType: k, query: "who guidelines hygiene", passed: true},
		{name: "a mark", queryType: k, query: "relief valve pressure?", value: 1, reason: "bare_words"},
		{name: "English", queryType: k, query: "how to open the valve", value: 1, reason: "bare_words"},
		{name: "a verb first", queryType: k, query: "is the valve open", value: 1, reason: "bare_words"},
		{name: "German", queryType: k, query: "wie lange hält das Ventil", value: 1, reason: "bare_words"},
		{name: "French", queryType: k, query: "comment faire la vidange", value: 1, reason: "bare_words"},
		{name: "Spanish", queryType: k, query: "¿Cuándo se cambia la junta", value: 1, reason: "bare_words"},
		{name: "Japanese", queryType: k, query: "弁はいつ閉じますか？", value: 1, reason: "bare_words"},
	})
}

func TestPreambleRefusesWhatIntroducesAQuery(t *testing.T) {
	const f = datasets.Factual
	tryGate(t, generate.Preamble, "preamble", []gateCase{
		{name: "a question", queryType: f, query: "At which pressure does the valve of the P-20 close?", passed: true},
		{name: "here are", queryType: f, query: "Here are two questions:", value: 1, reason: "preamble"},
		{name: "here is", queryType: f, query: "Here's a question about the pump", value: 1, reason: "preamble"},
		{name: "sure", queryType: f, query: "Sure! What closes the valve?", value: 1, reason: "preamble"},
		{name: "label", queryType: f, query: "Question: What closes the valve?", value: 1, reason: "preamble"},
		{name: "numbered label", queryType: f, query: "Query 1: what closes the valve", value: 1, reason: "preamble"},
		{name: "two questions", queryType: f, query: "What closes? What opens?", value: 1, reason: "preamble"},
		{name: "a list", queryType: f, query: "1. what closes the valve 2. what opens it", value: 1, reason: "preamble"},
		{name: "JSON", queryType: f, query: `{"question": "x"}`, value: 1, reason: "preamble"},
		{name: "a word that begins like one", queryType: f, query: "How sure is the closing of the valve?", passed: true},
	})
}

func TestLengthBoundsWords(t *testing.T) {
	const f, k = datasets.Factual, datasets.Keyword
	tryGate(t, generate.Length, "length", []gateCase{
		{name: "fits", queryType: f, query: "When does the valve close?", passed: true, value: 5},
		{name: "short", queryType: f, query: "Valve closes?", value: 2, reason: "length"},
		{name: "keywords", queryType: k, query: "P-20 relief valve", passed: true, value: 3},
		{name: "one keyword", queryType: k, query: "valve", value: 1, reason: "length"},
		{name: "a sentence of keywords", queryType: k, query: "the valve that closes when pressure gets too high", value: 9, reason: "length"},
		{name: "scripts without spaces", queryType: f, query: "ポンプの弁はいつ閉じますか", passed: true, value: 6},
		{name: "keywords in Katakana", queryType: k, query: "リリーフバルブ ポンプ", passed: true, value: 2},
		{name: "half words are rounded up once", queryType: k, query: "弁 リリーフバルブ 圧 弁", passed: true, value: 3},
	})
}

func TestLanguageIsTheChunks(t *testing.T) {
	const f = datasets.Factual
	tryGate(t, generate.Language, "language", []gateCase{
		{name: "same", queryType: f, query: "At which pressure does the relief valve of the pump close by itself?", passed: true, anyValueFor: "detection may be unsure"},
		{name: "another", queryType: f, query: "Bei welchem Druck schließt sich das Ventil der Pumpe von selbst wieder?", value: 0, reason: "language"},
		{name: "another script", queryType: f, query: "当压力超过多少时阀门关闭？", value: 0, reason: "language"},
		{name: "too short to tell", queryType: f, query: "Ventil Druck P-20", passed: true, value: .5},
	})
}

func TestRefersToTextRefusesMentionsOfTheText(t *testing.T) {
	const f = datasets.Factual
	tryGate(t, generate.RefersToText, "refers_to_text", []gateCase{
		{name: "none", queryType: f, query: "At which pressure does the valve close?", passed: true},
		{name: "passage", queryType: f, query: "What does the passage say about valves?", reason: "refers_to_text", anyValueFor: "several patterns match"},
		{name: "this document", queryType: f, query: "What is this document about?", value: 1, reason: "refers_to_text"},
		{name: "provided context", queryType: f, query: "What is the pressure in the context of the provided text?", value: 1, reason: "refers_to_text"},
		{name: "according to", queryType: f, query: "According to the manual, when does the valve close?", value: 1, reason: "refers_to_text"},
		{name: "author", queryType: f, query: "Why does the author prefer valves?", value: 1, reason: "refers_to_text"},
		{name: "above", queryType: f, query: "What closes in the case described above?", reason: "refers_to_text", anyValueFor: "several patterns match"},
		{name: "figure", queryType: f, query: "What does Figure 2 show about the valve?", value: 1, reason: "refers_to_text"},
		{name: "in the document", queryType: f, query: "Which valves are named in the document?", value: 1, reason: "refers_to_text"},
		{name: "German", queryType: f, query: "Was sagt der Text laut Autor?", value: 1, reason: "refers_to_text"},
		{name: "a document as the subject", queryType: f, query: "How do I upload a document to the archive?", passed: true},
		{name: "above a number", queryType: f, query: "What happens above six bar?", passed: true},
	})
}

func TestSelfContainedRefusesWhatPointsNowhere(t *testing.T) {
	const f = datasets.Factual
	tryGate(t, generate.SelfContained, "self_contained", []gateCase{
		{name: "named", queryType: f, query: "At which pressure does the P-20 valve close?", passed: true},
		{name: "this", queryType: f, query: "When does this valve close?", value: 1, reason: "self_contained"},
		{name: "dangling it", queryType: f, query: "When does it close?", value: 1, reason: "self_contained"},
		{name: "it with an antecedent", queryType: f, query: "Does the relief valve close when it gets hot?", passed: true},
		{name: "empty it", queryType: f, query: "Is it possible to close the valve by hand?", passed: true},
		{name: "the given", queryType: f, query: "What is the pressure for the given pump?", value: 1, reason: "self_contained"},
		{name: "German", queryType: f, query: "Wann schließt dieses Ventil?", value: 1, reason: "self_contained"},
	})
}

func TestCopiedRunRefusesRunsOfTheEvidence(t *testing.T) {
	const f, k, r = datasets.Factual, datasets.Keyword, datasets.Reformulated
	tryGate(t, generate.CopiedRun, "copied_run", []gateCase{
		{name: "own words", queryType: f, query: "How high must the pressure be to shut the P-20?", passed: true, anyValueFor: "incidental runs"},
		{name: "half the sentence", queryType: f, query: "What closes when the pressure in the hose exceeds six bar?", value: 10, reason: "copied"},
		{name: "keywords in a row", queryType: k, query: "pressure in the hose exceeds", value: 5, reason: "copied"},
		{name: "reformulated and copied", queryType: r, query: "What about the relief valve of pumps?", value: 4, reason: "copied"},
	})
}

func TestCopiedOverlapRefusesTheTermsOfTheEvidence(t *testing.T) {
	const f, k, r = datasets.Factual, datasets.Keyword, datasets.Reformulated
	tryGate(t, generate.CopiedOverlap, "copied_overlap", []gateCase{
		{name: "half", queryType: f, query: "Which threshold makes the valve shut?", passed: true, value: .2},
		{name: "all", queryType: f, query: "relief valve closes pressure hose?", value: 1, reason: "copied"},
		{name: "keywords may", queryType: k, query: "relief valve pressure", passed: true, value: 1},
		{name: "reformulated with its terms", queryType: r, query: "relief valve hose pressure limit?", value: .8, reason: "copied"},
		{name: "no content word", queryType: f, query: "is it on or at the", value: 0, reason: "length"},
	})
}
