package pipeline_test

import (
	"testing"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/review"
)

// TestAReviewGrowsHardNegatives: what people find wrong joins them, what they find
// relevant leaves them.
func TestAReviewGrowsHardNegatives(t *testing.T) {
	b := fittedBench(t)
	before := hardNegatives(t, b)
	if len(before) == 0 {
		t.Fatal("the set has no hard negatives to begin with")
	}
	r := b.review(t, pipeline.ReviewOptions{Sample: review.SampleUncertain, N: 24})
	said := map[[2]string]int{}
	for i, pair := range r.Sample.Pairs {
		grade := i % 3
		if _, err := r.Label(t.Context(), i, review.Said{Grade: &grade}); err != nil {
			t.Fatal(err)
		}
		said[[2]string{pair.CaseID, pair.ChunkID}] = grade
	}
	if _, err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, joined, left := hardNegatives(t, b), 0, 0
	for pair := range after {
		grade, labelled := said[pair]
		if labelled && grade > 0 { // the set's relevant grade is 1
			t.Errorf("%v is a hard negative and was graded %d", pair, grade)
		}
		if labelled && !before[pair] {
			joined++
		}
	}
	for pair := range before {
		if !after[pair] {
			left++
			if said[pair] == 0 {
				t.Errorf("%v is no hard negative any more, though nobody found it relevant", pair)
			}
		}
	}
	t.Logf("%d before, %d joined, %d left", len(before), joined, left)
	if joined == 0 {
		t.Error("none of those that people found wrong joined")
	}
}

// hardNegatives are the newest version's, as pairs of case and chunk.
func hardNegatives(t *testing.T, b *bench) map[[2]string]bool {
	t.Helper()
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	out := map[[2]string]bool{}
	for i := range set.Cases {
		if c := &set.Cases[i]; c.Status == datasets.Active {
			for _, id := range c.HardNegatives {
				out[[2]string{c.ID, id}] = true
			}
		}
	}
	return out
}
