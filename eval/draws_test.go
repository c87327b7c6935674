package eval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/goldgen/goldgen/eval"
)

// maybe returns "a", which is relevant with probability p, before nothing; "b"
// is relevant for sure and not returned.
func maybe(id string, p float64, draws ...float64) eval.Case {
	return eval.Case{
		ID: id, Ranking: []string{"a"},
		Labels: []eval.Label{
			{ID: "a", Grade: eval.Unknown, Uncertain: &eval.Probability{P: p, Draws: draws}},
			{ID: "b", Grade: 3},
		},
	}
}

func many(n int, p float64, draws ...float64) []eval.Case {
	cases := make([]eval.Case, n)
	for i := range cases {
		cases[i] = maybe(fmt.Sprint("q", i), p, draws...)
	}
	return cases
}

func metricOf(t *testing.T, in eval.Input, name string) eval.Metric {
	t.Helper()
	m, ok := evaluate(t, in).Metrics.Get(name)
	if !ok || m.Mean == nil {
		t.Fatalf("%s has no mean", name)
	}
	return m
}

func TestProbabilitiesAreDrawn(t *testing.T) {
	// 20 draws of 2,000 labels: the standard error of the mean is .0023.
	m := metricOf(t, input("success@1", many(2000, 0.3)...), "success@1")
	if math.Abs(*m.Mean-0.3) > 0.01 || m.N != 2000 {
		t.Errorf("success@1 = %v of %d, want .3 of 2000", *m.Mean, m.N)
	}
	// p_draws win over p: half of the draws find it, the others do not.
	draws := append(slices.Repeat([]float64{1}, 10), slices.Repeat([]float64{0}, 10)...)
	m = metricOf(t, input("recall@1", many(50, 0.1, draws...)...), "recall@1")
	if *m.Mean != 0.25 { // mean of 1/2 and 0
		t.Errorf("recall@1 = %v, want .25", *m.Mean)
	}
}

func TestVarianceBetweenDraws(t *testing.T) {
	// In ten draws every case scores 1, in ten 0: W = 0 and B = 10/19 * 1/2 * 1/2
	// * 20/10 = 5/19; T = 21/20 * 5/19. The share of T that is between draws is 1,
	// so the degrees of freedom are 19 * 1 and complete ones times 0: none.
	draws := append(slices.Repeat([]float64{1}, 10), slices.Repeat([]float64{0}, 10)...)
	m := metricOf(t, input("success@1", many(50, 0.5, draws...)...), "success@1")
	if *m.Low != 0 || *m.High != 1 {
		t.Errorf("[%v, %v], want all of [0, 1]", *m.Low, *m.High)
	}
}

func TestUncertaintyWidensTheInterval(t *testing.T) {
	width := func(cases []eval.Case) float64 {
		m := metricOf(t, input("recall@1", cases...), "recall@1")
		return *m.High - *m.Low
	}
	certain := many(100, 0)
	for i := range certain {
		certain[i].Labels[0].Uncertain.P = float64(i % 2)
	}
	shared := make([]float64, 20) // the label model is sure of nothing: all labels move together
	for i := range shared {
		shared[i] = 0.3 + 0.02*float64(i)
	}
	if a, b := width(certain), width(many(100, 0.5, shared...)); b < 1.5*a {
		t.Errorf("certain labels %v wide, uncertain ones %v", a, b)
	}
}

func TestDrawsDependOnSeedCaseAndItemAlone(t *testing.T) {
	cases := many(40, 0.5)
	in := input("recall@1", cases...)
	in.Seed = 3
	value := func(in eval.Input, id string) float64 {
		for row := range evaluate(t, in).Rows() {
			if row.CaseID == id {
				v, _ := row.Metrics.Get("recall@1")
				return v
			}
		}
		return math.NaN()
	}
	want := value(in, "q7")
	few := input("recall@1", cases[7], cases[3])
	few.Seed = 3
	slices.Reverse(few.Cases[0].Labels)
	if got := value(few, "q7"); got != want {
		t.Errorf("among other cases %v, was %v", got, want)
	}
	all := func(in eval.Input) string {
		r := evaluate(t, in)
		r.AddCases()
		return string(must(json.Marshal(r.Cases)))
	}
	other := in
	other.Seed = 4
	first, again := all(in), all(in)
	if first != again {
		t.Error("the same seed gives other draws")
	}
	if first == all(other) {
		t.Error("another seed gives the same draws")
	}
}

func TestCaseWithNothingRelevantInADraw(t *testing.T) {
	// The only label has p .5: found in the draws that it is relevant in, left
	// out of the others, so every draw that counts scores 1.
	cases := many(200, 0.5)
	for i := range cases {
		cases[i].Labels = cases[i].Labels[:1]
	}
	r := evaluate(t, input("recall@1,ndcg@1", cases...))
	m, _ := r.Metrics.Get("recall@1")
	if *m.Mean != 1 || m.N < 80 || m.N > 120 {
		t.Errorf("recall@1 = %v of %d, want 1 of about 100", *m.Mean, m.N)
	}
	if r.Counts.Scored != 200 {
		t.Errorf("scored %d of 200", r.Counts.Scored)
	}
}

func TestSureProbabilitiesAreGrades(t *testing.T) {
	cases := []eval.Case{maybe("yes", 1), maybe("no", 0, 0, 0)}
	r := evaluate(t, input("recall@1,ndcg_exp@1", cases...))
	m, _ := r.Metrics.Get("recall@1") // 1/2 and 0
	if *m.Mean != 0.25 || r.Conventions.Labels != "certain" {
		t.Errorf("recall@1 = %v with labels %s", *m.Mean, r.Conventions.Labels)
	}
}

func TestMeasuresThatNeedGradesAreRefused(t *testing.T) {
	for names, want := range map[string]string{
		"ndcg_exp@10":         `measure "ndcg_exp@10": character 1: it needs grades, but labels of this set are probabilities`,
		"recall@10(grade>=3)": `measure "recall@10(grade>=3)": character 11: labels of this set are probabilities of grade >= 2, no other threshold can be read`,
		"recall@10(grade>=2)": "",
		"ndcg@10":             "",
	} {
		_, err := eval.Evaluate(input(names, maybe("q", 0.5)))
		if got := fmt.Sprint(err); (err == nil) != (want == "") || (err != nil && got != want) {
			t.Errorf("%s: got %v, want %q", names, err, want)
		}
	}
}

func TestGradesStayFixedBesideProbabilities(t *testing.T) {
	c := maybe("q", 0.5)
	c.Ranking = []string{"b"}
	c.Labels = append(c.Labels, eval.Label{ID: "low", Grade: 1}, eval.Label{ID: "unknown", Grade: eval.Unknown})
	m := metricOf(t, input("success@1", c), "success@1")
	if *m.Mean != 1 {
		t.Errorf("success@1 = %v", *m.Mean)
	}
	c.Ranking = []string{"low", "unknown"}
	if m = metricOf(t, input("success@5", c), "success@5"); *m.Mean != 0 {
		t.Errorf("success@5 of a grade below the relevant one = %v", *m.Mean)
	}
}
