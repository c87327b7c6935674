package generate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

func TestRecheckHoldsAnotherWordingToTheGates(t *testing.T) {
	source := &corpus.Chunk{ID: "d#0", DocID: "d", Text: "Refunds are paid within ten days of the return."}
	written := datasets.Case{
		ID: "1", Query: "when is money given back", QueryType: datasets.Factual, Language: "en",
		Evidence: []datasets.Evidence{{Quote: source.Text}},
	}
	others := []datasets.Case{
		written,
		{ID: "2", Query: "how long does a parcel take to Norway", Status: datasets.Active},
		{ID: "3", Query: "which shoes are waterproof in winter", Status: datasets.Retired},
	}
	for name, test := range map[string]struct {
		wording string
		source  *corpus.Chunk
		failed  []string
	}{
		"a good one":                  {"how soon does a customer get the price back", source, nil},
		"the evidence's own words":    {"are refunds paid within ten days of the return", source, []string{"copied_run", "copied_overlap"}},
		"too short":                   {"refund", source, []string{"length", "copied_overlap"}},
		"it speaks of the text":       {"what does the passage say about refunds", source, []string{"refers_to_text"}},
		"another case's":              {"how long does a parcel take to Norway", source, []string{"near_duplicate"}},
		"a retired case's":            {"which shoes are waterproof in winter", source, nil},
		"short, of a person's case":   {"refund", nil, nil},
		"an answer, of a person's":    {"Here are two questions:", nil, []string{"preamble"}},
		"a repeat of a person's case": {"how long does a parcel take to norway?", nil, []string{"near_duplicate"}},
	} {
		t.Run(name, func(t *testing.T) {
			checks, kept := generate.Recheck(&written, test.wording, test.source, others)
			var failed []string
			for _, c := range checks {
				if !c.Passed {
					failed = append(failed, c.Name)
				}
			}
			if diff := cmp.Diff(test.failed, failed); diff != "" || kept != (test.failed == nil) {
				t.Errorf("kept %v, failed (-want +got):\n%s", kept, diff)
			}
		})
	}
}
