package study

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/judge"
)

// TestErrorOf by hand: queries with a difference of 0 and of .2 under people's
// labels.
func TestErrorOf(t *testing.T) {
	truth, nan := []float64{0, 0.2}, math.NaN()
	for name, c := range map[string]struct {
		truth []float64
		draws [][]float64
		want  pairError
	}{
		"right":                 {truth, [][]float64{{0, 0.2}, {0, 0.2}}, pairError{}},
		"wrong in every query":  {truth, [][]float64{{0.1, 0.3}, {0.1, 0.3}}, pairError{square: 0.01}},
		"wrong in one query":    {truth, [][]float64{{0.1, 0.2}, {0.1, 0.2}}, pairError{square: 0.0025, sampling: 0.0025}},
		"draws differ, as one":  {truth, [][]float64{{0.1, 0.3}, {-0.1, 0.1}}, pairError{common: 0.02 - 0.01}},
		"draws differ by query": {truth, [][]float64{{0.1, 0.1}, {-0.1, 0.3}}, pairError{}},
		"a query without value": {append(truth, nan, 1), [][]float64{{0, 0.2, 1, nan}, {0, 0.2, 1, nan}}, pairError{}},
	} {
		got := errorOf(c.truth, c.draws)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(pairError{}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestErrorBeside by hand: two synthetic queries of one document and one of another
// beside people's, whose differences are 0 and .2, a mean of .1 with variance .01.
func TestErrorBeside(t *testing.T) {
	nan := math.NaN()
	m := &Material{pools: []pooled{{source: "a"}, {source: "a"}, {source: "b"}}}
	for name, c := range map[string]struct {
		truth []float64
		draws [][]float64
		want  pairError
	}{
		"right":                 {[]float64{0.1, 0.1}, [][]float64{{0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}}, pairError{}},
		"people's sampling":     {[]float64{0, 0.2, nan}, [][]float64{{0.3, 0.3, 0.3}, {0.3, 0.3, 0.3}}, pairError{square: 0.04, sampling: 0.01}},
		"documents' sampling":   {[]float64{0.1, 0.1}, [][]float64{{0, 0, 0.9}, {0, 0, 0.9}}, pairError{square: 0.04, sampling: 0.16}}, // (.6^2 + .6^2)/9 * 2
		"a query without value": {[]float64{0.1, 0.1}, [][]float64{{nan, 0, 0.6}, {nan, 0, 0.6}}, pairError{square: 0.04, sampling: 0.09}},
		"draws differ, as one":  {[]float64{0, 0}, [][]float64{{0.1, 0.1, 0.1}, {-0.1, -0.1, -0.1}}, pairError{common: 0.02 - 0.02/3}},
		"draws differ by query": {[]float64{0.1, 0.1}, [][]float64{{0.1, 0.2, 0.1}, {0.1, 0, 0.1}}, pairError{}}, // .02/9 between draws, which noise of .02/9 explains
	} {
		got := m.errorBeside(c.truth, c.draws)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(pairError{}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestShippedShrinksWhatTheModelBrings(t *testing.T) {
	of := func(human, synthetic float64) []judge.ShiftVariance {
		return []judge.ShiftVariance{{Metric: "map", Queries: "human", Variance: human}, {Metric: "map", Queries: "synthetic", Variance: synthetic}}
	}
	// Means .002 and .005; of two collections .75 of the .002 that the model brings.
	if diff := cmp.Diff(of(0.0015, 0.0045), Shipped([][]judge.ShiftVariance{of(0.001, 0.004), of(0.003, 0.006)})); diff != "" {
		t.Error(diff)
	}
}

func TestShiftVariance(t *testing.T) {
	const m = judge.DrawCount
	errors := []pairError{
		{square: 0.05, sampling: 0.005, common: 0.005 / (1 + 1./m), apart: 1}, // .04 too much
		{square: 0.012, sampling: 0.002, apart: 0.5},                          // .01
	}
	if got := shiftVariance(errors); math.Abs(got-0.04) > 1e-12 {
		t.Errorf("%v, want .04 of retrievers with nothing in common", got)
	}
	if got := shiftVariance([]pairError{{square: 0.01, sampling: 0.02, apart: 1}}); got != 0 {
		t.Errorf("%v of an error within sampling", got)
	}
}

func TestMoreCollections(t *testing.T) {
	// 1 + 1/k is 2, 1.5, 1.333.
	for k, want := range map[int]float64{1: 0.75, 2: 8. / 9} {
		if got := moreCollections(k); math.Abs(got-want) > 1e-12 {
			t.Errorf("from %d: %v, want %v", k, got, want)
		}
	}
}

func TestMeanShift(t *testing.T) {
	of := func(v float64) []judge.ShiftVariance {
		return []judge.ShiftVariance{{Metric: "map", Source: "in", Variance: v, Pairs: 276}}
	}
	want := []judge.ShiftVariance{{Metric: "map", Source: "in", Variance: 0.002, Pairs: 276}}
	if diff := cmp.Diff(want, meanShift([][]judge.ShiftVariance{of(0.001), of(0.002), of(0.003)})); diff != "" {
		t.Error(diff)
	}
}
