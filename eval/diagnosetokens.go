package eval

import (
	"math"
	"slices"
)

// tokenSums collects how many tokens stand before what answers a query.
type tokenSums struct {
	sums    []int
	unknown int
}

// add counts the tokens of the chunks above the first relevant one, where that
// is in the top k.
func (t *tokenSums) add(s *subject) {
	r := s.rank(s.ranking)
	if r == 0 || r > s.K {
		return
	}
	sum := 0
	for _, id := range s.ranking[:r-1] {
		c, ok := s.Corpus.Chunk(id)
		if !ok {
			t.unknown++
			return
		}
		sum += c.Tokens
	}
	t.sums = append(t.sums, sum)
}

func (t *tokenSums) sum() *TokensBefore {
	n := len(t.sums)
	if n == 0 {
		return nil
	}
	slices.Sort(t.sums)
	total := 0
	for _, x := range t.sums {
		total += x
	}
	at := func(p float64) int { return t.sums[max(0, int(math.Ceil(p*float64(n)))-1)] }
	return &TokensBefore{N: n, Mean: float64(total) / float64(n), P50: at(0.50), P95: at(0.95), Max: t.sums[n-1], Unknown: t.unknown}
}

// exactRecall compares the approximate search's top k with the exact one's,
// over the cases where both were asked and the exact one returned something.
func (in *DiagnosisInput) exactRecall() *ExactRecall {
	r := &ExactRecall{K: in.K}
	sum := 0.0
	for s := range in.subjects() {
		exact := s.probes().Exact
		if exact == nil || len(exact.Hits) == 0 || s.c.Failed != "" {
			continue
		}
		want := exact.Hits[:min(in.K, len(exact.Hits))]
		got := s.c.Ranking[:min(in.K, len(s.c.Ranking))]
		both := 0
		for _, id := range want {
			if slices.Contains(got, id) {
				both++
			}
		}
		r.N++
		sum += float64(both) / float64(len(want))
	}
	if r.N == 0 {
		return nil
	}
	r.Recall = sum / float64(r.N)
	return r
}
