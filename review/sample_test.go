package review_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review"
)

func everyChunk(string) bool { return true }

func TestPoolIsWhatAPersonCanStillGrade(t *testing.T) {
	set := goldenSet(
		[]datasets.Judgment{modelled("d1", .5), modelled("d0", .2), graded("d0", 1, nil), datasets.SourceJudgment("d2", "d2")},
		[]datasets.Judgment{modelled("d3", .5), {ChunkID: "d3", By: datasets.ByHuman, Grade: pointer(2)}, modelled("gone", .5)},
		[]datasets.Judgment{modelled("d4", .5)},
		[]datasets.Judgment{modelled("d5", .5)},
	)
	set.Cases[2].Status, set.Cases[3].Status = datasets.Retired, datasets.NeedsReview
	got := review.Pool(set, func(id string) bool { return id != "gone" })
	want := []review.Pair{pair("c0 d0"), pair("c0 d1"), pair("c0 d2"), pair("c3 d5")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func bigPool(n int) []review.Pair {
	pool := make([]review.Pair, n)
	for i := range pool {
		pool[i] = review.Pair{CaseID: fmt.Sprintf("c%03d", i/4), ChunkID: fmt.Sprintf("d%d", i%4)}
	}
	return pool
}

// The weights are those of Horvitz and Thompson: summed over the sample, the
// inverse chances give the pool.
func TestWeightsOfASampleSumToThePool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := bigPool(rapid.IntRange(1, 300).Draw(t, "pool"))
		n := rapid.IntRange(1, 400).Draw(t, "n")
		var worths []review.Worth
		for _, p := range pool[:rapid.IntRange(0, len(pool)).Draw(t, "worthy")] {
			worths = append(worths, review.Worth{Pair: p, Worth: rapid.Float64Range(0, 1).Draw(t, "worth")})
		}
		s, err := review.Draw("uncertain", pool, worths, n, rapid.Int64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		sum, seen := 0.0, map[review.Pair]bool{}
		for _, d := range s.Pairs {
			if seen[d.Pair] || d.Inclusion <= 0 || d.Inclusion > 1 {
				t.Fatalf("pair %+v is there twice, or has no chance", d)
			}
			seen[d.Pair] = true
			sum += 1 / d.Inclusion
		}
		if len(s.Pairs) != min(n, len(pool)) || s.Pool != len(pool) {
			t.Fatalf("%d pairs of %d, want %d of %d", len(s.Pairs), s.Pool, min(n, len(pool)), len(pool))
		}
		random := 0
		for _, d := range s.Pairs {
			if d.Inclusion < 1 {
				random++
			}
		}
		if n < len(pool) && (random < (n+2)/3 || math.Abs(sum-float64(len(pool))) > 1e-6*float64(len(pool))) {
			t.Fatalf("%d of %d are drawn, weights sum to %v of %d", random, n, sum, len(pool))
		}
	})
}

func TestASampleIsTheSameForEverybodyAndAnotherForAnotherSeed(t *testing.T) {
	pool := bigPool(200)
	draw := func(seed int64) review.Sample {
		s, err := review.Draw("random", pool, nil, 30, seed)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if diff := cmp.Diff(draw(7), draw(7)); diff != "" {
		t.Errorf("drawn twice:\n%s", diff)
	}
	if cmp.Equal(draw(7), draw(8)) {
		t.Error("another seed draws the same")
	}
}

func TestWorthyPairsComeFirstAndWithRandomOnesBetween(t *testing.T) {
	pool := bigPool(100)
	worths := []review.Worth{{Pair: pool[3], Worth: .1}, {Pair: pool[9], Worth: .3}, {Pair: pool[5], Worth: .2}, {Pair: pool[7], Worth: .3}, {Pair: pool[1]}}
	s, err := review.Draw("uncertain", pool, worths, 6, 7)
	if err != nil {
		t.Fatal(err)
	}
	var chances []float64
	var certain []review.Pair
	for _, d := range s.Pairs {
		chances = append(chances, d.Inclusion)
		if d.Inclusion == 1 {
			certain = append(certain, d.Pair)
		}
	}
	chance := 2.0 / 96
	if diff := cmp.Diff([]float64{1, 1, chance, 1, 1, chance}, chances); diff != "" {
		t.Errorf("chances (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]review.Pair{pool[7], pool[9], pool[5], pool[3]}, certain); diff != "" {
		t.Errorf("worthy pairs (-want +got):\n%s", diff)
	}
}

func TestNothingLeftToLabel(t *testing.T) {
	if _, err := review.Draw("random", nil, nil, 10, 7); !errors.Is(err, review.ErrNothingToLabel) {
		t.Errorf("error %v, want ErrNothingToLabel", err)
	}
}

func TestWhatEachSampleHoldsWorthy(t *testing.T) {
	source := graded("d0", 0, nil)
	set := goldenSet(
		[]datasets.Judgment{modelled("d0", .5), modelled("d1", .9), modelled("d2", 1), graded("d3", 2, nil)},
		[]datasets.Judgment{
			modelled("d0", .9), graded("d0", 0, map[string]float64{"expected_grade": .3}),
			modelled("d1", .4), graded("d1", 3, map[string]float64{"p_yes": .5}),
			modelled("d2", .2), graded("d2", 3, nil),
			graded("d3", 1, map[string]float64{"disagreement": .7, "rank_bm25": 2, "rank_lsa": 40, "score_bm25": 9}),
		},
		[]datasets.Judgment{datasets.SourceJudgment("d0", "d0"), source, graded("d1", 3, nil), graded("d2", 1, nil), modelled("d3", .3)},
	)
	set.Cases[2].Status, set.Cases[2].Source = datasets.NeedsReview, []string{"d0"}
	pool := review.Pool(set, everyChunk)
	for name, want := range map[string]map[string]float64{
		"random":       {},
		"uncertain":    {"c0 d0": .25, "c0 d1": .09, "c1 d0": .09, "c1 d1": .24, "c1 d2": .16, "c2 d3": .21},
		"top":          {"c1 d3": .026129}, // 1/62 + 1/100
		"disagreement": {"c1 d0": .8, "c1 d1": .1, "c1 d2": .8, "c1 d3": .7},
		"needs_review": {"c2 d0": 2, "c2 d1": 1, "c2 d2": 0, "c2 d3": .3},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]float64{}
			for _, w := range review.Worths(name, set, pool) {
				got[w.CaseID+" "+w.ChunkID] = math.Round(w.Worth*1e6) / 1e6
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
