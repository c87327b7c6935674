package eval_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

// bounded are the measures whose values lie in [0, 1].
var bounded = []string{
	"recall@3", "precision@3", "mrr", "mrr@3", "map", "map@3", "ndcg", "ndcg@3", "ndcg_exp", "ndcg_exp@3",
	"success@3", "judged@3", "rprec", "bpref", "rbp", "rbp_residual", "set_P", "set_recall", "set_F", "set_map",
	"11pt_avg", "ndcg_rel", "Rndcg", "binG", "recall@3(grade>=2)", "infap",
}

// drawCase makes a case with up to 12 labels and a ranking over 20 ids.
func drawCase(t *rapid.T) eval.Case {
	c := eval.Case{ID: "q"}
	grades := rapid.SliceOfN(rapid.IntRange(eval.Unknown, 4), 0, 12).Draw(t, "grades")
	for i, g := range grades {
		c.Labels = append(c.Labels, eval.Label{ID: fmt.Sprint("d", i), Grade: g})
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, 19), 0, 25).Draw(t, "ranking") {
		c.Ranking = append(c.Ranking, fmt.Sprint("d", i))
	}
	return c
}

func TestValuesAreBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCase(rt)
		for name, v := range scoreOne(t, c, bounded, 1) {
			if !(v >= 0 && v <= 1+1e-9) {
				rt.Fatalf("%s = %v", name, v)
			}
		}
	})
}

func TestValuesGrowWithTheCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCase(rt)
		for _, name := range []string{"recall", "mrr", "map", "success"} {
			last := 0.0
			for k := 1; k <= 8; k++ {
				at := fmt.Sprintf("%s@%d", name, k)
				v := scoreOne(t, c, []string{at}, 1)[at]
				if v < last {
					rt.Fatalf("%s = %v after %v", at, v, last)
				}
				last = v
			}
		}
	})
}

func TestNamesOfItemsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCase(rt)
		renamed := eval.Case{ID: "other"}
		for _, l := range c.Labels {
			l.ID = "x/" + l.ID + " #"
			renamed.Labels = append(renamed.Labels, l)
		}
		slices.Reverse(renamed.Labels)
		for _, id := range c.Ranking {
			renamed.Ranking = append(renamed.Ranking, "x/"+id+" #")
		}
		want, got := scoreOne(t, c, bounded, 1), scoreOne(t, renamed, bounded, 1)
		for name := range want {
			if want[name] != got[name] {
				rt.Fatalf("%s: %v and %v", name, want[name], got[name])
			}
		}
	})
}

func TestTheIdealRankingIsOne(t *testing.T) {
	names := []string{"mrr", "map", "ndcg", "ndcg@3", "ndcg_exp", "success@1", "rprec", "bpref", "set_recall", "11pt_avg", "judged@5", "ndcg_rel", "binG"}
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCase(rt)
		c.Labels = append(c.Labels, eval.Label{ID: "sure", Grade: 1})
		slices.SortFunc(c.Labels, func(a, b eval.Label) int { return b.Grade - a.Grade })
		c.Ranking = nil
		for _, l := range c.Labels {
			if l.Grade >= 0 {
				c.Ranking = append(c.Ranking, l.ID)
			}
		}
		for name, v := range scoreOne(t, c, names, 1) {
			if math.Abs(v-1) > 1e-12 {
				rt.Fatalf("%s = %v", name, v)
			}
		}
	})
}

func TestRBPAndItsResidualSumToAtMostOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := scoreOne(t, drawCase(rt), []string{"rbp", "rbp_residual"}, 1)
		if v["rbp"]+v["rbp_residual"] > 1+1e-12 {
			rt.Fatalf("%v", v)
		}
	})
}

func TestUnjudgedResultsDoNotMoveBpref(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCase(rt)
		with := c
		with.Ranking = slices.Clone(c.Ranking)
		for i := range rapid.IntRange(0, 5).Draw(rt, "unjudged") {
			at := rapid.IntRange(0, len(with.Ranking)).Draw(rt, "at")
			with.Ranking = slices.Insert(with.Ranking, at, fmt.Sprint("unseen", i))
		}
		if a, b := scoreOne(t, c, []string{"bpref"}, 1), scoreOne(t, with, []string{"bpref"}, 1); a["bpref"] != b["bpref"] {
			rt.Fatalf("%v and %v", a, b)
		}
	})
}
