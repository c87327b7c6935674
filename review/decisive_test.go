package review_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/review"
)

func measure(t *testing.T, name string) eval.Measure {
	t.Helper()
	m, err := eval.ParseMeasure(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func likely(id string, p float64) eval.Label {
	return eval.Label{ID: id, Uncertain: &eval.Probability{P: p, Draws: slices.Repeat([]float64{p}, 20)}}
}

// ranked is an input of cases c0, c1 ... with the same labels.
func ranked(m eval.Measure, labels [][]eval.Label, rankings [][]string) eval.Input {
	in := eval.Input{Measures: []eval.Measure{m}, MinGrade: 1, Seed: 7}
	for i := range labels {
		in.Cases = append(in.Cases, eval.Case{ID: fmt.Sprintf("c%d", i), Labels: labels[i], Ranking: rankings[i]})
	}
	return in
}

// Precision at two is additive, so that a label's move can be worked out by
// hand: one half where one side has it among the first two, nothing where both
// have it.
func TestWorthIsTheVarianceThatALabelBrings(t *testing.T) {
	m := measure(t, "P@2")
	labels := [][]eval.Label{{likely("a", .5), likely("b", .2), likely("c", .9), {ID: "d", Grade: 1}, likely("e", .5), likely("f", 1)}}
	base := ranked(m, labels, [][]string{{"a", "b", "e", "f"}})
	candidate := ranked(m, labels, [][]string{{"b", "c", "a", "f"}})
	got, err := review.Decisive(base, candidate, m, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"a": .25 * .25, "b": 0, "c": .09 * .25}
	worths := map[string]float64{}
	for _, w := range got {
		worths[w.ChunkID] = math.Round(w.Worth*1e9) / 1e9
	}
	if diff := cmp.Diff(want, worths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Settling the most worthy labels narrows the interval more than settling as
// many at random: means over sets, whatever the labels turn out to be.
func TestDecisiveLabelsNarrowMoreThanRandomOnes(t *testing.T) {
	m := measure(t, "ndcg@5")
	random := rand.New(rand.NewPCG(1, 2))
	decisive, other := 0.0, 0.0
	for range 8 {
		base, candidate := noisyPair(m, random)
		worths, err := review.Decisive(base, candidate, m, 5)
		if err != nil {
			t.Fatal(err)
		}
		s, err := review.Draw("decisive", nil, worths, 60, 7)
		if err != nil {
			t.Fatal(err)
		}
		decisive += narrowed(t, base, candidate, s.Pairs, random)
		all := allPairs(base)
		s, err = review.Draw("random", all, nil, len(s.Pairs), 7)
		if err != nil {
			t.Fatal(err)
		}
		other += narrowed(t, base, candidate, s.Pairs, random)
	}
	if decisive >= .97*other {
		t.Errorf("the interval is %.3f of what it was with decisive labels, %.3f with random ones", decisive/8, other/8)
	}
}

// noisyPair is two rankings of 60 cases of ten chunks each.
func noisyPair(m eval.Measure, random *rand.Rand) (base, candidate eval.Input) {
	var labels [][]eval.Label
	var a, b [][]string
	for range 60 {
		var ids []string
		var of []eval.Label
		for j := range 10 {
			ids = append(ids, fmt.Sprintf("d%d", j))
			of = append(of, likely(ids[j], []float64{.05, .3, .5, .9}[random.IntN(4)]))
		}
		other := slices.Clone(ids)
		random.Shuffle(4, func(i, j int) { other[i], other[j] = other[j], other[i] })
		labels, a, b = append(labels, of), append(a, ids), append(b, other)
	}
	return ranked(m, labels, a), ranked(m, labels, b)
}

func allPairs(in eval.Input) (out []review.Pair) {
	for _, c := range in.Cases {
		for _, l := range c.Labels {
			out = append(out, review.Pair{CaseID: c.ID, ChunkID: l.ID})
		}
	}
	return out
}

// narrowed is the width of the interval once the pairs are known, as a share of
// what it was.
func narrowed(t *testing.T, base, candidate eval.Input, pairs []review.Drawn, random *rand.Rand) float64 {
	t.Helper()
	known := map[review.Pair]int{}
	for _, d := range pairs {
		known[d.Pair] = -1
	}
	settle := func(in eval.Input) eval.Input {
		in.Cases = slices.Clone(in.Cases)
		for i := range in.Cases {
			c := &in.Cases[i]
			c.Labels = slices.Clone(c.Labels)
			for j, l := range c.Labels {
				at := review.Pair{CaseID: c.ID, ChunkID: l.ID}
				g, asked := known[at]
				if !asked {
					continue
				}
				if g < 0 {
					g = 0
					if random.Float64() < l.Uncertain.P {
						g = 1
					}
					known[at] = g
				}
				c.Labels[j] = eval.Label{ID: l.ID, Grade: g}
			}
		}
		return in
	}
	return widthOf(t, settle(base), settle(candidate)) / widthOf(t, base, candidate)
}

func widthOf(t *testing.T, base, candidate eval.Input) float64 {
	t.Helper()
	c, err := eval.Compare(eval.CompareInput{Base: base, Candidate: candidate})
	if err != nil {
		t.Fatal(err)
	}
	d, ok := c.Metrics.Get(base.Measures[0].Name)
	if !ok || d.Low == nil {
		t.Fatalf("no interval: %+v", c)
	}
	return *d.High - *d.Low
}
