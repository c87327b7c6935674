package review_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review"
)

// A person labels the pair that the label model is least sure of. The label is on
// disk before Label returns; Apply makes cases of it, as the set's next version has
// them.
func Example() {
	set := goldenSet([]datasets.Judgment{modelled("d0", .9), modelled("d1", .1)}, []datasets.Judgment{modelled("d2", .5)})
	pool := review.Pool(set, func(string) bool { return true })
	sample, err := review.Draw(review.SampleUncertain, pool, review.Worths(review.SampleUncertain, set, pool), 2, 7)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "review-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	head := review.Head{Set: set.Ref().String(), Digest: set.Manifest.Digest, Reviewer: "kim"}
	journal, err := review.OpenJournal(dir, head)
	if err != nil {
		log.Fatal(err)
	}
	s, err := review.Sit(context.Background(), review.Setting{Set: set, Corpus: shelf(3), Journal: journal, Head: head, Sample: sample, Now: clock()})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	three := 3
	if _, err := s.Label(context.Background(), 0, review.Said{Grade: &three}); err != nil {
		log.Fatal(err)
	}
	outcome := review.Apply(set, []review.Stand{review.StandOf("kim", journal.Events)}, shelf(3))
	for _, c := range outcome.Changed {
		l := datasets.EffectiveLabel(&c, sample.Pairs[0].ChunkID, datasets.SourceJudged)
		fmt.Printf("%s: %s has grade %d by a person\n", c.ID, sample.Pairs[0].ChunkID, *l.Grade)
	}
	// Output: c1: d2 has grade 3 by a person
}
