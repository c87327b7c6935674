package eval_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

func TestApart(t *testing.T) {
	second := 1 / math.Log2(3)
	for name, c := range map[string]struct {
		a, b []string
		k    int
		want float64
	}{
		"the same":               {[]string{"x", "y"}, []string{"x", "y"}, 2, 0},
		"nothing in common":      {[]string{"x", "y"}, []string{"u", "v"}, 2, 1},
		"nothing on one side":    {[]string{"x", "y"}, nil, 2, 1},
		"nothing at all":         {nil, nil, 2, 0},
		"swapped":                {[]string{"x", "y"}, []string{"y", "x"}, 2, (1 - second) / (1 + second)},
		"the second differs":     {[]string{"x", "y"}, []string{"x", "z"}, 2, second / (1 + second)},
		"the same above the cut": {[]string{"x", "y"}, []string{"x", "z"}, 1, 0},
		"ten without a cut": {
			[]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "x"}, 0, 0,
		},
	} {
		got := eval.Apart([]eval.Case{{Ranking: c.a}, {}}, []eval.Case{{Ranking: c.b}, {}}, c.k)
		if math.Abs(got-c.want/2) > 1e-12 {
			t.Errorf("%s: %v over this case and one without results, want %v", name, got, c.want/2)
		}
	}
}

func TestApartIsADistance(t *testing.T) {
	ranking := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h"})
	rapid.Check(t, func(t *rapid.T) {
		var cases [3][]eval.Case
		for i := range cases {
			cases[i] = []eval.Case{{Ranking: ranking.Draw(t, "ranking")[:5]}}
		}
		k := rapid.IntRange(1, 6).Draw(t, "k")
		ab, ba := eval.Apart(cases[0], cases[1], k), eval.Apart(cases[1], cases[0], k)
		ac, bc := eval.Apart(cases[0], cases[2], k), eval.Apart(cases[1], cases[2], k)
		if ab < 0 || ab > 1 || math.Abs(ab-ba) > 1e-12 || ab > ac+bc+1e-12 {
			t.Fatalf("%v, %v the other way round; over another ranking %v and %v", ab, ba, ac, bc)
		}
	})
}
