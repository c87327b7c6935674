package eval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

func TestWhatMakesResultsNotComparable(t *testing.T) {
	for want, change := range map[string]func(in *eval.CompareInput){
		"corpus: c and d":                 func(in *eval.CompareInput) { in.Candidate.Corpus = "d" },
		"unit: chunk and document":        func(in *eval.CompareInput) { in.Candidate.Unit = "document" },
		"source: unknown and out":         func(in *eval.CompareInput) { in.Candidate.Source = "out" },
		"least relevant grade: 2 and 1":   func(in *eval.CompareInput) { in.Candidate.MinGrade = 1 },
		"k: [1 5] and [1 10]":             func(in *eval.CompareInput) { in.Candidate.K = []int{1, 10} },
		"depth: unknown and 1000":         func(in *eval.CompareInput) { in.Candidate.Pins = pin(1000) },
		"depth: 5 and 1000":               func(in *eval.CompareInput) { in.Base.Pins, in.Candidate.Pins = pin(5), pin(1000) },
		"1 case only in the base: q019":   func(in *eval.CompareInput) { in.Candidate.Cases = in.Candidate.Cases[:19] },
		"1 case with another query: q002": func(in *eval.CompareInput) { in.Candidate.Cases[2].Background.Query = "?" },
		"1 case with other evidence: q002": func(in *eval.CompareInput) {
			in.Candidate.Cases[2].Background.Evidence = []eval.Span{{Doc: "d", End: 3}}
		},
		"2 cases with other labels: q002, q003": func(in *eval.CompareInput) {
			in.Candidate.Cases[2].Labels[0].Grade = 2
			in.Candidate.Cases[3].Labels[0].Uncertain = &eval.Probability{P: 0.5}
		},
		"5 cases only in the candidate: q015, q016, q017, ...":  func(in *eval.CompareInput) { in.Base.Cases = in.Base.Cases[:15] },
		"cases with nothing relevant: are left out and score 0": func(in *eval.CompareInput) { in.Candidate.KeepEmpty = true },
	} {
		in := sides(20, 5)
		in.Gates = gates(t, "recall@1 drop <= 0.02")
		change(&in)
		c := compare(t, in)
		if diff := cmp.Diff([]string{want}, c.Differs); diff != "" {
			t.Error(diff)
		}
		checkGates(t, c.Gates, decided{"recall@1 drop <= 0.02", "", eval.CannotTell, "not comparable"})
		if c.Comparable || c.Verdict != eval.CannotTell || len(c.Metrics) != 0 {
			t.Errorf("%s: comparable %v, verdict %s", want, c.Comparable, c.Verdict)
		}
	}
}

func pin(depth int) map[string]any { return map[string]any{"depth": depth} }

func TestOrderDoesNotMatter(t *testing.T) {
	in := sides(60, 20)
	in.Base.Dimensions = []eval.Dimension{eval.NewDimension("half", 60, func(i int) []string { return []string{[]string{"a", "b"}[i/30]} })}
	want := compare(t, in)
	slices.Reverse(in.Candidate.Cases)
	for i := range in.Candidate.Cases {
		in.Candidate.Cases[i].Labels = slices.Clone(in.Candidate.Cases[i].Labels)
		slices.Reverse(in.Candidate.Cases[i].Labels)
	}
	if diff := cmp.Diff(want, compare(t, in)); diff != "" {
		t.Error(diff)
	}
}

func TestCommonCasesAlone(t *testing.T) {
	want := compare(t, sides(60, 20))
	in := sides(63, 20)
	in.Common = true
	in.Candidate.Cases = in.Candidate.Cases[:62]
	in.Candidate.Cases[60].Labels[0].Grade = 2
	in.Base.Cases = slices.Delete(in.Base.Cases, 61, 62)
	got := compare(t, in)
	note := "compared are the 60 cases that both have and that are the same; left out: " +
		"1 case only in the base: q062; 1 case only in the candidate: q061; 1 case with other labels: q060"
	if !slices.Contains(got.Notes, note) {
		t.Errorf("no note %q in %q", note, got.Notes)
	}
	got.Notes = want.Notes
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	in.Candidate.Cases = in.Candidate.Cases[61:]
	if c := compare(t, in); c.Comparable || !slices.Contains(c.Differs, "no case is the same on both sides") {
		t.Errorf("nothing in common: %q", c.Differs)
	}
}

func TestMeasuresOfOneSideAreNamed(t *testing.T) {
	in := sides(20, 5)
	in.Base.Measures = must(eval.ParseMeasures("recall@1,P_5,mrr"))
	in.Candidate.Measures = must(eval.ParseMeasures("p@5,recall@5,recall@1"))
	c := compare(t, in)
	var names []string
	for _, m := range c.Metrics {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff([]string{"recall@1", "P_5"}, names); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"only the base has mrr", "only the candidate has recall@5"} {
		if !slices.Contains(c.Notes, want) {
			t.Errorf("no note %q in %q", want, c.Notes)
		}
	}
}

func TestNothingToCompare(t *testing.T) {
	in := sides(20, 5)
	in.Candidate.Measures = must(eval.ParseMeasures("mrr"))
	if diff := cmp.Diff([]string{"no measure is in both"}, compare(t, in).Differs); diff != "" {
		t.Error(diff)
	}
	in.Gates = gates(t, "recall@1 drop <= 0.02") // the rankings are there
	if c := compare(t, in); !c.Comparable || c.Metrics[0].Name != "recall@1" {
		t.Errorf("%+v", c)
	}
}

func TestRepeatedCasesAreRefused(t *testing.T) {
	in := sides(20, 5)
	in.Candidate.Cases[3].ID = "q004"
	if _, err := eval.Compare(in); err == nil || err.Error() != "candidate: case q004: in the input twice" {
		t.Errorf("got %v", err)
	}
}

func TestStrangeIdsAreShownInShort(t *testing.T) {
	in := sides(20, 5)
	in.Base.Cases[3].ID = "a\x00b\tc " + strings.Repeat("x", 10_000)
	c := compare(t, in)
	if len(c.Differs) != 2 || len(c.Differs[0]) > 200 || strings.ContainsAny(c.Differs[0], "\x00\t") {
		t.Errorf("%q", c.Differs)
	}
}
