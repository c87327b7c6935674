package eval_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
)

// sourced is a case written from chunk s, which people grade, and with another
// chunk o that a model grades; below zero stands for no judgment.
func sourced(id string, source, other int) datasets.Case {
	c := datasets.Case{ID: id, Source: []string{"s"}}
	judge := func(chunk, by string, grade int) {
		if grade >= 0 {
			c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: chunk, DocID: chunk, Grade: &grade, By: by})
		}
	}
	judge("s", datasets.BySynthetic, 3)
	judge("s", datasets.ByHuman, source)
	judge("o", datasets.ByLLM, other)
	return c
}

func bySource(t *testing.T, mode datasets.SourceMode, cases ...datasets.Case) []string {
	t.Helper()
	in := eval.Input{Measures: must(eval.ParseMeasures("mrr")), MinGrade: 2}
	in.Source = string(mode)
	for i := range cases {
		c, _ := eval.FromGolden(&cases[i], mode, nil)
		c.Ranking = []string{"x", "s", "o"}
		in.Cases = append(in.Cases, c)
	}
	r := evaluate(t, in)
	if err := r.AddSources(in, cases); err != nil {
		t.Fatal(err)
	}
	got := []string{fmt.Sprintf("%s %.3f of %d", mode, *r.Metrics[0].Mean, r.Metrics[0].N)}
	for _, s := range r.BySource {
		got = append(got, fmt.Sprintf("%s %.3f of %d, %d as in", s.Source, *s.Metrics[0].Mean, s.Metrics[0].N, s.SourceOnly))
	}
	return got
}

func TestBothEndsOfTheSource(t *testing.T) {
	for _, test := range []struct {
		name  string
		mode  datasets.SourceMode
		cases []datasets.Case
		want  []string
	}{
		// The source is at rank 2, and at rank 3 stands what is at rank 2 without it.
		{"people refuse one source", "in", []datasets.Case{sourced("a", 0, 3), sourced("b", 3, 0)},
			[]string{"in 0.500 of 2", "judged 0.417 of 2, 0 as in", "out 0.500 of 1, 0 as in"}},
		{"from the other end", "out", []datasets.Case{sourced("a", 0, 3), sourced("b", 3, 0)},
			[]string{"out 0.500 of 1", "in 0.500 of 2, 0 as in", "judged 0.417 of 2, 0 as in"}},
		{"one source that nobody else judged", "in", []datasets.Case{sourced("a", 0, 3), sourced("b", -1, 0)},
			[]string{"in 0.500 of 2", "judged 0.417 of 2, 1 as in", "out 0.500 of 1, 0 as in"}},
		{"labels of the source alone", "in", []datasets.Case{sourced("a", -1, -1)}, []string{"in 0.500 of 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, bySource(t, test.mode, test.cases...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	people := datasets.Case{ID: "p", Judgments: sourced("x", -1, 3).Judgments[1:]}
	if diff := cmp.Diff([]string{"in 0.333 of 1"}, bySource(t, "in", people)); diff != "" {
		t.Errorf("without a source (-want +got):\n%s", diff)
	}
}
