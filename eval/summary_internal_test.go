package eval

import (
	"math"
	"testing"
)

// Worked by hand: W .01, B .02, m 20, 50 clusters.
func TestBarnardRubin(t *testing.T) {
	variance, df := pooled{draws: 20, clusters: 50, within: 0.01, between: 0.02}.total()
	if math.Abs(variance-0.031) > 1e-12 || math.Abs(df-11.1175) > 1e-3 {
		t.Errorf("variance %v, df %v, want .031 and 11.1175", variance, df)
	}
	variance, df = pooled{draws: 20, clusters: 50, within: 0.01, between: 0.02, shift: 0.004}.total()
	if math.Abs(variance-0.035) > 1e-12 || math.Abs(df-13.8872) > 1e-3 {
		t.Errorf("with a shift: variance %v, df %v, want .035 and 13.8872", variance, df)
	}
	variance, df = pooled{draws: 1, clusters: 50, within: 0.01}.total()
	if variance != 0.01 || df != 49 {
		t.Errorf("one draw: variance %v, df %v", variance, df)
	}
}

func TestPool(t *testing.T) {
	p := pool([]moments{
		{n: 10, clusters: 10, mean: 0.2, variance: 0.01},
		{n: 11, clusters: 11, mean: 0.4, variance: 0.03},
		{n: 0, mean: math.NaN(), variance: math.NaN()}, // a draw in which nothing is relevant
	})
	if p.n != 7 || math.Abs(p.mean-0.3) > 1e-12 || math.Abs(p.within-0.02) > 1e-12 || math.Abs(p.between-0.02) > 1e-12 {
		t.Errorf("%+v", p)
	}
}
