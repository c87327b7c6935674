package datasets

import (
	"maps"
	"slices"
)

// Bands of difficulty: how far down retrievers put what a query was written from.
const (
	Easy     = "easy"     // each that was asked has a source among its first three, and the source at least half of the query's terms
	Medium   = "medium"   // between the two
	Hard     = "hard"     // none has one among its first ten
	Unranked = "unranked" // no retriever was asked, or the query was written from no chunk
)

// Bands lists the bands that a ranked case can be in, the easiest first.
func Bands() []string { return []string{Easy, Medium, Hard} }

// RankDepth is how many of a retriever's results are looked at for a source.
const RankDepth = 100

const (
	easyRank    = 3
	mediumRank  = 10
	easyOverlap = .5
	notFound    = RankDepth + 1
)

// Features of a source's judgment: where a retriever put it, and how many of its
// results were looked at.
const (
	featureRank  = "rank_"
	featureDepth = "depth_"
)

// BandShare is how many cases a set was to have in a band, and how many it has.
type BandShare struct {
	Band   string `json:"band"`
	Wanted int    `json:"wanted"`
	Got    int    `json:"got"`
}

// bandsNow are the shares with what active cases give each band.
func bandsNow(shares []BandShare, cases []Case) []BandShare {
	got := map[string]int{}
	for i := range cases {
		if cases[i].Status == Active {
			got[cases[i].Band()]++
		}
	}
	out := slices.Clone(shares)
	for i := range out {
		out[i].Got = got[out[i].Band]
	}
	return out
}

// Band is the case's difficulty for bm25 and for dense, or lsa where dense was not
// asked, as far as they were. It tells hard cases from easy ones in a set and is
// never a reason to leave one out.
func (c *Case) Band() string {
	var ranks []int
	if rank, asked := c.sourceRank("bm25", c.Difficulty.SourceRankBM25); asked {
		ranks = append(ranks, rank)
	}
	rank, asked := c.sourceRank("dense", c.Difficulty.SourceRankDense)
	if !asked {
		rank, asked = c.sourceRank("lsa", nil)
	}
	if asked {
		ranks = append(ranks, rank)
	}
	switch {
	case len(ranks) == 0 || len(c.Source) == 0:
		return Unranked
	case slices.Min(ranks) > mediumRank:
		return Hard
	case slices.Max(ranks) <= easyRank && c.Difficulty.Overlap >= easyOverlap:
		return Easy
	}
	return Medium
}

// sourceRank is the best rank that a retriever gave a source, and whether it was
// asked: any chunk of the case that has a rank of it, or a source whose place was
// looked for, says so.
func (c *Case) sourceRank(retriever string, known *int) (rank int, asked bool) {
	if known != nil {
		return *known, true
	}
	rank = notFound
	for _, j := range c.Judgments {
		r, ranked := j.Features[featureRank+retriever]
		_, looked := j.Features[featureDepth+retriever]
		asked = asked || ranked || looked
		if ranked && slices.Contains(c.Source, j.ChunkID) {
			rank = min(rank, int(r))
		}
	}
	return rank, asked
}

// Rank records where a retriever put the case's sources among its first RankDepth
// results: chunk id to rank, from 1. A source that is missing was not found.
func (c *Case) Rank(retriever string, ranks map[string]int) {
	c.Judgments = slices.Clone(c.Judgments)
	var best *int
	for i := range c.Judgments {
		j := &c.Judgments[i]
		if !j.OfSource() {
			continue
		}
		features := map[string]float64{featureDepth + retriever: RankDepth}
		maps.Copy(features, j.Features)
		if rank, ok := ranks[j.ChunkID]; ok {
			features[featureRank+retriever] = float64(rank)
			if best == nil || rank < *best {
				best = &rank
			}
		}
		j.Features = features
	}
	switch retriever {
	case "bm25":
		c.Difficulty.SourceRankBM25 = best
	case "dense":
		c.Difficulty.SourceRankDense = best
	}
}

// Unrank forgets how difficult the case is, as its query is another one now.
func (c *Case) Unrank() {
	c.Difficulty = Difficulty{}
	c.Judgments = slices.Clone(c.Judgments)
	for i := range c.Judgments {
		j := &c.Judgments[i]
		j.Features = maps.Clone(j.Features)
		for _, retriever := range []string{"bm25", "dense", "lsa"} {
			delete(j.Features, featureRank+retriever)
			delete(j.Features, featureDepth+retriever)
		}
	}
}
