package eval

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// pooled is a mean with the parts of its variance. Labels are uncertain in two
// ways. That of a single pair is not to be seen again in the mean of many cases;
// that of the label model's coefficients is the same for all of them. Draws and
// clusters are crossed, so that the two can be told apart: what the clusters of
// a draw have in common comes from the coefficients.
type pooled struct {
	draws    int
	n        int // cases: of the draws, rounded mean
	clusters int // likewise
	mean     float64

	cases     float64 // variance of the mean over clusters of the values' means over draws
	common    float64 // of draws' means, less what each cluster has by itself
	between   float64 // of draws' means as it stands, within blocks that share their random numbers
	betweenDF float64
	shift     float64 // the label model's, of a difference of means; else 0

	within float64 // mean over draws of the variance over clusters: as with labels that are known
}

// pool gives the parts of a mean's variance.
func pool(m moments) pooled {
	if m.over != nil {
		return *m.over
	}
	return pooled{draws: 1, n: m.n, clusters: m.clusters, mean: m.mean, cases: m.variance, within: m.variance}
}

// leastDF is the least number of degrees of freedom that an interval is made
// with. The approximation can give fewer where nearly all of a small variance was
// taken off as noise; simulated coverage holds with this bound.
const leastDF = 3

// total returns the variance of the mean and its degrees of freedom: Satterthwaite's
// approximation (Biometrics Bulletin 2, 1946; for multiple imputation Lipsitz,
// Parzen and Zhao, Journal of Statistical Computation and Simulation 72, 2002),
// in which the draws count with their variance before noise was taken off.
func (p pooled) total() (variance, df float64) {
	complete := float64(p.clusters - 1)
	m := float64(p.draws)
	variance = p.cases + float64((1+1/m)*p.common) + p.shift
	if p.draws < 2 || p.between == 0 || variance == 0 {
		return variance, complete
	}
	draws := (1 + 1/m) * p.between
	doubt := float64(p.cases*p.cases)/complete + float64(draws*draws)/p.betweenDF
	return variance, max(leastDF, float64(variance*variance)/doubt)
}

// betweenDraws is the variance of draws' means within the blocks of draws that
// share random numbers, and its degrees of freedom. NaN is a draw without a mean.
func betweenDraws(means *[drawCount]float64) (variance, df float64) {
	var sums, n [drawBlocks]float64
	for t, x := range means {
		if x == x {
			sums[t/drawsInBlock] += x
			n[t/drawsInBlock]++
		}
	}
	squares := 0.0
	for t, x := range means {
		if block := t / drawsInBlock; x == x {
			d := x - sums[block]/n[block]
			squares += float64(d * d)
		}
	}
	for _, k := range n {
		df += max(0, k-1)
	}
	if df == 0 || squares <= df*sameValue*sameValue { // draws that differ by rounding
		return 0, df
	}
	return squares / df, df
}

// spread is the sum of squares of draws' means about a value.
func spread(means *[drawCount]float64, about float64) float64 {
	squares := 0.0
	for _, x := range means {
		if d := x - about; d == d {
			squares += float64(d * d)
		}
	}
	return squares
}

// half is half of the 95 % interval's width.
func (p pooled) half() float64 {
	variance, df := p.total()
	if variance == 0 {
		return 0
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1+intervalLevel)/2) * math.Sqrt(variance)
}
