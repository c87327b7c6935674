package judge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

func abstaining(id, queryType string, judgments ...datasets.Judgment) datasets.Case {
	return datasets.Case{
		ID: id, Query: "may the pump run dry", QueryType: queryType, Origin: datasets.OriginSynthetic, Status: datasets.Active,
		ExpectedAbstention: true, Judgments: judgments, Provenance: datasets.Provenance{Stratum: "all"},
	}
}

func TestProveAbstention(t *testing.T) {
	llm := func(doc string, grade int) datasets.Judgment { return said(doc, datasets.ByLLM, 1, grade, -1) }
	model := func(doc string, p float64) datasets.Judgment { return said(doc, datasets.ByLabelModel, 1, -1, p) }
	person := func(doc string, grade int) datasets.Judgment { return said(doc, datasets.ByHuman, 0, grade, -1) }
	for name, test := range map[string]struct {
		queryType string
		judgments []datasets.Judgment
		passed    bool
		want      string // reason, "" where it is kept
	}{
		"a judge that passed finds nothing":      {datasets.OutOfScope, []datasets.Judgment{llm("a", 0), llm("b", 1)}, true, ""},
		"a judge that passed finds an answer":    {datasets.OutOfScope, []datasets.Judgment{llm("a", 0), llm("b", 2)}, true, "answered_elsewhere"},
		"a judge that did not pass":              {datasets.OutOfScope, []datasets.Judgment{llm("a", 0), llm("b", 1)}, false, "unproven"},
		"an answer by a judge that did not pass": {datasets.OutOfScope, []datasets.Judgment{llm("a", 3)}, false, "unproven"},
		"every p is low":                         {datasets.OutOfScope, []datasets.Judgment{model("a", .1), model("b", .49)}, false, ""},
		"a p is high":                            {datasets.OutOfScope, []datasets.Judgment{model("a", .1), model("b", .5)}, false, "answered_elsewhere"},
		"a chunk that nobody can tell":           {datasets.OutOfScope, []datasets.Judgment{llm("a", 0), llm("b", -1)}, true, "unproven"},
		"a person finds an answer":               {datasets.OutOfScope, []datasets.Judgment{model("a", .1), person("a", 2)}, false, "answered_elsewhere"},
		"a person overrules a p":                 {datasets.OutOfScope, []datasets.Judgment{model("a", .9), person("a", 0)}, false, ""},
		"no pool":                                {datasets.OutOfScope, nil, true, "unproven"},
	} {
		t.Run(name, func(t *testing.T) {
			c := abstaining("1", test.queryType, test.judgments...)
			got := judge.ProveAbstention([]datasets.Case{c}, 2, test.passed)
			if test.want == "" {
				if diff := cmp.Diff(judge.Abstentions{Cases: []datasets.Case{c}}, got); diff != "" {
					t.Error(diff)
				}
				return
			}
			if len(got.Cases) != 0 || len(got.Rejects) != 1 || got.Rejects[0].Reason != test.want || got.Rejects[0].Stage != "judge" {
				t.Fatalf("%+v", got)
			}
			short := []datasets.Shortfall{{Stratum: "all", QueryType: test.queryType, Wanted: 1, Reason: "judge: " + test.want + " 1"}}
			if diff := cmp.Diff(short, got.Shortfall); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Who must not see an answer is asked only what those who may see it are well
// asked.
func TestAForbiddenCaseNeedsItsTwin(t *testing.T) {
	allowed := datasets.Case{ID: "1", Query: "may the pump run dry", Source: []string{"a#0"}, Status: datasets.Active, Origin: datasets.OriginSynthetic}
	doubtful := allowed
	doubtful.Status = datasets.NeedsReview
	forbidden := abstaining("2", datasets.PermissionSensitive)
	forbidden.Forbidden = []string{"a#0"}
	elsewhere := forbidden
	elsewhere.Judgments = []datasets.Judgment{said("b", datasets.ByLabelModel, 1, -1, .8)}
	for name, test := range map[string]struct {
		cases []datasets.Case
		want  string
	}{
		"active":       {[]datasets.Case{allowed, forbidden}, datasets.Active},
		"needs review": {[]datasets.Case{doubtful, forbidden}, datasets.NeedsReview},
		"missing":      {[]datasets.Case{forbidden}, datasets.NeedsReview},
		// It is not lost: what is forbidden is known whatever else there is.
		"answered in sight": {[]datasets.Case{allowed, elsewhere}, datasets.NeedsReview},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge.ProveAbstention(test.cases, 2, false).Cases
			if last := got[len(got)-1]; last.Status != test.want || len(got) != len(test.cases) {
				t.Errorf("status %s, want %s", last.Status, test.want)
			}
		})
	}
}
