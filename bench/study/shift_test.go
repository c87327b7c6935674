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
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(pairError{}, estimate{}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestErrorBeside by hand: two synthetic queries of one document and one of another
// beside people's.
func TestErrorBeside(t *testing.T) {
	nan := math.NaN()
	m := &Material{pools: []pooled{{source: "a"}, {source: "a"}, {source: "b"}}}
	people := estimate{0.1, 0.01} // of 0 and .2
	for name, c := range map[string]struct {
		draws [][]float64
		want  pairError
	}{
		"alike":                 {[][]float64{{0.3, 0.3, 0.3}, {0.3, 0.3, 0.3}}, pairError{own: estimate{0.3, 0}}},
		"by document":           {[][]float64{{0, 0, 0.9}, {0, 0, 0.9}}, pairError{own: estimate{0.3, 0.16}}}, // (.6^2 + .6^2)/9 * 2
		"a query without value": {[][]float64{{nan, 0, 0.6}, {nan, 0, 0.6}}, pairError{own: estimate{0.3, 0.09}}},
		"draws differ, as one":  {[][]float64{{0.1, 0.1, 0.1}, {-0.1, -0.1, -0.1}}, pairError{common: 0.02 - 0.02/3}},
		"draws differ by query": {[][]float64{{0.1, 0.2, 0.1}, {0.1, 0, 0.1}}, pairError{own: estimate{0.1, 0}}},
	} {
		c.want.people = people
		got := m.errorBeside([]float64{0, 0.2, nan}, c.draws)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(pairError{}, estimate{}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestOnOneScale: differences that are twice people's are no error; what is left of
// them beside that is, and people's sampling counts on that scale.
func TestOnOneScale(t *testing.T) {
	of := func(own, people, variance float64) pairError {
		return pairError{own: estimate{own, 0.001}, people: estimate{people, variance}}
	}
	for name, c := range map[string]struct {
		errors []pairError
		want   []float64 // excess
	}{
		"twice as far": {[]pairError{of(0.2, 0.1, 0), of(-0.4, -0.2, 0)}, []float64{-0.001, -0.001}},
		// (.3*.1 + .2*.2)/(.1^2 + .2^2) is 1.4
		"an error besides": {[]pairError{of(0.3, 0.1, 0), of(0.2, 0.2, 0)}, []float64{0.16*0.16 - 0.001, 0.08*0.08 - 0.001}},
		// .02/(.02 - .01) is 2
		"people's sampling": {[]pairError{of(0.1, 0.1, 0.005), of(0.1, 0.1, 0.005)}, []float64{0.01 - 0.021, 0.01 - 0.021}},
		"nothing in common": {[]pairError{of(0.1, -0.1, 0)}, []float64{0.04 - 0.001}},
	} {
		var got []float64
		for _, e := range onOneScale(c.errors) {
			got = append(got, e.excess())
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestShippedShrinksWhatTheModelBrings(t *testing.T) {
	of := func(human, synthetic, model float64) []judge.ShiftVariance {
		return []judge.ShiftVariance{
			{Metric: "map", Queries: "human", Variance: human}, {Metric: "map", Queries: "synthetic", Variance: synthetic, Model: model},
		}
	}
	// Means .002, .05 and .02; of two collections .75 of what the model brings.
	got := Shipped([][]judge.ShiftVariance{of(0.001, 0.04, 0.01), of(0.003, 0.06, 0.03)})
	if diff := cmp.Diff(of(0.0015, 0.045, 0.015), got); diff != "" {
		t.Error(diff)
	}
}

func TestShiftVariance(t *testing.T) {
	const m = judge.DrawCount
	errors := []pairError{
		{square: 0.05, sampling: 0.005, common: 0.005 / (1 + 1./m), apart: 1, level: 0.1}, // .04 too much
		{square: 0.012, sampling: 0.002, apart: 0.5, level: 0.2},                          // .01
	}
	if got := shiftVariance(errors, false); math.Abs(got-0.04) > 1e-12 {
		t.Errorf("%v, want .04 of retrievers with nothing in common", got)
	}
	if got := shiftVariance(errors, true); math.Abs(got-2.5) > 1e-12 {
		t.Errorf("%v, want 2.5 times the square of the level", got)
	}
	if got := shiftVariance([]pairError{{square: 0.01, sampling: 0.02, apart: 1}}, false); got != 0 {
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
