package judge

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
)

// FeatureVersion names how features are computed from what a pool knows; a
// profile is only good for the version that it was fitted with.
const FeatureVersion = "pool-relative/1"

// firstHits is how many hits of a member stand for what it finds for a query:
// its scores are read relative to theirs.
const firstHits = 10

// Feature names. A retriever's are Feature(member, kind).
const (
	FeatureZ       = "z"        // score, less the mean of the member's first ten, in their standard deviations
	FeatureBest    = "best"     // score over the member's best
	FeatureLogRank = "log_rank" // natural logarithm of the rank

	FeatureVotes    = "votes"          // share of bm25, ngram and lsa that have the chunk among their first ten
	FeatureCohesion = "cohesion"       // likeness to the chunks that rank best, relative to the pool's
	FeatureOverlap  = "overlap"        // share of the query's terms that the chunk has
	FeatureExpected = "expected_grade" // of a model that judged
	FeaturePYes     = "p_yes"          // likewise
)

// Feature is the name of a member's feature: bm25_z.
func Feature(member, kind string) string { return member + "_" + kind }

// Voters are the members that every pool for the label model has.
func Voters() []string { return []string{"bm25", "lsa", "ngram"} }

// PriorFeatures are those of the prior: none hangs on an embedder or a model.
func PriorFeatures() []string {
	var names []string
	for _, member := range Voters() {
		for _, kind := range []string{FeatureZ, FeatureBest, FeatureLogRank} {
			names = append(names, Feature(member, kind))
		}
	}
	return append(names, FeatureVotes, FeatureCohesion)
}

// ExtraFeatures are those that a fitted model may have besides: of the vectors
// of an embedder, and of a model that judged.
func ExtraFeatures() []string {
	return []string{
		Feature("dense", FeatureZ), Feature("dense", FeatureBest), Feature("dense", FeatureLogRank),
		FeatureOverlap, FeatureExpected, FeaturePYes,
	}
}

// LabelFeatures are all features that a label model may have.
func LabelFeatures() []string { return slices.Concat(PriorFeatures(), ExtraFeatures()) }

// NeedsEmbedder reports whether any of the features comes from an embedder.
func NeedsEmbedder(features []string) bool {
	return slices.ContainsFunc(features, func(name string) bool { return strings.HasPrefix(name, "dense_") })
}

// Observations are what the pool knows of each of its items, as a golden set
// keeps them with judgments (see Judgment.Features); then the overlap of their
// texts with the query, and their cohesion: the mean cosine in the latent
// semantic space with the eight others that rank best by reciprocal rank fusion.
func (p *Pooler) Observations(c datasets.Case, items []Item) []map[string]float64 {
	query, cohesion := distinctTerms(c.Query), p.cohesion(items)
	out := make([]map[string]float64, len(items))
	for i, item := range items {
		out[i] = featuresOf(item, Grade{})
		if pos, ok := p.view.Position(item.ChunkID); ok && len(query) > 0 {
			out[i][FeatureOverlap] = datasets.Round(overlap(query, p.view.Chunk(pos).Text))
		}
		if v := cohesion[i]; !math.IsNaN(v) {
			out[i][FeatureCohesion] = datasets.Round(v)
		}
	}
	return out
}

// space is a member that knows how alike two chunks are.
type space interface {
	Cosines(id string, ids []string) []float64
}

// cohesionCore is how many of the best chunks the others are compared with.
const cohesionCore = 8

// cohesion is NaN where there is no latent semantic space, or no place in it.
func (p *Pooler) cohesion(items []Item) []float64 {
	sums, ids := make([]float64, len(items)), make([]string, len(items))
	counts := make([]float64, len(items))
	for i := range items {
		ids[i] = items[i].ChunkID
	}
	lsa, _ := p.members["lsa"].(space)
	if lsa != nil {
		for _, best := range fusedBest(items, cohesionCore) {
			for i, cosine := range lsa.Cosines(ids[best], ids) {
				if i != best && !math.IsNaN(cosine) {
					sums[i] += cosine
					counts[i]++
				}
			}
		}
	}
	for i := range sums {
		sums[i] /= counts[i]
	}
	return sums
}

