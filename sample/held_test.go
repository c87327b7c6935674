package sample_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/sample"
)

// TestCoverageOfASet holds a set against a plan that it does not quite follow: what
// was wanted is the plan's, what is there the set's.
func TestCoverageOfASet(t *testing.T) {
	plan := sample.Coverage{
		Chunks: 40, Eligible: 30, Planned: 6, Reserves: 3,
		Reached: sample.Reached{
			Strata: sample.Share{Reached: 2, Total: 2, Share: 1}, Documents: sample.Share{Reached: 4, Total: 10, Share: .4},
			Topics: &sample.Share{Reached: 1, Total: 4, Share: .25},
		},
		Strata: []sample.Stratum{
			{Name: "category=api", Eligible: 20, Share: .6667, Wanted: 4, Planned: 3, Why: "too few eligible chunks"},
			{Name: "category=billing", Eligible: 10, Share: .3333, Wanted: 2, Planned: 2},
		},
		Mix: map[string]int{"factual": 5}, MixWanted: map[string]int{"factual": 3, "keyword": 2},
		Log: &sample.LogSummary{File: "log.csv", Bands: []sample.Band{{Name: "head", Wanted: 1, Planned: 1}, {Name: "tail", Wanted: 1}}},
	}
	got := plan.Of([]sample.Held{
		{Stratum: "category=api", QueryType: "factual", Documents: []string{"a"}, Topics: []int{0}},
		{Stratum: "category=api", QueryType: "factual", Documents: []string{"a", "b"}, Topics: []int{0, 2}},
		{Stratum: "category=api", QueryType: "factual", Documents: []string{"b"}},
		{Stratum: "category=api", QueryType: "rare_term", Documents: []string{"c"}},
		{Stratum: "category=gone", QueryType: "keyword"},
		{Stratum: "log=tail", QueryType: "factual", Logged: true, Documents: []string{"d"}},
	})
	want := sample.Coverage{
		Chunks: 40, Eligible: 30, Planned: 6, Reserves: 3,
		Reached: sample.Reached{
			Strata: sample.Share{Reached: 1, Total: 2, Share: .5}, Documents: sample.Share{Reached: 3, Total: 10, Share: .3},
			Topics: &sample.Share{Reached: 2, Total: 4, Share: .5},
		},
		Strata: []sample.Stratum{
			{Name: "category=api", Eligible: 20, Share: .6667, Wanted: 4, Planned: 4},
			{Name: "category=billing", Eligible: 10, Share: .3333, Wanted: 2},
		},
		Mix: map[string]int{"factual": 3, "keyword": 1, "rare_term": 1}, MixWanted: map[string]int{"factual": 3, "keyword": 2},
		Log: &sample.LogSummary{File: "log.csv", Bands: []sample.Band{{Name: "head", Wanted: 1}, {Name: "tail", Wanted: 1, Planned: 1}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if plan.Strata[0].Planned != 3 || plan.Log.Bands[0].Planned != 1 {
		t.Error("the plan's own coverage was changed")
	}
}
