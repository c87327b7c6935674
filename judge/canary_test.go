package judge_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/judge"
)

// expects makes canaries of one group from expected grades; NaN is unknown.
func expects(source bool, values ...float64) []judge.Canary {
	var out []judge.Canary
	for _, v := range values {
		c := judge.Canary{Source: source}
		if math.IsNaN(v) {
			c.Grade.Unknown = judge.UnknownUnreadable
		} else {
			grade := int(math.Floor(v + .5))
			c.Grade.Grade, c.Grade.Expected = &grade, &v
		}
		out = append(out, c)
	}
	return out
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func ramp(from, step float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = from + step*float64(i)
	}
	return out
}

func TestAssess(t *testing.T) {
	for _, tt := range []struct {
		name             string
		sources, randoms []float64
		want             string
	}{
		{"tells them apart", ramp(1.6, .04, 30), ramp(0, .04, 30), judge.Passed},
		{"says the same of all", repeat(2, 30), repeat(2, 30), judge.Blind},
		{"apart, but nearly always one grade", ramp(1.9, .01, 40), ramp(1.5, .009, 40), judge.Blind},
		{"right on average, not surely", append(repeat(2, 18), repeat(0, 12)...), append(repeat(2, 8), repeat(0, 22)...), judge.Blind},
		{"the wrong way round", repeat(0, 30), repeat(3, 30), judge.Blind},
		{"many random chunks with a 0", repeat(3, 30), repeat(0, 300), judge.Passed},
		{"no answer on either", repeat(math.NaN(), 30), repeat(math.NaN(), 30), judge.Blind},
		{"too few sources", repeat(3, 29), repeat(0, 90), judge.Untested},
		{"too few random chunks", repeat(3, 90), repeat(0, 29), judge.Untested},
		{"none", nil, nil, judge.Untested},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := judge.Assess(append(expects(true, tt.sources...), expects(false, tt.randoms...)...))
			if v.State != tt.want {
				t.Errorf("verdict %+v, want %s", v, tt.want)
			}
		})
	}
}

// Worked by hand: of the 3 x 2 pairs, (1,0) (2,0) (2,1) (3,0) (3,1) are won and
// (1,1) is a tie: AUC 5.5/6. Placements of the sources are .75, 1, 1 (variance
// 1/48), those of the random ones 0 and 1/6 below (variance 1/72), so the
// standard error is sqrt(1/144 + 1/144) = 0.117851.
func TestAssessByHand(t *testing.T) {
	v := judge.Assess(append(expects(true, 1, 2, 3), expects(false, 0, 1)...))
	low := 5.5/6 - 1.959963984540054*math.Sqrt(1./144+1./144)
	if math.Abs(v.AUC-5.5/6) > 1e-12 || math.Abs(v.Low-low) > 1e-12 || v.High != 1 {
		t.Errorf("AUC %.6f [%.6f, %.6f], want %.6f [%.6f, 1]", v.AUC, v.Low, v.High, 5.5/6, low)
	}
}

// An unknown grade ties with every other.
func TestAssessUnknownIsNoEvidence(t *testing.T) {
	v := judge.Assess(append(expects(true, 3, math.NaN()), expects(false, 0, math.NaN())...))
	if want := (1 + .5 + .5 + .5) / 4; math.Abs(v.AUC-want) > 1e-12 || v.Unknown != 2 {
		t.Errorf("AUC %g with %d unknown, want %g with 2", v.AUC, v.Unknown, want)
	}
}

func TestAssessIsAShareOfPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Map(rapid.IntRange(0, 12), func(n int) float64 { return float64(n) / 4 })
		xs := rapid.SliceOfN(value, 1, 40).Draw(t, "sources")
		ys := rapid.SliceOfN(value, 1, 40).Draw(t, "randoms")
		won := 0.0
		for _, x := range xs {
			for _, y := range ys {
				switch {
				case x > y:
					won++
				case x == y:
					won += .5
				}
			}
		}
		want := won / float64(len(xs)*len(ys))
		v := judge.Assess(append(expects(true, xs...), expects(false, ys...)...))
		if math.Abs(v.AUC-want) > 1e-9 || v.Low > v.AUC+1e-9 || v.High < v.AUC-1e-9 {
			t.Fatalf("AUC %g [%g, %g], want %g", v.AUC, v.Low, v.High, want)
		}
	})
}
