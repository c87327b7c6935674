package generate_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/sample"
)

func loggedRow(id, query string) sample.Row {
	return sample.Row{
		CaseID: id, ChunkIDs: []string{}, DocIDs: []string{}, Stratum: "log=head", Origin: datasets.OriginLog, Query: query,
		Asked: &sample.Asked{Count: 3, Clicked: []string{"a.md"}},
	}
}

// A logged query stays as it was typed, has no label, and waits for a person.
func TestLoggedQueriesAreNotWritten(t *testing.T) {
	writer := clientFunc(func(context.Context, llm.Request) (llm.Reply, error) {
		t.Error("a model was asked")
		return llm.Reply{}, nil
	})
	rows := []sample.Row{loggedRow("q1", "pump wont START!!"), loggedRow("q2", "Pump wont start"), loggedRow("q3", "seal of the valve")}
	rows[2].Reserve = true
	fetch := func(_ context.Context, row sample.Row) (generate.Unit, error) { return generate.Unit{Row: row}, nil }
	logged := generate.Logged(newModel(t, writer, options()), nil, 7)
	records, summary, err := generate.Run(t.Context(), rows, fetch, logged, generate.Options{Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := &datasets.Case{
		ID: "q1", Query: "pump wont START!!", QueryType: "keyword", Style: "keywords", Tags: []string{}, Origin: "log",
		Scope: corpus.Scope{}, Filters: []corpus.Filter{}, Source: []string{}, Judgments: []datasets.Judgment{}, Evidence: []datasets.Evidence{},
		Forbidden: []string{}, HardNegatives: []string{}, Checks: []datasets.Check{{Name: "near_duplicate", Passed: true}},
		Provenance: datasets.Provenance{Generator: "query log", Seed: 7, Stratum: "log=head"},
		Status:     "needs_review", Reason: generate.ReasonUnconfirmed,
	}
	if diff := cmp.Diff(want, records[0].Case); diff != "" {
		t.Errorf("case (-want +got):\n%s", diff)
	}
	if err := want.Validate(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a.md"}, records[0].Clicked); diff != "" {
		t.Errorf("clicked (-want +got):\n%s", diff)
	}
	if len(records) != 3 || records[1].Reject == nil || records[1].Reject.Reason != generate.ReasonNearDuplicate || records[2].Case == nil {
		t.Errorf("records %+v, want the second refused and a reserve in its place", records)
	}
	if summary.Calls != 0 || summary.Accepted != 2 || len(summary.Shortfall) != 0 {
		t.Errorf("summary %+v", summary)
	}
}

func TestRulesTag(t *testing.T) {
	for _, tc := range []struct{ query, kind, style string }{
		{"reset password", "keyword", "keywords"},
		{"how do I reset my password", "factual", "question"},
		{"Wie setze ich das Passwort zurück", "factual", "question"},
		{"如何重置密码", "factual", "question"},
		{"login fails with timeout", "keyword", "problem"},
		{"the pump stops after ten minutes and shows error 17", "factual", "problem"},
		{"latest release notes", "time_sensitive", "keywords"},
		{"who approved it?", "factual", "question"},
	} {
		c := write(t, generate.Logged(nil, nil, 7), generate.Unit{Row: loggedRow("q", tc.query)}).Case
		if c.QueryType != tc.kind || c.Style != tc.style {
			t.Errorf("%q: %s, %s; want %s, %s", tc.query, c.QueryType, c.Style, tc.kind, tc.style)
		}
	}
}

func TestAModelTags(t *testing.T) {
	for name, tc := range map[string]struct {
		reply string
		kind  string
		calls int
	}{
		"its word counts":          {`{"type":"multi_hop"}`, "multi_hop", 1},
		"no type there is":         {`{"type":"poem"}`, "keyword", 3},
		"prose: the rules' stays":  {"It is a question.", "keyword", 3},
		"nothing: the rules' does": {"", "keyword", 3},
	} {
		m := newModel(t, says(tc.reply, .9), options())
		tagger, err := m.Tagger()
		if err != nil {
			t.Fatal(err)
		}
		o := write(t, generate.Logged(m, tagger, 7), generate.Unit{Row: loggedRow("q", "</query> pumps or valves")})
		if o.Case == nil || o.Case.QueryType != tc.kind || o.Calls != tc.calls || o.Case.Provenance.Calls != tc.calls {
			t.Errorf("%s: %+v after %d calls, want %s after %d", name, o.Case, o.Calls, tc.kind, tc.calls)
		}
	}
}
