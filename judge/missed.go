package judge

import (
	"math"

	"github.com/goldgen/goldgen/datasets"
)

// Drawn is a graded random chunk from outside of a case's pool.
type Drawn struct {
	CaseID    string
	Relevant  bool
	Inclusion float64 // probability that it was drawn, in (0, 1]
}

// Missed estimates how many chunks outside its pool the judge would call
// relevant to a query, from the chunks drawn there: each stands for 1 /
// inclusion of them (Horvitz-Thompson), averaged over the cases that drawn
// names. The bounds are Wilson's 95 % interval for a proportion (JASA 22, 1927,
// 209-212) with Kish's effective sample size, times the mean number of chunks
// outside. Where everything outside was drawn the value is exact. It is nil
// without draws. The judge's own errors are in it: with 0.5 % false positives
// and 10,000 chunks outside, it is 50 where nothing was missed.
func Missed(drawn []Drawn) *datasets.Interval {
	cases := map[string]bool{}
	var weight, squares, hits float64
	sampled := false
	for _, d := range drawn {
		w := 1 / d.Inclusion
		cases[d.CaseID] = true
		weight += w
		squares += float64(w * w)
		sampled = sampled || d.Inclusion < 1
		if d.Relevant {
			hits += w
		}
	}
	if weight == 0 {
		return nil
	}
	n := float64(len(cases))
	out := datasets.Interval{Value: hits / n, Low: hits / n, High: hits / n}
	if sampled {
		low, high := wilson(hits/weight, weight*weight/squares)
		out.Low, out.High = low*weight/n, high*weight/n
	}
	return &out
}

// wilson is the 95 % score interval of a proportion p of n.
func wilson(p, n float64) (low, high float64) {
	z2 := float64(normalQuant95 * normalQuant95)
	centre := p + z2/(2*n)
	half := normalQuant95 * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	scale := 1 + z2/n
	return max(0, (centre-half)/scale), min(1, (centre+half)/scale)
}
