package eval_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

// topScored makes one case for each top score; below zero stands for no result.
func topScored(answerable, abstaining []float64) []eval.Case {
	var cases []eval.Case
	add := func(score float64, abstain bool) {
		c := eval.Case{ID: fmt.Sprint("q", len(cases)), Abstain: abstain, Labels: []eval.Label{{ID: "a", Grade: 3}}}
		if score >= 0 {
			c.Ranking, c.Scores = []string{"a"}, []float64{score}
		}
		cases = append(cases, c)
	}
	for _, s := range answerable {
		add(s, false)
	}
	for _, s := range abstaining {
		add(s, true)
	}
	return cases
}

func thresholdOf(t testing.TB, answerable, abstaining []float64, target float64) *eval.Threshold {
	in := input("mrr", topScored(answerable, abstaining)...)
	in.FalseAnswers = &target
	return evaluate(t, in).Abstention.Threshold
}

// A hundred cases that expect abstention score 1 to 100. How many lie below the
// .95 quantile is Bin(100, .95): fewer than 90 with a chance of .0115 (91: .0282),
// 100 with one of .0059 (99 or more: .0371). So ranks 90 and 100 are the ends.
func TestThresholdOfAHundredCases(t *testing.T) {
	var abstaining []float64
	for i := range 100 {
		abstaining = append(abstaining, float64(i+1))
	}
	got := thresholdOf(t, []float64{200, 96, 95.5, 3}, abstaining, 0.05)
	low, high := 90.0, 100.0
	want := &eval.Threshold{Target: 0.05, Value: 95.5, Low: &low, High: &high, FalseAnswer: 0.05,
		FalseAnswerLow: 0.0164, FalseAnswerHigh: 0.1128, AnswerRate: 0.75, Method: got.Method}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 5e-5)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestThresholds(t *testing.T) {
	for _, test := range []struct {
		name                   string
		answerable, abstaining []float64
		target                 float64
		want                   string
	}{
		{"nothing may be wrong", []float64{5, 9}, []float64{6, 2}, 0, "9 0 0.5"},
		{"all may be wrong", []float64{5, 9}, []float64{6, 2}, 1, "2 1 1"},
		{"half may be wrong", []float64{5, 9}, []float64{6, 2}, 0.5, "5 0.5 1"},
		{"equal scores are wrong together", []float64{5, 9}, []float64{6, 6, 2}, 0.4, "9 0 0.5"},
		{"no score is above", []float64{1}, []float64{6}, 0, "6.000000000000001 0 0"},
		{"those without a result abstain", []float64{5}, []float64{-1, -1}, 0, "5 0 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			th := thresholdOf(t, test.answerable, test.abstaining, test.target)
			if got := fmt.Sprint(th.Value, th.FalseAnswer, th.AnswerRate); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if th := thresholdOf(t, []float64{-1}, []float64{-1}, 0); th != nil {
		t.Errorf("without any result: %+v", th)
	}
}

// The threshold keeps the declared rate, and none lower that was seen does.
func TestThresholdKeepsTheRate(t *testing.T) {
	score := rapid.Map(rapid.IntRange(-1, 12), func(n int) float64 { return float64(n) })
	rapid.Check(t, func(rt *rapid.T) {
		answerable := rapid.SliceOfN(score, 1, 20).Draw(rt, "answerable")
		abstaining := rapid.SliceOfN(score, 1, 20).Draw(rt, "abstaining")
		target := rapid.Float64Range(0, 1).Draw(rt, "target")
		th := thresholdOf(t, answerable, abstaining, target)
		if th == nil {
			return
		}
		rate := func(at float64) float64 {
			n := 0.0
			for _, s := range abstaining {
				if s >= at {
					n++
				}
			}
			return n / float64(len(abstaining))
		}
		if rate(th.Value) > target+1e-9 || th.FalseAnswer != rate(th.Value) {
			rt.Fatalf("%v gives %v", th.Value, rate(th.Value))
		}
		for _, s := range append(answerable, abstaining...) {
			if s >= 0 && s < th.Value && rate(s) <= target {
				rt.Fatalf("%v, and %v would do", th.Value, s)
			}
		}
	})
}

// Over samples of 200 the interval holds the true quantile at least 95 times in
// a hundred (it is conservative; 930 of 1,000 is three standard errors below).
func TestThresholdIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range 1000 {
		var abstaining []float64
		for range 200 {
			abstaining = append(abstaining, random.Float64())
		}
		th := thresholdOf(t, []float64{1}, abstaining, 0.05)
		if th.Low != nil && th.High != nil && *th.Low <= 0.95 && 0.95 <= *th.High {
			covered++
		}
	}
	if covered < 930 {
		t.Errorf("%d of 1,000 intervals hold the quantile", covered)
	}
}
