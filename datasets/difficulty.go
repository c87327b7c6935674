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
	var ranks []int
	for feature, rank := range map[string]*int{"rank_bm25": c.Difficulty.SourceRankBM25, "rank_dense": c.Difficulty.SourceRankDense} {
		switch {
		case rank != nil:
			ranks = append(ranks, *rank)
		case c.ranked(feature): // asked, and not found
			ranks = append(ranks, mediumRank+1)
		}
	}
	switch {
	case len(ranks) == 0 || len(c.Source) == 0:
		return Unranked
	case slices.Max(ranks) <= easyRank:
		return Easy
	case slices.Min(ranks) > mediumRank:
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
