package delong_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/internal/delong"
)

func TestPlacements(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, tt := range map[string]struct{ xs, ys, want []float64 }{
		"above, between, below": {[]float64{3, 1.5, 0}, []float64{1, 2}, []float64{1, 0.5, 0}},
		"ties are halves":       {[]float64{1, 2}, []float64{2, 1, 1, 1}, []float64{0.375, 0.875}},
		"unknown ties with all": {[]float64{nan, 5}, []float64{1, nan}, []float64{0.5, 0.75}},
		"nothing but unknown":   {[]float64{1}, []float64{nan, nan}, []float64{0.5}},
		"infinities tie":        {[]float64{-inf, inf}, []float64{-inf, inf}, []float64{0.25, 0.75}},
		"no xs":                 {nil, []float64{1}, []float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, delong.Placements(tt.xs, tt.ys)); diff != "" {
				t.Errorf("placements (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlacementsAreCountedPairs(t *testing.T) {
	values := rapid.SliceOfN(rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 2, math.NaN(), math.Inf(-1), math.Inf(1)}), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		xs, ys := values.Draw(t, "xs"), values.Draw(t, "ys")
		want := make([]float64, len(xs))
		for i, x := range xs {
			for _, y := range ys {
				switch {
				case x > y:
					want[i] += 1 / float64(len(ys))
				case !(x < y):
					want[i] += 0.5 / float64(len(ys))
				}
			}
		}
		if diff := cmp.Diff(want, delong.Placements(xs, ys), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Fatalf("placements (-want +got):\n%s", diff)
		}
	})
}
