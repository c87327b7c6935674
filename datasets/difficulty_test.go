package datasets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
)

func TestBand(t *testing.T) {
	rank := func(n int) *int { return &n }
	for _, tc := range []struct {
		name        string
		bm25, dense *int
		overlap     float64
		source      map[string]float64 // features of the source
		others      map[string]float64 // of another chunk of the pool
		want        string
	}{
		{"first in both", rank(1), rank(3), 1, nil, nil, datasets.Easy},
		{"first in the only one", rank(2), nil, 1, nil, nil, datasets.Easy},
		{"first in both, in other words", rank(1), rank(1), .49, nil, nil, datasets.Medium},
		{"first in both, half in its words", rank(1), rank(1), .5, nil, nil, datasets.Easy},
		{"first in one, not found by the other", rank(1), nil, 1, nil, map[string]float64{"rank_dense": 1}, datasets.Medium},
		{"first in one, far down in the other", rank(1), rank(40), 1, nil, nil, datasets.Medium},
		{"in the middle", rank(4), rank(10), 1, nil, nil, datasets.Medium},
		{"far down in both", rank(11), rank(90), 1, nil, nil, datasets.Hard},
		{"not found", nil, nil, 1, nil, map[string]float64{"rank_bm25": 1}, datasets.Hard},
		{"looked for and not found", nil, nil, 0, map[string]float64{"depth_bm25": 100, "depth_lsa": 100}, nil, datasets.Hard},
		{"lsa stands in for dense", rank(20), nil, 0, map[string]float64{"rank_lsa": 2}, nil, datasets.Medium},
		{"lsa beside dense says nothing", rank(20), rank(20), 0, map[string]float64{"rank_lsa": 2}, nil, datasets.Hard},
		{"nobody was asked", nil, nil, 1, nil, nil, datasets.Unranked},
	} {
		c := datasets.Case{
			Source:     []string{"a"},
			Difficulty: datasets.Difficulty{SourceRankBM25: tc.bm25, SourceRankDense: tc.dense, Overlap: tc.overlap},
			Judgments:  []datasets.Judgment{{ChunkID: "a", Features: tc.source}, {ChunkID: "b", Features: tc.others}},
		}
		if got := c.Band(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if got := (&datasets.Case{Difficulty: datasets.Difficulty{SourceRankBM25: rank(1)}}).Band(); got != datasets.Unranked {
		t.Errorf("without a source: %s", got)
	}
}

// What was measured is with the source's judgment, so that a set which nobody
// judges has it too, and goes when the query becomes another one.
func TestRankAndUnrank(t *testing.T) {
	source := datasets.SourceJudgment("a", "doc")
	source.Features = map[string]float64{"carried": 1}
	c := datasets.Case{
		Source: []string{"a", "b"}, Difficulty: datasets.Difficulty{Overlap: .25},
		Judgments: []datasets.Judgment{source, datasets.SourceJudgment("b", "doc"), datasets.RivalJudgment("r", "doc", datasets.LabelStale)},
	}
	before := c.Judgments
	c.Rank("bm25", map[string]int{"b": 12, "r": 1})
	c.Rank("lsa", nil)
	want := []map[string]float64{
		{"carried": 1, "depth_bm25": 100, "depth_lsa": 100},
		{"depth_bm25": 100, "depth_lsa": 100, "rank_bm25": 12},
		nil,
	}
	if diff := cmp.Diff(want, featuresOf(c.Judgments)); diff != "" {
		t.Errorf("ranked (-want +got):\n%s", diff)
	}
	if rank := c.Difficulty.SourceRankBM25; rank == nil || *rank != 12 || c.Band() != datasets.Hard {
		t.Errorf("difficulty %+v, band %s", c.Difficulty, c.Band())
	}
	if diff := cmp.Diff([]map[string]float64{{"carried": 1}, nil, nil}, featuresOf(before)); diff != "" {
		t.Errorf("the judgments before it changed (-want +got):\n%s", diff)
	}
	c.Unrank()
	if diff := cmp.Diff([]map[string]float64{{"carried": 1}, {}, nil}, featuresOf(c.Judgments)); diff != "" || c.Band() != datasets.Unranked {
		t.Errorf("band %s, unranked (-want +got):\n%s", c.Band(), diff)
	}
}

func featuresOf(list []datasets.Judgment) []map[string]float64 {
	var out []map[string]float64
	for _, j := range list {
		out = append(out, j.Features)
	}
	return out
}
