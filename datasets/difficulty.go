package datasets

import "slices"

// Bands of difficulty: how far down retrievers put what a query was written from.
const (
	Easy     = "easy"     // each that was asked has a source among its first three
	Medium   = "medium"   // between the two
	Hard     = "hard"     // none has one among its first ten
	Unranked = "unranked" // no retriever was asked, or the query was written from no chunk
)

const (
	easyRank   = 3
	mediumRank = 10
)

// Band is the case's difficulty for bm25 and dense, as far as its pool asked them.
// It tells hard cases from easy ones in a set and is never a reason to leave one
// out.
func (c *Case) Band() string {
	best, worst, asked := 0, 0, false
	for _, r := range []struct {
		rank    *int
		feature string
	}{{c.Difficulty.SourceRankBM25, "rank_bm25"}, {c.Difficulty.SourceRankDense, "rank_dense"}} {
		if r.rank == nil && !c.ranked(r.feature) {
			continue
		}
		rank := mediumRank + 1 // not found
		if r.rank != nil {
			rank = *r.rank
		}
		if best == 0 {
			best = rank
		}
		best, worst, asked = min(best, rank), max(worst, rank), true
	}
	switch {
	case !asked || len(c.Source) == 0:
		return Unranked
	case worst <= easyRank:
		return Easy
	case best > mediumRank:
		return Hard
	}
	return Medium
}

// ranked reports whether any chunk of the pool has a rank of that feature: then a
// source without one was not found.
func (c *Case) ranked(feature string) bool {
	return slices.ContainsFunc(c.Judgments, func(j Judgment) bool {
		_, ok := j.Features[feature]
		return ok
	})
}
