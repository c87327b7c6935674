package eval

import "math"

// The expectations here are over all orders of results with equal scores, each
// as likely as any other (McSherry and Najork, ECIR 2008). A measure that is
// linear in the gains takes the mean gain of the tie at each of its ranks.

// expectation is the expected value of a step, or NaN where no closed form is
// known.
func expectation(s *step, v *view) float64 {
	switch s.kind {
	case recall:
		return quotient(v.expectHits(s, s.k), s.relevant(v))
	case precision:
		return quotient(v.expectHits(s, s.k), s.k)
	case rprec:
		return quotient(v.expectHits(s, s.relevant(v)), s.relevant(v))
	case relativePrecision:
		return quotient(v.expectHits(s, s.k), min(s.k, s.relevant(v)))
	case reciprocalRank:
		return v.expectReciprocalRank(s)
	case success:
		return v.expectSuccess(s)
	case averagePrecision:
		return v.expectAveragePrecision(s)
	case judged:
		return quotient(v.expect(s.k, isJudged, atEveryRank), len(v.top(s.k)))
	case ndcg:
		return v.expectNDCG(s.k, s.gainOf)
	case ndcgExp:
		return v.expectNDCG(s.k, exponential)
	case rbp:
		return v.expect(0, s.isRelevant, func(rank int) float64 { return (1 - s.x) * math.Pow(s.x, float64(rank)) })
	}
	return math.NaN()
}

func quotient(a float64, b int) float64 {
	if b == 0 {
		return 0
	}
	return a / float64(b)
}

func isJudged(g int16) float64 { return float64(btoi(g >= 0)) }

func (s *step) isRelevant(g int16) float64 { return float64(btoi(g >= s.level)) }

func atEveryRank(int) float64 { return 1 }

// expect sums over the ranks down to the cut a tie's mean gain times the
// rank's weight. Ranks count from 0.
func (v *view) expect(k int, gainOf func(int16) float64, weight func(rank int) float64) float64 {
	end, total := len(v.top(k)), 0.0
	v.eachTie(func(from, to int) bool {
		sum := 0.0
		for _, g := range v.gains[from:to] {
			sum += gainOf(g)
		}
		for rank := from; rank < min(to, end) && sum != 0; rank++ {
			total += float64(sum / float64(to-from) * weight(rank))
		}
		return to < end
	})
	return total
}

// eachTie calls f for every run of equal scores, in order; a result alone is a
// run of one. It ends when f returns false.
func (v *view) eachTie(f func(from, to int) bool) {
	next := 0
	for from := 0; from < len(v.gains); {
		to := from + 1
		if next < len(v.ties) && v.ties[next].from == from {
			to = v.ties[next].to
			next++
		}
		if !f(from, to) {
			return
		}
		from = to
	}
}

func (v *view) expectHits(s *step, k int) float64 {
	if k == 0 && s.kind != recall {
		return 0
	}
	return v.expect(k, s.isRelevant, atEveryRank)
}

func (v *view) expectNDCG(k int, gainOf func(int16) float64) float64 {
	ideal := v.ideal
	if k > 0 && k < len(ideal) {
		ideal = ideal[:k]
	}
	if len(ideal) == 0 {
		return 0
	}
	positive := func(g int16) float64 { return gainOf(max(g, 0)) }
	return v.expect(k, positive, func(rank int) float64 { return 1 / v.log2[rank] }) / dcg(ideal, v.log2, gainOf)
}

// relevantIn counts the relevant results of a tie.
func (s *step) relevantIn(v *view, from, to int) int {
	n := 0
	for _, g := range v.gains[from:to] {
		n += btoi(g >= s.level)
	}
	return n
}

// expectReciprocalRank follows the first tie with a relevant result: its first
// one stands j places down with a chance that the ranks before leave over.
func (v *view) expectReciprocalRank(s *step) float64 {
	end, total := len(v.top(s.k)), 0.0
	v.eachTie(func(from, to int) bool {
		relevant := s.relevantIn(v, from, to)
		if relevant == 0 {
			return to < end
		}
		none := 1.0
		for rank := from; rank < min(to, end); rank++ {
			hit := float64(relevant) / float64(to-rank)
			total += float64(none*hit) / float64(rank+1)
			none *= max(0, 1-hit)
		}
		return false
	})
	return total
}

// expectSuccess is 1 less the chance that the cut takes no relevant result
// from any tie.
func (v *view) expectSuccess(s *step) float64 {
	end, none := len(v.top(s.k)), 1.0
	v.eachTie(func(from, to int) bool {
		relevant := s.relevantIn(v, from, to)
		for rank := from; rank < min(to, end); rank++ {
			none *= max(0, 1-float64(relevant)/float64(to-rank))
		}
		return to < end
	})
	return 1 - none
}

// expectAveragePrecision adds for each rank of a tie with n results, r of them
// relevant, the chance r/n of a relevant one times its expected precision:
// those found above, itself, and (r-1)/(n-1) for each rank of the tie above.
func (v *view) expectAveragePrecision(s *step) float64 {
	if s.relevant(v) == 0 {
		return 0
	}
	end, found, total := len(v.top(s.k)), 0, 0.0
	v.eachTie(func(from, to int) bool {
		r, n := float64(s.relevantIn(v, from, to)), float64(to-from)
		others := (r - 1) / max(n-1, 1)
		for rank := from; rank < min(to, end) && r > 0; rank++ {
			total += r / n * (float64(found) + 1 + float64(float64(rank-from)*others)) / float64(rank+1)
		}
		found += int(r)
		return to < end
	})
	return total / float64(s.relevant(v))
}
