package corpus_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
)

func TestFieldsMapToKeysOfScopeAndMetadata(t *testing.T) {
	path := filepath.Join(writeFiles(t, map[string]string{
		"docs.jsonl": `{"id":"a","text":"x","tenant":["acme","zeta"],"info":{"owner":"kim"},"extra":1}`,
	}), "docs.jsonl")
	docs, errs := readAll(t, corpus.Source{Documents: path, Fields: map[string]string{
		"scope.team": "tenant", "metadata.by": "info.owner",
	}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if diff := cmp.Diff(corpus.Scope{"team": {"acme", "zeta"}}, docs[0].Scope); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"by": "kim", "extra": "1"}, docs[0].Metadata); diff != "" {
		t.Error(diff)
	}
	for _, field := range []string{"scope.", "nosuch", "scope.<key>"} {
		if err := (corpus.Source{Documents: path, Fields: map[string]string{field: "x"}}).Validate(); err == nil {
			t.Errorf("field %q is mapped", field)
		}
	}
}

func TestTimesAreDatesOrNumbersSince1970(t *testing.T) {
	path := filepath.Join(writeFiles(t, map[string]string{
		"m.jsonl": `{"id":"a","text":"x","unit":"tool_result","valid_from":1767571200,"valid_to":1767657600000,"updated_at":"2026-01-05"}` + "\n" +
			`{"id":"b","text":"x"}` + "\n" + `{"id":"c","text":"x","updated_at":2026}` + "\n",
	}), "m.jsonl")
	docs, errs := readAll(t, corpus.Source{Documents: path, Unit: corpus.UnitMemoryRecord})
	want := []corpus.Document{
		{ID: "a", Text: "x", Unit: "tool_result", ValidFrom: day("2026-01-05"), ValidTo: day("2026-01-06"), UpdatedAt: day("2026-01-05")},
		{ID: "b", Text: "x", Unit: "memory_record"},
	}
	if diff := cmp.Diff(want, docs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{path + `:3: field "updated_at": want a date, not 2026`}, errs); diff != "" {
		t.Error(diff)
	}
}
