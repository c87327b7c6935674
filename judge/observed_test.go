package judge_test

import (
	"testing"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

func TestObservedInNeedsEveryPairSeen(t *testing.T) {
	seen := datasets.Judgment{ChunkID: "a#0", By: datasets.ByLabelModel, Features: map[string]float64{"rank_bm25": 1}}
	graded := datasets.Judgment{ChunkID: "a#1", By: datasets.ByLLM}
	carried := datasets.Judgment{ChunkID: "a#1", By: datasets.ByLabelModel, Features: map[string]float64{datasets.FeatureCarriedShare: 0.5}}
	for name, tc := range map[string]struct {
		judgments []datasets.Judgment
		want      bool
	}{
		"all seen":          {[]datasets.Judgment{seen}, true},
		"one only graded":   {[]datasets.Judgment{seen, graded}, false},
		"one carried over":  {[]datasets.Judgment{seen, carried}, false},
		"nothing was asked": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := judge.ObservedIn(&datasets.Case{Judgments: tc.judgments}); ok != tc.want {
				t.Errorf("ok %v, want %v", ok, tc.want)
			}
		})
	}
}
