package datasets_test

import (
	"testing"

	"github.com/goldgen/goldgen/datasets"
)

func TestBand(t *testing.T) {
	rank := func(n int) *int { return &n }
	for _, tc := range []struct {
		name        string
		bm25, dense *int
		asked       []string // of them, those that ranked other chunks
		want        string
	}{
		{"first in both", rank(1), rank(3), nil, datasets.Easy},
		{"first in the only one", rank(2), nil, nil, datasets.Easy},
		{"first in one, not found by the other", rank(1), nil, []string{"rank_dense"}, datasets.Medium},
		{"first in one, far down in the other", rank(1), rank(40), nil, datasets.Medium},
		{"in the middle", rank(4), rank(10), nil, datasets.Medium},
		{"far down in both", rank(11), rank(90), nil, datasets.Hard},
		{"not found", nil, nil, []string{"rank_bm25"}, datasets.Hard},
		{"nobody was asked", nil, nil, nil, datasets.Unranked},
	} {
		c := datasets.Case{Source: []string{"a"}, Difficulty: datasets.Difficulty{SourceRankBM25: tc.bm25, SourceRankDense: tc.dense}}
		for _, name := range tc.asked {
			c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: "b", Features: map[string]float64{name: 1}})
		}
		if got := c.Band(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if got := (&datasets.Case{Difficulty: datasets.Difficulty{SourceRankBM25: rank(1)}}).Band(); got != datasets.Unranked {
		t.Errorf("without a source: %s", got)
	}
}
