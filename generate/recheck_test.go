package generate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/sample"
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
			c := written
			if test.source != nil {
				c.Source = []string{test.source.ID}
			}
			checks, kept := generate.Recheck(&c, test.wording, map[string]corpus.Chunk{source.ID: *source}, others)
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

// What is longer than any query is refused by its length, and no other gate looks.
func TestRecheckOfWhatIsNoQuery(t *testing.T) {
	source := corpus.Chunk{ID: "d#0", DocID: "d", Text: "Refunds are paid within ten days of the return."}
	for name, sources := range map[string][]string{"written": {source.ID}, "a person's": nil} {
		c := datasets.Case{ID: "1", QueryType: datasets.Factual, Language: "en", Source: sources}
		checks, kept := generate.Recheck(&c, strings.Repeat("refund ", 20_000), map[string]corpus.Chunk{source.ID: source}, nil)
		if diff := cmp.Diff([]datasets.Check{{Name: "length", Value: 20_000}}, checks); diff != "" || kept {
			t.Errorf("%s: kept %v, checks (-want +got):\n%s", name, kept, diff)
		}
	}
}

// asWritten is the case that a unit gives, with the chunks that its gates see.
func asWritten(t *testing.T, u generate.Unit, query string) (*datasets.Case, map[string]corpus.Chunk) {
	t.Helper()
	client := clientFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		reply := fmt.Sprintf(`{"question":%q}`, query)
		if strings.Contains(string(req.Schema), "keywords") {
			reply = fmt.Sprintf(`{"keywords":[%q,"pump"]}`, query)
		}
		return says(reply, .95)(ctx, req)
	})
	o := write(t, typed(t, u.Row.QueryType, client), u)
	if o.Reject != nil {
		t.Fatalf("rejected: %s: %s", o.Reject.Reason, o.Reject.Detail)
	}
	chunks := map[string]corpus.Chunk{}
	for _, c := range append(u.Chunks, u.Rivals...) {
		chunks[c.ID] = c
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(chunks)), slices.Sorted(slices.Values(generate.ChunksOf(o.Case)))); diff != "" {
		t.Errorf("chunks that the gates want to see (-want +got):\n%s", diff)
	}
	return o.Case, chunks
}

// Another wording is held to the gate of its query type, by what the case keeps of
// its plan.
func TestRecheckHoldsAnotherWordingToTheGateOfItsType(t *testing.T) {
	may := time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)
	from := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	dated := rowUnit(sample.Row{QueryType: datasets.TimeSensitive, AsOf: &may}, []corpus.Document{old}, now)
	dated.Chunks[0].ValidFrom = &from
	for _, test := range []struct {
		unit           generate.Unit
		query, another string
		failed         []string
	}{
		{
			rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "mean time between failures", OtherForm: "MTBF"}, nil, fleet),
			"Which mean time between failures is too low to keep a unit?", "At what mean time between failures does a unit go?", nil,
		},
		{
			rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "mean time between failures", OtherForm: "MTBF"}, nil, fleet),
			"Which mean time between failures is too low to keep a unit?", "Which reliability is too low to keep a pump?", []string{"names_term"},
		},
		{
			rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "mean time between failures", OtherForm: "MTBF"}, nil, fleet),
			"Which mean time between failures is too low to keep a unit?", "Which mean time between failures or MTBF is too low?", []string{"names_term"},
		},
		{
			rowUnit(sample.Row{QueryType: datasets.NearDuplicate, Term: "P-20"}, []corpus.Document{p30}, p20),
			"At what pressure does the P-20 shut its outlet?", "When does the P-20 open its outlet, unlike the P30?", []string{"names_rival"},
		},
		{
			rowUnit(sample.Row{QueryType: datasets.NearDuplicate, Term: "P-20"}, []corpus.Document{p30}, p20),
			"At what pressure does the P-20 shut its outlet?", "At what pressure is the outlet shut by itself?", []string{"names_term"},
		},
		{
			dated, "How long does it take until time off for a child is granted?",
			"How long did time off for a child take to be granted in 2024?", []string{"other_time"},
		},
		{
			dated, "How long does it take until time off for a child is granted?",
			"Since 2025, how long does time off for a child take to be granted?", nil,
		},
		{
			rowUnit(sample.Row{QueryType: datasets.Keyword}, nil, fleet),
			"reliability threshold", "what is the reliability threshold", []string{"bare_words"},
		},
		{
			rowUnit(sample.Row{QueryType: datasets.Keyword}, nil, fleet),
			"reliability threshold", "may reliability threshold", nil,
		},
		{
			rowUnit(sample.Row{QueryType: datasets.Reformulated}, nil, fleet),
			"When does a machine break too often to keep it?", "Which units below nine hundred hours are out?", []string{"copied_run", "copied_overlap"},
		},
		{
			rowUnit(sample.Row{QueryType: datasets.Ambiguous, Term: "reset"}, nil, dock, login),
			"how to reset", "how to reset the alarm", []string{"undecided"},
		},
	} {
		t.Run(test.another, func(t *testing.T) {
			c, chunks := asWritten(t, test.unit, test.query)
			checks, kept := generate.Recheck(c, test.another, chunks, nil)
			var failed []string
			for _, check := range checks {
				if !check.Passed {
					failed = append(failed, check.Name)
				}
			}
			if diff := cmp.Diff(test.failed, failed); diff != "" || kept != (test.failed == nil) {
				t.Errorf("kept %v, failed (-want +got):\n%s", kept, diff)
			}
			if _, kept = generate.Recheck(c, c.Query, chunks, nil); !kept {
				t.Error("the wording of the case itself is refused")
			}
		})
	}
}

// A set that kept no terms is held to what is known.
func TestRecheckOfACaseWithoutTheTermsOfItsPlan(t *testing.T) {
	c, chunks := asWritten(t, rowUnit(sample.Row{QueryType: datasets.NearDuplicate, Term: "P-20"}, []corpus.Document{p30}, p20), "At what pressure does the P-20 shut its outlet?")
	c.Provenance.Term = ""
	for query, want := range map[string]bool{"At what pressure is the outlet shut by itself?": true, "At what pressure does the p30 shut its outlet?": false} {
		if _, kept := generate.Recheck(c, query, chunks, nil); kept != want {
			t.Errorf("%q: kept %v, want %v", query, kept, want)
		}
	}
}
