package eval_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

// tieMeasures all have exact bounds; hasExpectation those with a closed form.
var (
	tieMeasures = []string{
		"recall@3", "precision@2", "success@2", "mrr", "mrr@2", "map", "map@3", "ndcg", "ndcg@3", "ndcg_exp@2",
		"judged@2", "unj_2", "rprec", "Rprec_mult_0.50", "bpref", "rbp(p=0.5)", "rbp_residual(p=0.5)", "set_P", "set_recall",
		"set_F", "set_map", "set_relative_P", "relative_P_2", "iprec_at_recall_0.50", "11pt_avg", "binG", "ndcg_rel", "Rndcg",
		"utility", "recall@2(grade>=2)",
	}
	hasExpectation = []string{
		"recall@3", "precision@2", "success@2", "mrr", "mrr@2", "map", "map@3", "ndcg", "ndcg@3", "ndcg_exp@2",
		"judged@2", "rprec", "rbp(p=0.5)", "relative_P_2", "recall@2(grade>=2)", "set_P", "utility",
	}
)

// drawTied makes a case of up to six results whose scores are often equal.
func drawTied(t *rapid.T) eval.Case {
	c := eval.Case{ID: "q"}
	for i, g := range rapid.SliceOfN(rapid.IntRange(eval.Unknown, 3), 1, 6).Draw(t, "grades") {
		c.Labels = append(c.Labels, eval.Label{ID: fmt.Sprint("d", i), Grade: g})
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 8), 1, 6, rapid.ID).Draw(t, "ranking") {
		c.Ranking = append(c.Ranking, fmt.Sprint("d", i))
		c.Scores = append(c.Scores, float64(rapid.IntRange(0, 2).Draw(t, "score")))
	}
	slices.SortFunc(c.Scores, func(a, b float64) int { return int(b - a) })
	return c
}

// orders calls f with every order of the results in which scores fall.
func orders(c eval.Case, at int, f func(eval.Case)) {
	if at == len(c.Ranking) {
		f(c)
		return
	}
	for j := at; j < len(c.Ranking) && c.Scores[j] == c.Scores[at]; j++ {
		next := c
		next.Ranking = slices.Clone(c.Ranking)
		next.Ranking[at], next.Ranking[j] = next.Ranking[j], next.Ranking[at]
		orders(next, at+1, f)
	}
}

func TestTieBoundsAreThoseOfAllOrders(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawTied(rt)
		least, most, sum, n := map[string]float64{}, map[string]float64{}, map[string]float64{}, 0.0
		orders(c, 0, func(o eval.Case) {
			n++
			for name, v := range scoreOne(t, o, tieMeasures, 1) {
				if n == 1 {
					least[name], most[name] = v, v
				}
				least[name], most[name], sum[name] = min(least[name], v), max(most[name], v), sum[name]+v
			}
		})
		for _, m := range scoreTied(t, c).Metrics {
			if math.Abs(*m.Least-least[m.Name]) > 1e-9 || math.Abs(*m.Most-most[m.Name]) > 1e-9 {
				rt.Fatalf("%s: %v to %v, want %v to %v\n%+v", m.Name, *m.Least, *m.Most, least[m.Name], most[m.Name], c)
			}
			if m.Expected == nil && slices.Contains(hasExpectation, m.Name) {
				rt.Fatalf("%s: no expectation", m.Name)
			}
			if m.Expected != nil && math.Abs(*m.Expected-sum[m.Name]/n) > 1e-9 {
				rt.Fatalf("%s: expected %v, want %v\n%+v", m.Name, *m.Expected, sum[m.Name]/n, c)
			}
		}
	})
}

func scoreTied(t testing.TB, c eval.Case) *eval.Result {
	var measures []eval.Measure
	for _, name := range tieMeasures {
		measures = append(measures, must(eval.ParseMeasure(name)))
	}
	return evaluate(t, eval.Input{Cases: []eval.Case{c}, Measures: measures, MinGrade: 1, KeepEmpty: true})
}

// tieFigures are the parts of a metric that ties make.
type tieFigures struct {
	Mean, Least, Most, Expected string
	TiedAtCut                   int
}

func tiesOf(t testing.TB, in eval.Input) []tieFigures {
	t.Helper()
	show := func(p *float64) string {
		if p == nil {
			return "none"
		}
		return fmt.Sprintf("%.4f", *p)
	}
	var out []tieFigures
	for _, m := range evaluate(t, in).Metrics {
		out = append(out, tieFigures{show(m.Mean), show(m.Least), show(m.Most), show(m.Expected), m.TiedAtCut})
	}
	return out
}

