package eval

import "math"

const intervalLevel = 0.95

// moments is a mean over cases with the cluster-robust variance of it. Where
// labels are drawn, one stands for all draws.
type moments struct {
	n        int
	clusters int
	total    float64
	mean     float64
	variance float64 // of the mean
	over     *pooled // nil where labels are certain
}

// metric turns moments into the answer for a measure.
func metric(m *Measure, x moments) Metric {
	p := pool(x)
	out := Metric{N: p.n}
	if p.n == 0 {
		out.Why = "no case has a value"
		return out
	}
	switch m.aggregate() {
	case sum:
		out.Mean, out.Why = &x.total, "a total"
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
	out.Low, out.High = p.interval(m)
	return out
}

// interval is the t interval, cut to [0, 1] where values cannot leave it.
func (p pooled) interval(m *Measure) (low, high *float64) {
	half := p.half()
	lo, hi := p.mean-half, p.mean+half
	if m.aggregate() == geometric {
		lo, hi = math.Exp(lo), math.Exp(hi)
	}
	if m.bounded() || m.aggregate() == geometric {
		lo, hi = max(lo, 0), min(hi, 1)
	}
	return &lo, &hi
}

func ptr[T any](v T) *T { return &v }
