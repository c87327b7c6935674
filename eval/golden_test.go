package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
)

func goldenCase() datasets.Case {
	grade := func(g int) *int { return &g }
	p := 0.25
	return datasets.Case{
		ID: "c1", Query: "how long is the notice?", QueryType: datasets.Factual, Category: "hr", Origin: datasets.OriginSynthetic,
		Scope: corpus.Scope{"team": {"hr"}, "user": {"ann"}}, Source: []string{"hr.md#2"}, Tags: []string{"critical", "new"},
		Forbidden: []string{"board.md#0"},
		Judgments: []datasets.Judgment{
			{ChunkID: "hr.md#2", DocID: "hr.md", Grade: grade(3), By: datasets.BySynthetic},
			{ChunkID: "hr.md#2", DocID: "hr.md", Grade: grade(1), By: datasets.ByLLM},
			{ChunkID: "faq.md#0", DocID: "faq.md", P: &p, PDraws: []float64{0.2, 0.3}, By: datasets.ByLabelModel},
			{ChunkID: "old.md#1", DocID: "old.md", By: datasets.ByLLM},
		},
		Evidence:   []datasets.Evidence{{DocID: "hr.md", ChunkID: "hr.md#2", Start: 3, End: 9, Quote: "ninety"}},
		Provenance: datasets.Provenance{Stratum: "hr"}, Status: datasets.Active,
	}
}

func TestFromGolden(t *testing.T) {
	c := goldenCase()
	faq := eval.Label{ID: "faq.md#0", Grade: eval.Unknown, Uncertain: &eval.Probability{P: 0.25, Draws: []float64{0.2, 0.3}}}
	old := eval.Label{ID: "old.md#1", Grade: eval.Unknown}
	want := eval.Case{
		ID: "c1", Labels: []eval.Label{faq, {ID: "hr.md#2", Grade: 3}, old},
		Background: &eval.Background{
			Query: "how long is the notice?", Scope: c.Scope, Tags: c.Tags, Forbidden: []string{"board.md#0"},
			Documents: []string{"hr.md"}, Sections: []string{"Leaving"}, Chunks: []string{"hr.md#2"},
			Evidence: []eval.Span{{Doc: "hr.md", Start: 3, End: 9}},
		},
	}
	section := func(id string) string { return map[string]string{"hr.md#2": "Leaving"}[id] }
	for mode, change := range map[datasets.SourceMode]func(){
		datasets.SourceIn:     func() {},
		datasets.SourceJudged: func() { want.Labels[1].Grade = 1 },
		datasets.SourceOut:    func() { want.Labels, want.Background.Exclude = []eval.Label{faq, old}, []string{"hr.md#2"} },
	} {
		want.Labels, want.Background.Exclude = []eval.Label{faq, {ID: "hr.md#2", Grade: 3}, old}, nil
		change()
		got, asIn := eval.FromGolden(&c, mode, section)
		if diff := cmp.Diff(want, got); diff != "" || asIn {
			t.Errorf("%s: as in %v (-want +got):\n%s", mode, asIn, diff)
		}
	}
}

func TestFromGoldenWithoutAnotherJudgmentOfTheSource(t *testing.T) {
	c := goldenCase()
	c.Judgments = c.Judgments[:1]
	got, asIn := eval.FromGolden(&c, datasets.SourceJudged, nil)
	if !asIn || got.Labels[0].Grade != 3 {
		t.Errorf("read as in: %v, %+v", asIn, got.Labels)
	}
	in := input("mrr", got)
	in.SourceOnly = 1
	if r := evaluate(t, in); r.Conventions.SourceOnly != 1 || !strings.Contains(strings.Join(r.Notes, "\n"), "1 case read as --source in") {
		t.Errorf("not said: %+v %q", r.Conventions, r.Notes)
	}
}

func TestGoldenDimensions(t *testing.T) {
	bare := datasets.Case{ID: "c2"}
	cases := []datasets.Case{goldenCase(), bare}
	got := map[string][2][]string{}
	for _, name := range eval.SliceNames() {
		d, err := eval.GoldenDimension(cases, name)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = [2][]string{d.Values(0), d.Values(1)}
	}
	one := func(s string) []string { return []string{s} }
	want := map[string][2][]string{
		"query_type": {one("factual"), one("")}, "category": {one("hr"), one("")}, "language": {one(""), one("")},
		"origin": {one("synthetic"), one("")}, "style": {one(""), one("")}, "unit": {one(""), one("")}, "stratum": {one("hr"), one("")},
		"difficulty": {one("unranked"), one("unranked")},
		"tag":        {{"critical", "new"}, {}}, "scope": {{"team", "user"}, {}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err := eval.GoldenDimension(cases, "colour")
	if err == nil || !strings.HasPrefix(err.Error(), `slice by "colour": want one of query_type, category`) {
		t.Errorf("got %v", err)
	}
}
