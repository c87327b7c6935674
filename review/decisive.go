package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/eval"
)

// Bounds of the choice: pairs of one query say less than pairs of several; and
// what at first tells next to nothing is not looked at again at each step.
const (
	decisivePerCase = 2
	decisiveWeighed = 5000
	decisiveLeast   = 1e-6 // of the variance at the start, from which on nothing is decided
)

// Decisive chooses up to n labels that narrow a comparison of two results under
// one measure most, best first. Under coefficient vector t of the label model the
// mean difference is D_t, and a pair is relevant with the chance p_t. A label
// tells the vectors apart: by the best linear guess it lowers the variance of D
// over them by
//
//	cov(D, p)^2 / (var(p) + mean(p_t (1 - p_t)))
//
// Labels are chosen one at a time, each with the variances and covariances that
// are left once those before it are known, so that none is asked what another
// has told already (Bayesian linear design for one quantity; Chaloner and
// Verdinelli, Statistical Science 10, 1995). What differs from case to case and
// not from vector to vector plays no part: a label of one case says nothing of
// the others' chance.
//
// Both inputs hold the same cases in the same order. Worth is the variance of D
// before the label; no pair is decisive where labels have no vectors.
func Decisive(base, candidate eval.Input, measure eval.Measure, pool []Pair, n int) ([]Worth, error) {
	if len(base.Cases) != len(candidate.Cases) {
		return nil, fmt.Errorf("%d cases on one side, %d on the other", len(base.Cases), len(candidate.Cases))
	}
	d := design{left: map[string]int{}}
	vectors := vectorsOf(base.Cases)
	if vectors < 2 {
		return nil, nil
	}
	differences, err := differencesOf(bare(base, measure), bare(candidate, measure), measure.Name, vectors)
	if err != nil {
		return nil, err
	}
	d.start(differences)
	d.weigh(base.Cases, pool, vectors)
	return d.choose(n), nil
}

// bare is an input with one measure and nothing to cut the cases by.
func bare(in eval.Input, measure eval.Measure) eval.Input {
	in.Dimensions, in.Slicing, in.Measures = nil, nil, []eval.Measure{measure}
	return in
}

// vectorsOf is the most coefficient vectors that a label has a chance under.
func vectorsOf(cases []eval.Case) (n int) {
	for i := range cases {
		for _, l := range cases[i].Labels {
			if l.Uncertain != nil {
				n = max(n, len(l.Uncertain.Draws))
			}
		}
	}
	return n
}

// differencesOf is the mean of candidate less base under each vector. The same
// random numbers settle labels under all of them.
func differencesOf(base, candidate eval.Input, name string, vectors int) ([]float64, error) {
	out := make([]float64, vectors)
	for t := range out {
		for side, in := range [2]eval.Input{base, candidate} {
			in.Cases = under(in.Cases, t)
			r, err := eval.Evaluate(in)
			if err != nil {
				return nil, err
			}
			if m, ok := r.Metrics.Get(name); ok && m.Mean != nil {
				out[t] += float64(float64(2*side-1) * *m.Mean)
			}
		}
	}
	return out, nil
}

// under is the cases with the chances of one vector.
func under(cases []eval.Case, t int) []eval.Case {
	out := slices.Clone(cases)
	for i := range out {
		out[i].Labels = slices.Clone(out[i].Labels)
		for j, l := range out[i].Labels {
			if l.Uncertain != nil && len(l.Uncertain.Draws) > 0 {
				out[i].Labels[j].Uncertain = &eval.Probability{P: l.Uncertain.Draws[t%len(l.Uncertain.Draws)]}
			}
		}
	}
	return out
}

// asking is a label that could be asked for.
type asking struct {
	pair       Pair
	chance     []float64 // less its mean, by vector
	noise      float64   // variance of the label once the vector is known
	variance   float64   // of the chance, as much as is left
	covariance float64   // with the difference, likewise
}

func (a *asking) gain() float64 {
	return float64(a.covariance*a.covariance) / (a.variance + a.noise)
}

// design is a choice in the making.
type design struct {
	difference []float64 // less its mean
	variance   float64   // of the difference, as much as is left
	first      float64   // at the start
	known      [][]float64
	scales     []float64
	open       []asking
	left       map[string]int // labels that a case may still give
}

func (d *design) start(differences []float64) {
	d.difference = centred(differences)
	d.variance = product(d.difference, d.difference)
	d.first = d.variance
}

// centred is values less their mean.
func centred(values []float64) []float64 {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v - mean
	}
	return out
}

// product is the covariance of two centred lists.
func product(a, b []float64) (sum float64) {
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum / float64(len(a))
}

// weigh lists the uncertain labels of the pool that tell most at the start.
func (d *design) weigh(cases []eval.Case, pool []Pair, vectors int) {
	in := make(map[Pair]bool, len(pool))
	for _, p := range pool {
		in[p] = true
	}
	for i := range cases {
		for _, l := range cases[i].Labels {
			pair := Pair{cases[i].ID, l.ID}
			if u := l.Uncertain; u != nil && len(u.Draws) == vectors && in[pair] {
				d.open = append(d.open, d.asking(pair, u.Draws))
			}
		}
		d.left[cases[i].ID] = decisivePerCase
	}
	slices.SortFunc(d.open, func(a, b asking) int {
		return cmp.Or(cmp.Compare(b.gain(), a.gain()), strings.Compare(a.pair.CaseID, b.pair.CaseID), strings.Compare(a.pair.ChunkID, b.pair.ChunkID))
	})
	d.open = slices.Clip(d.open[:min(len(d.open), decisiveWeighed)])
}

func (d *design) asking(pair Pair, draws []float64) asking {
	a := asking{pair: pair, chance: centred(draws)}
	for _, p := range draws {
		a.noise += float64(p*(1-p)) / float64(len(draws))
	}
	a.variance, a.covariance = product(a.chance, a.chance), product(a.chance, d.difference)
	return a
}

// choose takes the label of the greatest gain, again and again.
func (d *design) choose(n int) []Worth {
	var out []Worth
	for len(out) < n {
		best := -1
		for i := range d.open {
			a := &d.open[i]
			if d.left[a.pair.CaseID] > 0 && a.variance+a.noise > 0 && (best < 0 || a.gain() > d.open[best].gain()) {
				best = i
			}
		}
		if best < 0 || d.open[best].gain() <= decisiveLeast*d.first {
			break
		}
		chosen := d.open[best]
		out = append(out, Worth{chosen.pair, d.variance})
		d.open = slices.Delete(d.open, best, best+1)
		d.left[chosen.pair.CaseID]--
		d.learn(&chosen)
	}
	return out
}

// learn takes off what is known once a label is: of the difference, and of each
// other label's chance.
func (d *design) learn(l *asking) {
	scale := l.variance + l.noise
	d.variance -= float64(l.covariance*l.covariance) / scale
	shared := slices.Clone(l.chance)
	for k, before := range d.known {
		part := product(before, l.chance) / d.scales[k]
		for t := range shared {
			shared[t] -= float64(part * before[t])
		}
	}
	d.known, d.scales = append(d.known, shared), append(d.scales, scale)
	for i := range d.open {
		a := &d.open[i]
		with := product(shared, a.chance)
		a.variance = max(0, a.variance-float64(with*with)/scale)
		a.covariance -= float64(with*l.covariance) / scale
	}
}
