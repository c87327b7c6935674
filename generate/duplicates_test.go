package generate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

func TestDuplicates(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	cases := []datasets.Case{
		{ID: "a", Query: "How long are audit log entries kept in storage?"},
		{ID: "exact", Query: "how long are audit log entries kept in storage"},
		{ID: "near", Query: "How long will audit log entries be kept in cold storage?"},
		{ID: "other", Query: "Who may delete a site?"},
		{ID: "asker", Query: "How long are audit log entries kept in storage?", Scope: corpus.Scope{"team": {"ops"}}},
		{ID: "date", Query: "How long are audit log entries kept in storage?", AsOf: &at},
		{ID: "number", Query: "How long are audit log entries kept in storage 2?"},
	}
	got := generate.Duplicates(cases)
	if len(got) != 2 || got[1].Similarity < .8 || got[1].Similarity >= 1 {
		t.Fatalf("%+v", got)
	}
	want := []generate.Duplicate{{CaseID: "exact", Of: "a", Similarity: 1, Exact: true}, {CaseID: "near", Of: "a", Similarity: got[1].Similarity}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
