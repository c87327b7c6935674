package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/judge"
)

// TestShiftVariance by hand: two variants, one measure, people see a difference
// of -.1.
func TestShiftVariance(t *testing.T) {
	people := []means{{{0.5}, {0.4}}}
	for name, c := range map[string]struct {
		draws []means
		want  float64
	}{
		"an error that every draw has": {[]means{{{0.5}, {0.7}}, {{0.5}, {0.7}}}, 0.09},
		"no error":                     {[]means{{{0.5}, {0.4}}, {{0.3}, {0.2}}}, 0},
		// The mean is right; what is left is the spread alone, so nothing is.
		"draws that differ": {[]means{{{0.5}, {0.6}}, {{0.5}, {0.2}}}, 0},
		// Differences .1 and .3: mean .2, error .3, variance .02, times 1 + 1/2.
		"an error and a spread": {[]means{{{0.5}, {0.6}}, {{0.5}, {0.8}}}, 0.09 - 0.03},
	} {
		got, pairs := shiftVariance(people, c.draws, 0)
		if math.Abs(got-c.want) > 1e-12 || pairs != 1 {
			t.Errorf("%s: %v over %d pairs, want %v", name, got, pairs, c.want)
		}
	}
}

func TestCompareVerdicts(t *testing.T) {
	people := []verdict{{0.2, 1}, {0.1, 1}, {-0.3, -1}, {0.01, 0}, {-0.02, 0}}
	labels := []verdict{{0.1, 1}, {-0.1, -1}, {-0.1, 0}, {0.2, 1}, {0.1, 0}}
	want := agreement{people: 3, separated: 3, power: 2. / 3, reversed: 1. / 3, right: 2. / 3}
	if diff := cmp.Diff(want, compareVerdicts(people, labels), cmp.AllowUnexported(agreement{})); diff != "" {
		t.Error(diff)
	}
	source := []verdict{{0.1, 0}, {0.1, 1}, {-0.1, 0}, {-0.2, 0}, {0.1, 0}}
	ruled := sameSign(labels, source)
	for i, sign := range []int{1, 0, 0, 0, 0} {
		if ruled[i].sign != sign {
			t.Errorf("pair %d: sign %d under the sign rule, want %d", i, ruled[i].sign, sign)
		}
	}
}

func TestMeanShift(t *testing.T) {
	of := func(v float64) leftOut {
		return leftOut{shift: []judge.ShiftVariance{{Metric: "map", Source: "in", Variance: v, Pairs: 276}}}
	}
	want := []judge.ShiftVariance{{Metric: "map", Source: "in", Variance: 0.002, Pairs: 276}}
	if diff := cmp.Diff(want, meanShift([]leftOut{of(0.001), of(0.002), of(0.003)})); diff != "" {
		t.Error(diff)
	}
}
