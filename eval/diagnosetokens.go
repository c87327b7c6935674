package eval

import (
	"math"
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// tokenSums collects how many tokens stand before what answers a query.
type tokenSums struct {
	sums    []int
	unknown int
}

// add counts the tokens above the evidence, where something relevant is in the
// top k: those of the chunks above the first relevant one, and those of this
// chunk before the first span of evidence in it, if it holds one.
func (t *tokenSums) add(s *subject) {
	r := s.rank(s.ranking)
	if r == 0 || r > s.K {
		return
	}
	sum := 0
	for i, id := range s.ranking[:r] {
		c, ok := s.Corpus.Chunk(id)
		switch {
		case !ok:
			t.unknown++
			return
		case i < r-1:
			sum += c.Tokens
		default:
			sum += tokensBefore(c, s.c.about().Evidence)
		}
	}
	t.sums = append(t.sums, sum)
}

// tokensBefore counts the tokens of a chunk that end before the first span of
// evidence which begins in it, 0 where none does.
func tokensBefore(c *corpus.Chunk, evidence []Span) int {
	first := c.End
	for _, e := range evidence {
		if e.Doc == c.DocID && e.Start >= c.Start {
			first = min(first, e.Start)
		}
	}
	if first == c.End {
		return 0
	}
	n, starts := slices.BinarySearch(corpus.TokenStarts(c.Text), first-c.Start)
	if !starts {
		n-- // the evidence begins within a token: a word's has the space before it
	}
	return n
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
