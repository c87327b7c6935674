package eval

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// ranked is one set under which all retrievers are scored by one measure.
type ranked struct {
	side    *AgreementSide
	inputs  []Input
	means   []AgreementMean
	exact   standing // by the tests of Compare
	pairs   []PairDifference
	drawn   bool
	units   units
	source  *units // the same under source-only labels; nil where the sign rule does not apply
	bars    tTable
	widened []float64 // by pair: what of its variance resampling the units does not show
}

// newRanked scores the retrievers and compares every two of them.
func newRanked(side *AgreementSide, m Measure, seed int64, flips *flipper) (*ranked, error) {
	r := &ranked{side: side}
	for _, in := range side.Retrievers {
		in.Measures, in.Dimensions = []Measure{m}, nil
		r.inputs = append(r.inputs, in)
	}
	if err := r.score(); err != nil {
		return nil, err
	}
	if err := r.scoreSourceOnly(); err != nil {
		return nil, fmt.Errorf("source-only labels: %w", err)
	}
	r.dropEmpty()
	return r, r.compare(seed, flips)
}

// score fills in means and units.
func (r *ranked) score() error {
	all := make([]*scores, len(r.inputs))
	r.means = make([]AgreementMean, len(r.inputs))
	for i, in := range r.inputs {
		m := in.Measures[0]
		in.Measures = []Measure{m, {kind: judged, k: m.k}}
		s, err := newScores(in)
		if err != nil {
			return fmt.Errorf("%s: %w", in.Retriever.Name, err)
		}
		s.scoreAll()
		all[i] = s
		found, judged := metric(&m, s.groups[0].moments[0]), pool(s.groups[0].moments[1])
		if found.Mean == nil {
			return fmt.Errorf("%s: %s: %s", in.Retriever.Name, m.Name, found.Why)
		}
		r.means[i] = AgreementMean{Mean: found.Mean, Low: found.Low, High: found.High, Failed: failedQueries(&in)}
		if judged.n > 0 {
			r.means[i].Judged = ptr(judged.mean)
		}
		r.exact.means = append(r.exact.means, *found.Mean)
	}
	for i, rank := range ranksOf(r.exact.means) {
		r.means[i].Rank = rank
	}
	r.drawn, r.units = all[0].drawn, unitsUnder(all)
	return nil
}

// scoreSourceOnly scores again with the source as the only label, where a
// separation needs that to agree.
func (r *ranked) scoreSourceOnly() error {
	first := &r.inputs[0]
	hasSource := slices.ContainsFunc(first.Cases, func(c Case) bool { return len(c.about().Chunks) > 0 })
	if !hasSource || !belowFitted(first.Trust) {
		return nil
	}
	all := make([]*scores, len(r.inputs))
	for i, in := range r.inputs {
		s, err := newScores(withSourceOnly(in))
		if err != nil {
			return fmt.Errorf("%s: %w", in.Retriever.Name, err)
		}
		s.scoreAll()
		all[i] = s
	}
	r.source = ptr(unitsUnder(all))
	return nil
}