// fusedBest are the k items that rank best by reciprocal rank fusion over the
// voters.
func fusedBest(items []Item, k int) []int {
	const rrf = 60
	order, score := make([]int, len(items)), make([]float64, len(items))
	for i, item := range items {
		order[i] = i
		for _, member := range Voters() {
			if r, ok := item.Ranks[member]; ok {
				score[i] += 1 / float64(rrf+r.Rank)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), strings.Compare(items[a].ChunkID, items[b].ChunkID))
	})
	return order[:min(k, len(order))]
}

func distinctTerms(text string) map[string]bool {
	terms := map[string]bool{}
	for _, term := range retrieve.Terms(text) {
		terms[term] = true
	}
	return terms
}

func overlap(query map[string]bool, text string) float64 {
	found := 0
	for term := range distinctTerms(text) {
		if query[term] {
			found++
		}
	}
	return float64(found) / float64(len(query))
}

// Vectors gives the named features of each pair of one query's pool from what
// was observed of them. What is not known is NaN, never 0.
func Vectors(names []string, pool []map[string]float64) [][]float64 {
	first := map[string]firstScores{FeatureCohesion: firstScoresOf(FeatureCohesion, hasRank("lsa"), pool)}
	for _, member := range append(Voters(), "dense") {
		first[member] = firstScoresOf("score_"+member, hasRank(member), pool)
	}
	out := make([][]float64, len(pool))
	for i, seen := range pool {
		out[i] = make([]float64, len(names))
		for j, name := range names {
			out[i][j] = value(name, seen, first)
		}
	}
	return out
}

func value(name string, seen map[string]float64, first map[string]firstScores) float64 {
	switch name {
	case FeatureVotes:
		return votes(seen)
	case FeatureCohesion:
		f := first[FeatureCohesion]
		return (known(seen, FeatureCohesion) - f.mean) / f.deviation
	case FeatureOverlap, FeatureExpected, FeaturePYes:
		return known(seen, name)
	}
	member, kind, _ := strings.Cut(name, "_")
	if kind == FeatureLogRank {
		return math.Log(known(seen, "rank_"+member))
	}
	f, score := first[member], known(seen, "score_"+member)
	if kind == FeatureZ {
		return (score - f.mean) / f.deviation
	}
	return score / f.best
}

func known(seen map[string]float64, key string) float64 {
	if v, ok := seen[key]; ok {
		return v
	}
	return math.NaN()
}

func votes(seen map[string]float64) float64 {
	n := 0.0
	for _, member := range Voters() {
		if hasRank(member)(seen) {
			n++
		}
	}
	return n / float64(len(Voters()))
}

// firstScores sums up a score of a member's first ten hits for a query; NaN where
// there are too few to say.
type firstScores struct{ mean, deviation, best float64 }

// hasRank tells what a member has among its first ten.
func hasRank(member string) func(seen map[string]float64) bool {
	return func(seen map[string]float64) bool {
		rank, ok := seen["rank_"+member]
		return ok && rank <= firstHits
	}
}

func firstScoresOf(score string, first func(map[string]float64) bool, pool []map[string]float64) firstScores {
	var scores []float64
	for _, seen := range pool {
		if v, ok := seen[score]; ok && first(seen) {
			scores = append(scores, v)
		}
	}
	slices.Sort(scores)
	f := firstScores{math.NaN(), math.NaN(), math.NaN()}
	if len(scores) == 0 {
		return f
	}
	if best := scores[len(scores)-1]; best > 0 {
		f.best = best
	}
	var variance float64
	f.mean, variance = meanVariance(scores)
	if variance > 0 {
		f.deviation = math.Sqrt(variance)
	}
	return f
}
