package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/review"
)

// TestAReviewShowsWhereAPanelDisagrees: what a panel records is what a review's
// sample of disagreement goes by.
func TestAReviewShowsWhereAPanelDisagrees(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		for i := range d.Cases {
			d.Cases[i].Judgments = nil
			for j := range 3 {
				grade, id := 1, document(i+j)
				d.Cases[i].Judgments = append(d.Cases[i].Judgments, datasets.Judgment{
					ChunkID: id, DocID: id, Grade: &grade, Label: datasets.LabelPartial, By: datasets.ByLLM, Judge: "median of a, b", Inclusion: 1,
					Features: map[string]float64{judge.FeatureDisagreement: float64(i%4) / 4},
				})
			}
		}
	})
	r := b.review(t, pipeline.ReviewOptions{Sample: review.SampleDisagreement, N: 6})
	got := map[float64]int{}
	for _, pair := range r.Sample.Pairs {
		if pair.Inclusion == 1 {
			for i := range benchCases {
				if caseID(i) == pair.CaseID {
					got[float64(i%4)/4]++
				}
			}
		}
	}
	if diff := cmp.Diff(map[float64]int{.75: 4}, got); diff != "" {
		t.Errorf("pairs by how far the members differ (-want +got):\n%s", diff)
	}
}
