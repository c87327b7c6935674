package eval

import (
	"fmt"
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

// momentsOf computes every step's moments over the cases listed, which are
// sorted by cluster. Sums run in the list's order, so they are the same on any
// number of processors.
func momentsOf(m *matrix, cases []int32, cluster []int32) []moments {
	out := make([]moments, m.width)
	for _, i := range cases {
		for j, v := range m.row(int(i)) {
			if v == v {
				out[j].n++
				out[j].total += v
			}
		}
	}
	for j := range out {
		out[j].mean = out[j].total / float64(out[j].n)
	}
	addVariance(m, cases, cluster, out)
	return out
}

// addVariance sums the squared residuals of clusters: G/(G-1) times their sum
// over n squared is the variance of a mean of clusters of unequal size
// (the ratio estimator's linearisation).
func addVariance(m *matrix, cases []int32, cluster []int32, out []moments) {
	residual, counted := make([]float64, m.width), make([]bool, m.width)
	flush := func() {
		for j := range out {
			if counted[j] {
				out[j].variance += float64(residual[j] * residual[j])
				out[j].clusters++
			}
			residual[j], counted[j] = 0, false
		}
	}
	for at, i := range cases {
		if at > 0 && cluster[i] != cluster[cases[at-1]] {
			flush()
		}
		for j, v := range m.row(int(i)) {
			if v == v {
				residual[j] += v - out[j].mean
				counted[j] = true
			}
		}
	}
	flush()
	for j := range out {
		g, n := float64(out[j].clusters), float64(out[j].n)
		out[j].variance *= g / (g - 1) / n / n
	}
}

// pooled is moments over label draws, by Rubin's rules: the mean of the draws'
// means, and W + (1 + 1/m) B.
type pooled struct {
	draws    int
	n        int // of the draws, rounded mean
	clusters int
	mean     float64
	within   float64
	between  float64
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
	return p
}

// total returns the variance of the mean and the degrees of freedom (Barnard
// and Rubin, Biometrika 86, 1999).
func (p pooled) total() (variance, df float64) {
	complete := float64(p.clusters - 1)
	m := float64(p.draws)
	extra := (1 + 1/m) * p.between
	variance = p.within + extra
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
		out.Why = fmt.Sprintf("%d independent cases: an interval needs %d", p.clusters, minClusters)
		return out
	}
	out.Low, out.High = p.interval(m)
	return out
}

// interval is the t interval, cut to [0, 1] where values cannot leave it.
func (p pooled) interval(m *Measure) (low, high *float64) {
	variance, df := p.total()
	t := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1 + intervalLevel) / 2)
	half := t * math.Sqrt(variance)
	if variance == 0 {
		half = 0
	}
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