func TestTies(t *testing.T) {
	tied := eval.Case{ID: "tied", Labels: []eval.Label{{ID: "d1", Grade: 2}}, Ranking: []string{"d2", "d1"}, Scores: []float64{1, 1}}
	clear := eval.Case{ID: "clear", Labels: []eval.Label{{ID: "d1", Grade: 2}}, Ranking: []string{"d1", "d2"}, Scores: []float64{2, 1}}
	noScores := eval.Case{ID: "none", Labels: clear.Labels, Ranking: clear.Ranking}
	same := eval.Case{ID: "same", Labels: clear.Labels, Ranking: []string{"d1", "x", "y"}, Scores: []float64{2, 1, 1}}
	repeated := tied
	repeated.Ranking, repeated.Scores = []string{"d2", "d2", "d1"}, []float64{1, 1, 0.5}
	for _, test := range []struct {
		name     string
		measures string
		cases    []eval.Case
		want     []tieFigures
	}{
		{"a tie", "mrr,recall@1,recall@2", []eval.Case{tied}, []tieFigures{
			{"0.5000", "0.5000", "1.0000", "0.7500", 0}, {"0.0000", "0.0000", "1.0000", "0.5000", 1}, {"1.0000", "1.0000", "1.0000", "1.0000", 0},
		}},
		{"beside a case without one", "mrr", []eval.Case{tied, clear}, []tieFigures{{"0.7500", "0.7500", "1.0000", "0.8750", 0}}},
		{"equal labels in a tie", "mrr,p@2", []eval.Case{same}, []tieFigures{{"1.0000", "1.0000", "1.0000", "1.0000", 0}, {"0.5000", "0.5000", "0.5000", "0.5000", 1}}},
		{"a repeated id is no tie", "mrr", []eval.Case{repeated}, []tieFigures{{"0.5000", "0.5000", "0.5000", "0.5000", 0}}},
		{"no scores", "mrr", []eval.Case{tied, noScores}, []tieFigures{{"0.7500", "none", "none", "none", 0}}},
		{"no bound", "infAP,G", []eval.Case{tied}, []tieFigures{{"0.5000", "none", "none", "none", 0}, {"0.6309", "none", "none", "none", 0}}},
		{"a geometric mean", "gm_map", []eval.Case{tied, clear}, []tieFigures{{"0.7071", "0.7071", "1.0000", "none", 0}}},
		{"a total", "num_rel_ret", []eval.Case{tied, clear}, []tieFigures{{"2.0000", "2.0000", "2.0000", "2.0000", 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(test.measures, test.cases...)
			if diff := cmp.Diff(test.want, tiesOf(t, in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A constant scorer ties everything: whatever its order, the least and the
// expected MRR show that it knows nothing.
func TestConstantScorerHasNoFirstPlace(t *testing.T) {
	c := eval.Case{ID: "q", Labels: []eval.Label{{ID: "d0", Grade: 2}}}
	for i := range 10 {
		c.Ranking, c.Scores = append(c.Ranking, fmt.Sprint("d", i)), append(c.Scores, 1)
	}
	want := []tieFigures{{"1.0000", "0.1000", "1.0000", "0.2929", 0}} // the tenth harmonic number / 10
	if diff := cmp.Diff(want, tiesOf(t, input("mrr", c))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTiesUnderDrawnLabels(t *testing.T) {
	c := eval.Case{
		ID: "q", Ranking: []string{"d2", "d1"}, Scores: []float64{1, 1},
		Labels: []eval.Label{{ID: "d1", Grade: 2}, {ID: "d2", Grade: eval.Unknown, Uncertain: &eval.Probability{P: 0.5}}},
	}
	in := input("mrr", c)
	in.Seed = 7
	m := evaluate(t, in).Metrics[0]
	// d2 relevant: 1 in every order; else as without draws: .5 to 1.
	share := 2 * (*m.Mean - 0.5)
	want := []float64{*m.Mean, 1, share + (1-share)*0.75}
	got := []float64{*m.Least, *m.Most, *m.Expected}
	for i := range want {
		if math.Abs(want[i]-got[i]) > 1e-12 || share <= 0 || share >= 1 {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestTiesOfASlice(t *testing.T) {
	tied := eval.Case{ID: "tied", Labels: []eval.Label{{ID: "d1", Grade: 2}}, Ranking: []string{"d2", "d1"}, Scores: []float64{1, 1}}
	clear := tied
	clear.ID, clear.Scores = "clear", []float64{2, 1}
	in := input("mrr", tied, clear)
	in.Dimensions = []eval.Dimension{eval.NewDimension("by", 2, func(i int) []string { return []string{fmt.Sprint(i)} })}
	var got []float64
	for _, s := range evaluate(t, in).Slices.Get("by") {
		got = append(got, *s.Metrics[0].Least, *s.Metrics[0].Most)
	}
	if diff := cmp.Diff([]float64{0.5, 1, 0.5, 0.5}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