// compare tests every pair.
func (r *ranked) compare(seed int64, flips *flipper) error {
	n := len(r.inputs)
	r.pairs, r.widened = make([]PairDifference, pairCount(n)), make([]float64, pairCount(n))
	r.exact.signs = make([]int8, pairCount(n))
	var source []float64
	if r.source != nil {
		source = r.source.means(r.source.once())
	}
	errs := make([]error, pairCount(n))
	work := make([][2]int, pairCount(n))
	eachPair(n, func(pair, a, b int) { work[pair] = [2]int{a, b} })
	parallel(len(work), func(pair int) {
		a, b := work[pair][0], work[pair][1]
		errs[pair] = r.comparePair(pair, a, b, seed, flips)
		sign := direction(r.pairs[pair].Difference)
		agrees := source == nil || direction(source[b]-source[a]) == sign
		if p := r.pairs[pair].P; p != nil && *p < significance && agrees {
			r.exact.signs[pair], r.pairs[pair].Separated = sign, sign != 0
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// comparePair tests one pair as Compare does.
func (r *ranked) comparePair(pair, a, b int, seed int64, flips *flipper) error {
	p, err := newPairing(r.inputs[a], r.inputs[b], nil)
	if err != nil {
		return err
	}
	p.shown = 1
	d := &differ{pairing: p, flips: flips, seed: seed, shift: r.side.Shift}
	x := d.describe(0, 0)
	if x.Difference != nil {
		r.pairs[pair].Difference = *x.Difference
	}
	switch {
	case !x.testable():
	case p.base.drawn:
		d.tOverDraws(0, 0, &x)
		r.widened[pair] = r.units.widened(a, b, d.pooledWithShift(0, 0).half())
	default:
		terms := tallies(d.diff, p.base.groups[0].cases, p.base.clusters.of, []int{0})[0].terms(0, 0)
		x.P = ptr(d.flips.test(terms).two)
	}
	r.pairs[pair].P = x.P
	return nil
}

// units are the clusters of a set's cases with the sums of each retriever's
// values in them, and what can be said when each counts so many times.
type units struct {
	cases []float64   // with a value
	sums  [][]float64 // by retriever and unit
	keys  [][]string  // of the cases, to find those that two sets share
}

// unitsUnder adds up the first measure's values by cluster. A case counts where
// every retriever has a value.
func unitsUnder(all []*scores) units {
	s := all[0]
	u := units{cases: make([]float64, s.clusters.n), keys: make([][]string, s.clusters.n), sums: make([][]float64, len(all))}
	for r := range all {
		u.sums[r] = make([]float64, s.clusters.n)
	}
	for _, i := range s.groups[0].cases {
		c, at := &s.in.Cases[i], s.clusters.of[i]
		if slices.ContainsFunc(all, func(s *scores) bool { return math.IsNaN(s.values.row(int(i))[0]) }) {
			continue
		}
		u.cases[at]++
		u.keys[at] = append(u.keys[at], c.ID+"\x00"+c.about().Query)
		for r := range all {
			u.sums[r][at] += all[r].values.row(int(i))[0]
		}
	}
	return u
}

// keep leaves the units listed.
func (u *units) keep(list []int) {
	cases, keys := make([]float64, len(list)), make([][]string, len(list))
	for n, c := range list {
		cases[n], keys[n] = u.cases[c], u.keys[c]
	}
	for r := range u.sums {
		u.sums[r] = pickValues(u.sums[r], list)
	}
	u.cases, u.keys = cases, keys
}

// dropEmpty leaves the units that have a case.
func (r *ranked) dropEmpty() {
	var list []int
	for c, n := range r.units.cases {
		if n > 0 {
			list = append(list, c)
		}
	}
	r.units.keep(list)
	if r.source != nil {
		r.source.keep(list)
	}
}

// once counts every unit one time.
func (u *units) once() []float64 {
	times := make([]float64, len(u.cases))
	for c := range times {
		times[c] = 1
	}
	return times
}

// means of all retrievers.
func (u *units) means(times []float64) []float64 {
	n := 0.0
	for c, t := range times {
		n += float64(t * u.cases[c])
	}
	out := make([]float64, len(u.sums))
	for r, sums := range u.sums {
		for c, t := range times {
			out[r] += float64(t * sums[c])
		}
		out[r] /= n
	}
	return out
}

// variance is the cluster-robust one of the difference of two means, as in
// moments.
func (u *units) variance(times []float64, a, b int, difference float64) float64 {
	n, g, squares := 0.0, 0.0, 0.0
	x, y := u.sums[a], u.sums[b]
	for c, t := range times {
		if t == 0 || u.cases[c] == 0 {
			continue
		}
		rest := y[c] - x[c] - float64(difference*u.cases[c])
		squares += float64(t * rest * rest)
		n += float64(t * u.cases[c])
		g += t
	}
	return squares * g / (g - 1) / n / n
}

// widened is the variance that takes the units' own to that of an interval with
// the given half-width: what label draws and shift add.
func (u *units) widened(a, b int, half float64) float64 {
	once := u.once()
	means := u.means(once)
	whole := half / tQuantile(float64(len(once)-1))
	return max(0, float64(whole*whole)-u.variance(once, a, b, means[b]-means[a]))
}

func tQuantile(df float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - significance/2)
}

// tTable remembers quantiles, which take longer than all else of a resample. It
// may be used from several goroutines; the zero value is empty.
type tTable struct{ known sync.Map }

func (t *tTable) at(df float64) float64 {
	if bar, ok := t.known.Load(df); ok {
		return bar.(float64)
	}
	bar := tQuantile(df)
	t.known.Store(df, bar)
	return bar
}

// stand gives what the set says when each unit counts so many times: pairs are
// separated by a cluster t. The variance that the units do not show is taken
// times wider.
func (r *ranked) stand(times []float64, wider float64) standing {
	g := 0.0
	for c, t := range times {
		if r.units.cases[c] > 0 {
			g += t
		}
	}
	s := standing{means: r.units.means(times), signs: make([]int8, len(r.pairs))}
	if g < minClusters {
		return s
	}
	bar := r.bars.at(g - 1)
	eachPair(len(s.means), func(pair, a, b int) {
		d := s.means[b] - s.means[a]
		variance := r.units.variance(times, a, b, d) + float64(wider*r.widened[pair])
		if math.Abs(d) > bar*math.Sqrt(variance) {
			s.signs[pair] = direction(d)
		}
	})
	return s
}
