package datasets_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// testdata/before-terms was written before cases kept the terms of their plan, and
// rejects their scope and calls.
func TestAVersionWithoutTheColumnsOfTodayIsRead(t *testing.T) {
	set, err := (&datasets.Store{Root: t.TempDir()}).Load(filepath.Join("testdata", "before-terms"))
	if err != nil {
		t.Fatal(err)
	}
	if got := datasets.Digest(set.Cases, set.Rejects); got != set.Manifest.Digest {
		t.Errorf("digest %s, written under %s", got, set.Manifest.Digest)
	}
	problems, err := datasets.Verify(t.Context(), set.Dir, nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	var queries []string
	for _, c := range set.Cases {
		queries = append(queries, c.Query)
		if c.Provenance.Generator == "" || c.Provenance.Term != "" {
			t.Errorf("provenance %+v", c.Provenance)
		}
	}
	want := []string{
		"What is there to know about morning, weekday, sites and office?",
		"What is there to know about MTBF, falls and taken?",
		"What is there to know about Lyon, working, days and noon?",
	}
	if diff := cmp.Diff(want, queries); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	reject := set.Rejects[0]
	if diff := cmp.Diff(datasets.Reject{
		CaseID: "18fb210ca9661cc9", QueryType: datasets.MultiHop, Stratum: reject.Stratum, ChunkID: reject.ChunkID,
		Stage: "generate", Reason: "type_unsupported", Detail: "a query of type multi_hop cannot be made without a model",
		Checks: []datasets.Check{}, Evidence: []datasets.Evidence{}, Scope: corpus.Scope{},
	}, reject); diff != "" {
		t.Errorf("reject (-want +got):\n%s", diff)
	}
}
