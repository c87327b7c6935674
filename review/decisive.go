package review

import (
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/eval"
)

// Decisive weighs the uncertain labels that a comparison of two results rests
// on, under one measure with a cut of k. With d the candidate's value less the
// base's in the label's case, and p the probability that the chunk is relevant,
//
//	worth = p (1 - p) (E[d | relevant] - E[d | not relevant])^2
//
// which is by how much knowing the label lowers the variance of d, and so that
// of the mean difference, in expectation; both means are over the draws of the
// other labels. Weighed are the chunks among the first k of either side, at
// different ranks: others move only what a value is divided by.
//
// Both inputs hold the same cases in the same order.
func Decisive(base, candidate eval.Input, measure eval.Measure, k int) ([]Worth, error) {
	if len(base.Cases) != len(candidate.Cases) {
		return nil, fmt.Errorf("%d cases on one side, %d on the other", len(base.Cases), len(candidate.Cases))
	}
	w := weighing{measure: measure, sides: [2]eval.Input{bare(base, measure), bare(candidate, measure)}}
	for i := range base.Cases {
		w.labels = append(w.labels, contested(&base.Cases[i], &candidate.Cases[i], k))
	}
	return w.run()
}

// bare is an input with one measure and nothing to cut the cases by.
func bare(in eval.Input, measure eval.Measure) eval.Input {
	in.Dimensions, in.Slicing, in.Measures = nil, nil, []eval.Measure{measure}
	return in
}

// contested are the indexes of the uncertain labels that the two rankings of a
// case place differently within the first k.
func contested(base, candidate *eval.Case, k int) []int {
	a, b := ranksIn(base, k), ranksIn(candidate, k)
	var out []int
	for j := range base.Labels {
		l := &base.Labels[j]
		if l.Uncertain != nil && l.Uncertain.P > 0 && l.Uncertain.P < 1 && a[l.ID] != b[l.ID] {
			out = append(out, j)
		}
	}
	return out
}

// ranksIn maps the first k results to their ranks, from 1.
func ranksIn(c *eval.Case, k int) map[string]int {
	ranks := map[string]int{}
	for n, id := range c.Ranking[:min(k, len(c.Ranking))] {
		if _, again := ranks[id]; !again {
			ranks[id] = n + 1
		}
	}
	return ranks
}

// weighing settles one label of every case at a time, so that all cases are
// scored under the same draws.
type weighing struct {
	measure eval.Measure
	sides   [2]eval.Input
	labels  [][]int // contested, by case
}

func (w *weighing) run() ([]Worth, error) {
	var out []Worth
	for round := 0; ; round++ {
		open := w.open(round)
		if len(open) == 0 {
			return out, nil
		}
		yes, err := w.difference(open, round, true)
		if err != nil {
			return nil, err
		}
		no, err := w.difference(open, round, false)
		if err != nil {
			return nil, err
		}
		for n, i := range open {
			c := &w.sides[0].Cases[i]
			l := &c.Labels[w.labels[i][round]]
			p, move := l.Uncertain.P, yes[n]-no[n]
			out = append(out, Worth{Pair{c.ID, l.ID}, float64(p * (1 - p) * move * move)})
		}
	}
}

// open are the cases that have a label left in this round.
func (w *weighing) open(round int) []int {
	var out []int
	for i := range w.labels {
		if round < len(w.labels[i]) {
			out = append(out, i)
		}
	}
	return out
}

// difference is candidate less base of each open case, with the round's label
// known. A case without a value on one side counts as 0 there.
func (w *weighing) difference(open []int, round int, relevant bool) ([]float64, error) {
	out := make([]float64, len(open))
	for side, sign := range [2]float64{-1, 1} {
		in := w.sides[side]
		in.KeepEmpty = true
		in.Cases = make([]eval.Case, len(open))
		for n, i := range open {
			in.Cases[n] = known(w.sides[side].Cases[i], w.labels[i][round], relevant, in.MinGrade)
		}
		r, err := eval.Evaluate(in)
		if err != nil {
			return nil, err
		}
		r.AddCases()
		for n := range r.Cases {
			if value, ok := r.Cases[n].Metrics.Get(w.measure.Name); ok && value == value {
				out[n] += float64(sign * value)
			}
		}
	}
	return out, nil
}

// known is the case with one label settled.
func known(c eval.Case, at int, relevant bool, minGrade int) eval.Case {
	c.Labels = slices.Clone(c.Labels)
	c.Labels[at].Uncertain, c.Labels[at].Grade = nil, 0
	if relevant {
		c.Labels[at].Grade = minGrade
	}
	return c
}
