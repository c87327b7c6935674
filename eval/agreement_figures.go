package eval

import (
	"cmp"
	"math"
	"slices"
)

const (
	bestRetrievers = 15 // of tau_best
	firstFew       = 5  // of overlap
)

// standing is how one set orders the retrievers: their means, and for each pair
// which of the two is significantly better: the second (1), the first (-1) or
// neither (0).
type standing struct {
	means []float64
	signs []int8 // as pairAt numbers them
}

// pairAt numbers the pairs of retrievers a < b.
func pairAt(a, b int) int { return b*(b-1)/2 + a }

func pairCount(retrievers int) int { return retrievers * (retrievers - 1) / 2 }

// eachPair calls f for the pairs in the order of their numbers.
func eachPair(retrievers int, f func(pair, a, b int)) {
	for b := range retrievers {
		for a := range b {
			f(pairAt(a, b), a, b)
		}
	}
}

func (s *standing) separated() int {
	n := 0
	for _, sign := range s.signs {
		n += btoi(sign != 0)
	}
	return n
}

// direction is the sign of a difference of two means, 0 where they are equal
// but for rounding.
func direction(difference float64) int8 {
	switch {
	case difference > sameValue:
		return 1
	case difference < -sameValue:
		return -1
	}
	return 0
}

// rates are the figures of a tested set held against a reference. NaN is one
// that there is not.
type rates struct {
	right, reversed, power      float64
	tau, tauBest, overlap, loss float64

	separated, reference float64 // pairs
}

func ratesOf(reference, tested *standing) rates {
	r := countPairs(reference, tested)
	r.tau = kendall(reference.means, tested.means)
	best := bestOf(reference.means)
	r.tauBest = kendall(pickValues(reference.means, best), pickValues(tested.means, best))
	r.overlap = overlapOf(reference.means, tested.means)
	r.loss = lossOf(reference.means, tested.means)
	return r
}

func countPairs(reference, tested *standing) rates {
	var r rates
	eachPair(len(reference.means), func(pair, a, b int) {
		known, found := reference.signs[pair], tested.signs[pair]
		if known != 0 {
			r.reference++
			r.power += float64(btoi(found != 0))
			r.reversed += float64(btoi(found == -known))
		}
		if found != 0 {
			r.separated++
			r.right += float64(btoi(found == direction(reference.means[b]-reference.means[a])))
		}
	})
	r.right /= r.separated // 0/0 is NaN
	r.power /= r.reference
	r.reversed /= r.reference
	return r
}

// bestOf lists the best fifteen retrievers, and those that share the last place.
func bestOf(means []float64) []int {
	falling := slices.SortedFunc(slices.Values(means), func(a, b float64) int { return cmp.Compare(b, a) })
	last := falling[min(bestRetrievers, len(falling))-1]
	var out []int
	for i, mean := range means {
		if direction(mean-last) >= 0 {
			out = append(out, i)
		}
	}
	return out
}

func pickValues(values []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for n, i := range at {
		out[n] = values[i]
	}
	return out
}

// kendall is tau-b (Kendall, Biometrika 33, 1945): pairs in the same order less
// those in the other, over the root of the pairs untied on either side. NaN
// where all of a side is tied.
func kendall(x, y []float64) float64 {
	concordant, untiedX, untiedY := 0, 0, 0
	eachPair(len(x), func(_, a, b int) {
		dx, dy := direction(x[b]-x[a]), direction(y[b]-y[a])
		concordant += int(dx * dy)
		untiedX += btoi(dx != 0)
		untiedY += btoi(dy != 0)
	})
	return float64(concordant) / math.Sqrt(float64(untiedX)*float64(untiedY))
}

// overlapOf is the share of the first five of one set that are among those of the
// other. Retrievers that share the last places have a part of one each. With five
// retrievers or fewer it says nothing.
func overlapOf(a, b []float64) float64 {
	if len(a) <= firstFew {
		return math.NaN()
	}
	x, y, both := amongFirst(a), amongFirst(b), 0.0
	for i := range x {
		both += min(x[i], y[i])
	}
	return both / firstFew
}

// amongFirst is how much of one of the first five places each retriever has.
func amongFirst(means []float64) []float64 {
	out := make([]float64, len(means))
	for i, x := range means {
		above, equal := 0.0, 0.0
		for _, y := range means {
			above += float64(btoi(direction(y-x) > 0))
			equal += float64(btoi(direction(y-x) == 0))
		}
		out[i] = min(1, max(0, firstFew-above)/equal)
	}
	return out
}

// lossOf is what the reference says is lost by taking the tested set's first
// retriever; the mean loss of several that share the first place.
func lossOf(reference, tested []float64) float64 {
	first, n, sum := slices.Max(tested), 0.0, 0.0
	for i, mean := range tested {
		if direction(first-mean) == 0 {
			n++
			sum += reference[i]
		}
	}
	if loss := slices.Max(reference) - sum/n; direction(loss) > 0 {
		return loss
	}
	return 0
}

// list gives the rates in the order of AgreementFigures.
func (r *rates) list() [7]float64 {
	return [7]float64{r.right, r.reversed, r.power, r.tau, r.tauBest, r.overlap, r.loss}
}

// ranksOf numbers the means from the best, 1; equal ones share the mean of
// their ranks.
func ranksOf(means []float64) []float64 {
	out := make([]float64, len(means))
	for i, x := range means {
		for j, y := range means {
			switch d := direction(y - x); {
			case d > 0:
				out[i]++
			case d == 0 && i != j:
				out[i] += 0.5
			}
		}
		out[i]++
	}
	return out
}
