package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	significance = 0.05 // two-sided, of differences
	power        = 0.80 // of the smallest detectable difference
)

// differ computes what Comparison says of measures and slices.
type differ struct {
	*pairing
	flips *flipper
	seed  int64
	shift func(m Measure, level float64) float64
	leave func(more int) (draws, shift float64) // nil where it is not known
}

// metrics are the differences of the shown measures, with Holm's correction
// over them.
func (d *differ) metrics() Differences {
	out := d.ofGroup(0)
	d.holm(out)
	return out
}

// slices are the differences by dimension, with Holm's correction over all
// values and measures of one dimension.
func (d *differ) slices() DifferenceSlices {
	in := &d.base.in
	out := make(DifferenceSlices, len(in.Dimensions))
	for i := range in.Dimensions {
		out[i] = DifferenceSliceBy{Name: in.Dimensions[i].Name, Slices: []DifferenceSlice{}}
	}
	for g, group := range d.base.groups[1:] {
		by := &out[group.dimension]
		value := in.Dimensions[group.dimension].values[group.value]
		by.Slices = append(by.Slices, DifferenceSlice{
			Value: cmp.Or(value, noValue), N: d.base.scoredIn(&d.base.groups[g+1]), Metrics: d.ofGroup(g + 1),
		})
	}
	for i := range out {
		var family []Differences
		for _, s := range out[i].Slices {
			family = append(family, s.Metrics)
		}
		d.holm(family...)
	}
	return out
}

func (d *differ) ofGroup(g int) Differences {
	out := make(Differences, d.shown)
	var toTest []int
	for j := range out {
		out[j] = NamedDifference{Name: d.base.in.Measures[j].Name, Difference: d.describe(g, j)}
		if out[j].testable() {
			toTest = append(toTest, j)
		}
	}
	if d.base.drawn {
		for _, j := range toTest {
			d.tOverDraws(g, j, &out[j].Difference)
		}
		return out
	}
	d.resample(g, toTest, out)
	return out
}

// testable reports whether a test and an interval are still to be found.
func (d *Difference) testable() bool { return d.Difference != nil && d.P == nil && d.Why == "" }

// describe gives everything but the test: means, counts, effect size, and why
// there is no test where there is none.
func (d *differ) describe(g, j int) Difference {
	m := &d.base.in.Measures[j]
	p, base, candidate := d.pooled(g, j)
	out := Difference{N: p.n, Clusters: p.clusters}
	out.Better, out.Worse, out.Same = d.changes(g, j)
	if p.n == 0 {
		out.Why = "no case has a value"
		return out
	}
	out.Base, out.Candidate, out.Difference = asShown(m, base, candidate, p)
	switch {
	case m.aggregate() == sum:
		out.Why = "a total"
	case m.aggregate() == geometric:
		out.Why = "a geometric mean"
	case out.Better+out.Worse == 0:
		out.Low, out.High, out.P = ptr(0.0), ptr(0.0), ptr(1.0)
		out.Why = fmt.Sprintf("0 of %s changed", casesWord(out.Same))
	case p.clusters < minClusters:
		out.Why = tooFew(p.clusters, "a test")
	}
	return out
}

// tooFew says how many clusters what is made of them needs.
func tooFew(clusters int, what string) string {
	if clusters == 1 {
		return fmt.Sprintf("1 independent case: %s needs %d", what, minClusters)
	}
	return fmt.Sprintf("%d independent cases: %s needs %d", clusters, what, minClusters)
}

// asShown turns means of values into what the measure says over cases.
func asShown(m *Measure, base, candidate float64, p pooled) (a, b, difference *float64) {
	switch n := float64(p.n); m.aggregate() {
	case sum:
		base, candidate = float64(base*n), float64(candidate*n)
	case geometric:
		base, candidate = math.Exp(base), math.Exp(candidate)
	default:
		return &base, &candidate, &p.mean
	}
	return &base, &candidate, ptr(candidate - base)
}

// resample tests certain labels: sign-flips and the bootstrap, over clusters.
func (d *differ) resample(g int, measures []int, out Differences) {
	cases, cluster := d.base.groups[g].cases, d.base.clusters.of
	for _, t := range tallies(d.diff, cases, cluster, measures) {
		intervals := t.bootstrap(d.seed)
		parallel(len(t.measures), func(k int) {
			j := t.measures[k]
			x := &out[j].Difference
			x.Low, x.High = &intervals[k].low, &intervals[k].high
			x.P = ptr(d.flips.test(t.terms(k, 0)).two)
			p, _, _ := d.pooled(g, j)
			x.addSizes(p)
		})
	}
}

// tOverDraws tests uncertain labels: t on the total variance.
func (d *differ) tOverDraws(g, j int, x *Difference) {
	p := d.pooledWithShift(g, j)
	variance, df := p.total()
	half := p.half()
	x.Low, x.High = ptr(p.mean-half), ptr(p.mean+half)
	if d.base.in.Measures[j].bounded() {
		x.Low, x.High = ptr(max(*x.Low, -1)), ptr(min(*x.High, 1))
	}
	x.P = ptr(2 * tTail(-math.Abs(p.mean), variance, df))
	if variance > 0 {
		x.LabelShare = ptr((variance - p.cases) / variance)
	}
	x.addSizes(p)
}

func (d *differ) pooledWithShift(g, j int) pooled {
	p, base, candidate := d.pooled(g, j)
	p.shift = d.shiftIn(g, j, (base+candidate)/2)
	return p
}

// tTail is the chance that a mean of 0 with that variance comes out at x or
// below.
func tTail(x, variance, df float64) float64 {
	if variance == 0 {
		switch {
		case x < 0:
			return 0
		case x > 0:
			return 1
		}
		return 0.5
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.CDF(x / math.Sqrt(variance))
}

// addSizes fills the effect size and the smallest detectable difference. The
// effect is measured against the spread of clusters alone, as it would be with
// labels that are known.
func (x *Difference) addSizes(p pooled) {
	if p.within > 0 {
		x.EffectSize = ptr(p.mean / math.Sqrt(p.within*float64(p.clusters)))
	}
	variance, df := p.total()
	if variance > 0 {
		t := distuv.StudentsT{Sigma: 1, Nu: df}
		x.SmallestDetectable = ptr((t.Quantile(1-significance/2) + t.Quantile(power)) * math.Sqrt(variance))
	}
}

// holm fills PHolm over one family of tests (Holm, Scandinavian Journal of
// Statistics 6, 1979). The share of judged results is in none: it says nothing
// about which side is better.
func (d *differ) holm(family ...Differences) {
	var tests []*Difference
	for _, f := range family {
		for j := range f {
			if f[j].P != nil && !d.base.in.Measures[j].aboutLabels() {
				tests = append(tests, &f[j].Difference)
			}
		}
	}
	ps := make([]float64, len(tests))
	for i, x := range tests {
		ps[i] = *x.P
	}
	for i, p := range adjust(ps) {
		tests[i].PHolm = &p
	}
}

// aboutLabels reports whether the measure looks at what is judged rather than
// at what is relevant.
func (m *Measure) aboutLabels() bool { return m.kind == judged || m.kind == unjudged }

// adjust gives Holm's adjusted p-values, in the order of ps.
func adjust(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	out := make([]float64, len(ps))
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, float64(ps[i]*float64(len(ps)-rank))))
		out[i] = worst
	}
	return out
}
