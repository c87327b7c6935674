package eval

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

const intervalLevel = 0.95

// moments is a mean over cases with the cluster-robust variance of it.
type moments struct {
	n        int
	clusters int
	total    float64
	mean     float64
	variance float64 // of the mean
}

// pooled is moments over label draws, by Rubin's rules: the mean of the draws'
// means, and W + (1 + 1/m) B + S.
type pooled struct {
	draws    int
	n        int // of the draws, rounded mean
	clusters int
	mean     float64
	within   float64
	between  float64
	shift    float64 // the label model's, of a difference of means; else 0
}

func pool(draws []moments) pooled {
	p := pooled{draws: len(draws)}
	n, clusters, used := 0, 0, 0.0
	for _, d := range draws {
		n += d.n
		clusters += d.clusters
		if d.n > 0 {
			used++
			p.mean += d.mean
			p.within += d.variance
		}
	}
	p.n = (n + len(draws)/2) / len(draws)
	p.clusters = (clusters + len(draws)/2) / len(draws)
	p.mean /= used
	p.within /= used
	for _, d := range draws {
		if d.n > 0 && used > 1 {
			p.between += float64((d.mean-p.mean)*(d.mean-p.mean)) / (used - 1)
		}
	}
	if p.between <= sameValue*sameValue {
		p.between = 0 // draws that differ by rounding
	}
	return p
}

// total returns the variance of the mean and the degrees of freedom (Barnard
// and Rubin, Biometrika 86, 1999).
func (p pooled) total() (variance, df float64) {
	complete := float64(p.clusters - 1)
	m := float64(p.draws)
	extra := (1 + 1/m) * p.between
	variance = p.within + extra + p.shift
	if p.draws < 2 || extra == 0 || variance == 0 {
		return variance, complete
	}
	share := extra / variance
	old := (m - 1) / (share * share)
	observed := (complete + 1) / (complete + 3) * complete * (1 - share)
	return variance, 1 / (1/old + 1/observed)
}

// metric turns moments over draws (one where labels are certain) into the
// answer for a measure.
func metric(m *Measure, draws []moments) Metric {
	p := pool(draws)
	out := Metric{N: p.n}
	if p.n == 0 {
		out.Why = "no case has a value"
		return out
	}
	switch m.aggregate() {
	case sum:
		total := float64(p.mean * float64(p.n))
		if p.draws == 1 {
			total = draws[0].total
		}
		out.Mean, out.Why = &total, "a total"
		return out
	case geometric:
		out.Mean = ptr(math.Exp(p.mean))
	default:
		out.Mean = ptr(p.mean)
	}
	if p.clusters < minClusters {
		out.Why = tooFew(p.clusters, "an interval")
		return out
	}
	if out.Low, out.High = p.interval(m); out.Low == nil {
		out.Why = "all of the variance lies between label draws"
	}
	return out
}

// fewestDF is below what a t quantile can be computed for. Degrees of freedom
// go to 0 as all of the variance lies between draws; the interval is then
// everything that is possible.
const fewestDF = 0.1

// interval is the t interval, cut to [0, 1] where values cannot leave it; nil
// where it would be endless.
func (p pooled) interval(m *Measure) (low, high *float64) {
	half := p.half()
	lo, hi := p.mean-half, p.mean+half
	if m.aggregate() == geometric {
		lo, hi = math.Exp(lo), math.Exp(hi)
	}
	if m.bounded() || m.aggregate() == geometric {
		lo, hi = max(lo, 0), min(hi, 1)
	}
	if math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo) {
		return nil, nil
	}
	return &lo, &hi
}

// half is half of the interval's width; infinite where there are too few
// degrees of freedom.
func (p pooled) half() float64 {
	variance, df := p.total()
	switch {
	case variance == 0:
		return 0
	case df < fewestDF:
		return math.Inf(1)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1+intervalLevel)/2) * math.Sqrt(variance)
}

func ptr[T any](v T) *T { return &v }
