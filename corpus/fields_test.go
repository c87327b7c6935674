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
