package eval_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

func TestSpellingsOfOneFormula(t *testing.T) {
	for canonical, names := range map[string][]string{
		"precision@5":          {"P_5", "p@5", "P@5", "precision@5", "Precision@5"},
		"recall@10":            {"recall_10", "recall@10", "R@10"},
		"set_recall":           {"set_recall"},
		"map":                  {"map", "MAP", "ap"},
		"map@10":               {"map_cut_10", "map@10"},
		"ndcg":                 {"ndcg", "nDCG"},
		"ndcg@10":              {"ndcg_cut_10", "nDCG@10"},
		"mrr":                  {"recip_rank", "mrr", "RR"},
		"success@5":            {"success_5", "success@5", "hit@5"},
		"rprec":                {"Rprec", "rprec"},
		"infap":                {"infAP", "infap"},
		"bpref":                {"bpref"},
		"gm_map":               {"gm_map"},
		"set_P":                {"set_P"},
		"recall@10(grade>=1)":  {"recall@10(grade>=1)", "recall_10(grade>=1)"},
		"rbp(p=0.8)":           {"rbp", "rbp(p=0.8)", "rbp(p=.80)"},
		"rbp(p=0.5,grade>=2)":  {"rbp(p=0.5,grade>=2)", "RBP(grade>=2,p=0.5)"},
		"iprec_at_recall_0.20": {"iprec_at_recall_0.20", "iprec_at_recall_.2"},
		"Rprec_mult_0.001":     {"Rprec_mult_.001"},
		"judged@10":            {"judged@10"},
		"ndcg_exp@3":           {"ndcg_exp@3"},
	} {
		for _, name := range names {
			m, err := eval.ParseMeasure(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if m.Canonical() != canonical || m.Name != name {
				t.Errorf("%s: read as %s, named %s, want %s", name, m.Canonical(), m.Name, canonical)
			}
		}
	}
}

func TestMeasureErrorsPointAtTheCharacter(t *testing.T) {
	for name, want := range map[string]eval.MeasureError{
		"":                    {At: 0, Why: "expected a measure, such as ndcg@10"},
		"ndgc@10":             {At: 0, Why: "no such measure", Near: []string{"ndcg@10"}},
		"dncg":                {At: 0, Why: "no such measure", Near: []string{"ndcg"}},
		"NGCD@5":              {At: 0, Why: "no such measure", Near: []string{"ndcg@5"}},
		"recal@5":             {At: 0, Why: "no such measure", Near: []string{"recall@5"}},
		"recip_rnk":           {At: 0, Why: "no such measure", Near: []string{"recip_rank"}},
		"recall":              {At: 6, Why: "recall needs a cut, such as recall@10"},
		"recall@":             {At: 7, Why: "expected a rank from 1 to 1000000"},
		"recall@0":            {At: 7, Why: "expected a rank from 1 to 1000000"},
		"recall@1x":           {At: 8, Why: "expected a rank from 1 on"},
		"recall@-1":           {At: 7, Why: "expected a rank from 1 on"},
		"bpref@5":             {At: 5, Why: "bpref takes no cut"},
		"P_99999999999999999": {At: 2, Why: "expected a rank from 1 to 1000000"},
		"recall@10(grade>=1":  {At: 18, Why: `expected ")" at the end`},
		"recall@10(grade>=0)": {At: 17, Why: "expected a grade from 1 on"},
		"recall@10(rel>=1)":   {At: 10, Why: "expected grade>=N or SLICE=VALUE"},
		"recall@10()":         {At: 10, Why: "expected grade>=N or SLICE=VALUE"},
		"ndcg@10(grade>=1)":   {At: 8, Why: "ndcg does not look at a least grade"},
		"rbp(p=1)":            {At: 6, Why: "expected a persistence between 0 and 1"},
		"rbp(q)":              {At: 4, Why: "expected grade>=N, p=X or SLICE=VALUE"},
		"recall@5(p=0.5)":     {At: 9, Why: "expected grade>=N or SLICE=VALUE"},
		"judged@5(a b=c)":     {At: 9, Why: "expected SLICE=VALUE"},
		"ndcg(gains=0/1/x)":   {At: 15, Why: "expected the gain of each grade from 0 on, such as 0/1/3/7"},
		"ndcg(gains=1/2)":     {At: 11, Why: "expected 0 as the gain of grade 0"},
		"ndcg(gains=0/3/1)":   {At: 15, Why: "gains must not fall: grade 2 has less than grade 1"},
		"ndcg(gains=0/0)":     {At: 14, Why: "expected a gain above 0"},
		"ndcg_exp(gains=0/1)": {At: 9, Why: "expected SLICE=VALUE"},
		"mrr(tag=)":           {At: 8, Why: `expected a value, in double quotes if it is empty or has one of ,()"`},
		`mrr(tag="x)`:         {At: 8, Why: "expected a value in double quotes"},
		"mrr(tag=a,tag=a)":    {At: 10, Why: "tag=a stands there twice"},
		"iprec_at_recall_2":   {At: 16, Why: "expected a number, such as 0.20"},
	} {
		_, err := eval.ParseMeasure(name)
		var got *eval.MeasureError
		if !errors.As(err, &got) {
			t.Errorf("%q: got %v, want a MeasureError", name, err)
			continue
		}
		want.Name = name
		if want.Near != nil && len(got.Near) > 0 {
			got.Near = got.Near[:1] // the best one
		}
		if diff := cmp.Diff(&want, got, cmp.Transformer("empty", func(s []string) string { return strings.Join(s, ",") })); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

func TestMeasureErrorText(t *testing.T) {
	_, err := eval.ParseMeasures("map, ndgc@10")
	const want = `measure "ndgc@10": character 1: no such measure; near it: ndcg@10`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = eval.ParseMeasure("récall@1x")
	var e *eval.MeasureError
	if errors.As(err, &e) && e.Caret() != "récall@1x\n^" {
		t.Errorf("caret:\n%s", e.Caret())
	}
}

func TestParseMeasures(t *testing.T) {
	measures, err := eval.ParseMeasures("rbp(p=0.5,grade>=2), P_5,precision@5")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range measures {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff([]string{"rbp(p=0.5,grade>=2)", "P_5", "precision@5"}, names); diff != "" {
		t.Error(diff)
	}
	for list, want := range map[string]string{
		"map,map":  `measure "map": character 1: asked for twice`,
		"map,,P_5": `measure "": character 1: expected a measure, such as ndcg@10`,
	} {
		if _, err := eval.ParseMeasures(list); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", list, err, want)
		}
	}
}

func FuzzParseMeasure(f *testing.F) {
	for _, s := range []string{"ndcg@10", "recall@10(grade>=1)", "P_5", "rbp(p=0.5,grade>=2)", "iprec_at_recall_0.20", "(", "@", "ünk@1", "Rprec_mult_1.", "ndcg@3(gains=0/1/3.5)", `p@5(tag="a,(b",x=y)`, "span_iou@3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) { checkMeasure(t, name) })
}

func TestAnyNameIsReadOrRefused(t *testing.T) {
	like := rapid.StringMatching(`(recall|P_|ndcg|rbp|iprec_at_recall_|Rprec_mult_|map)(@?[0-9.]{0,7})(\((grade>=|p=|gains=|tag="?)?[0-9.,x/"]{0,5}\)?)?`)
	rapid.Check(t, func(rt *rapid.T) {
		checkMeasure(rt, rapid.OneOf(like, rapid.String()).Draw(rt, "name"))
	})
}

// checkMeasure holds what is true of any name: an error lies within it, or the
// canonical name means the same and a case gets a number.
func checkMeasure(t interface {
	Errorf(format string, args ...any)
}, name string) {
	m, err := eval.ParseMeasure(name)
	var wrong *eval.MeasureError
	if errors.As(err, &wrong) {
		if wrong.At < 0 || wrong.At > len(name) || wrong.Why == "" || wrong.Name != name || wrong.Error() == "" || wrong.Caret() == "" {
			t.Errorf("%q: error out of place: %+v", name, wrong)
		}
		return
	}
	if err != nil {
		t.Errorf("%q: %T is no MeasureError", name, err)
		return
	}
	again, err := eval.ParseMeasure(m.Canonical())
	again.Name = m.Name
	if again != m {
		t.Errorf("%q: canonical name %q means something else", name, m.Canonical())
	}
	if err != nil || again.Canonical() != m.Canonical() {
		t.Errorf("%q: canonical name %q reads back as %q, %v", name, m.Canonical(), again.Canonical(), err)
	}
	c := eval.Case{
		ID: "q", Ranking: []string{"a", "b"}, Labels: []eval.Label{{ID: "b", Grade: 1}},
		Spans: make([]eval.Span, 2), Background: &eval.Background{Evidence: []eval.Span{{Doc: "d", End: 1}}},
	}
	in := eval.Input{Cases: []eval.Case{c}, Measures: []eval.Measure{m}, MinGrade: 1}
	r, err := eval.Evaluate(in)
	if m.Conditions() != nil && errors.As(err, &wrong) {
		if wrong.At < 0 || wrong.At > len(name) {
			t.Errorf("%q: error out of place: %+v", name, wrong)
		}
		return
	}
	if err != nil || r.Metrics[0].Mean == nil || math.IsNaN(*r.Metrics[0].Mean) {
		t.Errorf("%q: no number: %v", name, err)
	}
}

func TestDefaultMeasures(t *testing.T) {
	var got []string
	for _, m := range eval.DefaultMeasures([]int{1, 10}) {
		if m.Canonical() != m.Name {
			t.Errorf("%s is %s", m.Name, m.Canonical())
		}
		got = append(got, m.Name)
	}
	want := strings.Fields("recall@1 recall@10 precision@1 precision@10 ndcg@1 ndcg@10 mrr@10 judged@10")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
