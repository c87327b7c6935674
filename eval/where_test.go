package eval_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/eval"
)

// sliced is three cases, found at ranks 1, 2 and 4, in categories billing,
// billing and "a,b", with tags x; x and y; none.
func sliced(measures string) eval.Input {
	in := input(measures, found("a", 1), found("b", 2), found("c", 4))
	categories := []string{"billing", "billing", "a,b"}
	tags := [][]string{{"x"}, {"x", "y"}, nil}
	in.Slicing = []eval.Dimension{
		eval.NewDimension("category", 3, func(i int) []string { return categories[i : i+1] }),
		eval.NewDimension("tag", 3, func(i int) []string { return tags[i] }),
	}
	return in
}

func TestConditions(t *testing.T) {
	for measure, want := range map[string]string{
		"mrr":                         "0.5833 of 3",
		"mrr(category=billing)":       "0.7500 of 2",
		`mrr(category="a,b")`:         "0.2500 of 1",
		"mrr(tag=y,category=billing)": "0.5000 of 1",
		"p@2(grade>=2,tag=x)":         "0.5000 of 2",
		"ndcg@2(tag=y)":               "0.6309 of 1",
		"rbp(p=0.5,tag=y)":            "0.2500 of 1",
		"num_rel_ret(tag=x)":          "2.0000 of 2",
		"gm_map(category=billing)":    "0.7071 of 2",
	} {
		m := evaluate(t, sliced(measure)).Metrics[0]
		if got := fmt.Sprintf("%.4f of %d", *m.Mean, m.N); got != want {
			t.Errorf("%s: got %s, want %s", measure, got, want)
		}
	}
	// No case has both.
	if m := evaluate(t, sliced(`mrr(tag=y,category="a,b")`)).Metrics[0]; m.Mean != nil || m.N != 0 {
		t.Errorf("%+v", m)
	}
	r := evaluate(t, sliced("mrr(tag=x)"))
	for row := range r.Rows() {
		if _, has := row.Metrics.Get("mrr(tag=x)"); has != (row.CaseID != "c") {
			t.Errorf("case %s: has a value: %v", row.CaseID, has)
		}
	}
}

func TestConditionsThatNoCaseMeets(t *testing.T) {
	for measure, want := range map[string]string{
		"p@1(categry=billing)":  `measure "p@1(categry=billing)": character 5: cases are not sliced by "categry"; near it: category`,
		"p@1(category=biling)":  `measure "p@1(category=biling)": character 14: no case has the category "biling"; near it: billing`,
		"p@1(tag=x,tag=nosuch)": `measure "p@1(tag=x,tag=nosuch)": character 15: no case has the tag "nosuch"; near it: x, y`,
	} {
		_, err := eval.Evaluate(sliced(measure))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestCustomGains(t *testing.T) {
	c := eval.Case{ID: "q", Labels: []eval.Label{{ID: "a", Grade: 3}, {ID: "b", Grade: 1}, {ID: "c", Grade: 2}}, Ranking: []string{"b", "a", "x", "c"}}
	got := means(t, input("ndcg@3(gains=0/1/3/7),ndcg_exp@3,ndcg@3(gains=0/1/2/3),ndcg@3,ndcg@3(gains=0/0/0/1)", c))
	want := map[string]float64{
		"ndcg@3(gains=0/1/3/7)": got["ndcg_exp@3"], "ndcg_exp@3": got["ndcg_exp@3"],
		"ndcg@3(gains=0/1/2/3)": got["ndcg@3"], "ndcg@3": got["ndcg@3"],
		"ndcg@3(gains=0/0/0/1)": 0.6309297535714575, // 1 / log2(3)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err := eval.Evaluate(input("ndcg(gains=0/1/3)", c))
	const refused = `measure "ndcg(gains=0/1/3)": character 6: gains end at grade 2, and case q has a label of grade 3 for "a"`
	if err == nil || err.Error() != refused {
		t.Errorf("got %v, want %s", err, refused)
	}
	c.Labels[0].Uncertain = &eval.Probability{P: 0.5}
	if _, err = eval.Evaluate(input("ndcg(gains=0/1/3/7)", c)); err == nil {
		t.Error("gains over labels that are probabilities were taken")
	}
	var wrong *eval.MeasureError
	if _, err := eval.ParseMeasure("ndcg@3(gains=0/1/"); !errors.As(err, &wrong) || wrong.At != 17 {
		t.Errorf("%v", err)
	}
}
