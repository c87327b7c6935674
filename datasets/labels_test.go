package datasets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
)

type chunks = map[string]datasets.Label

// labelsTest is a case's judgments and how they are read.
type labelsTest struct {
	name      string
	source    []string
	judgments []datasets.Judgment
	want      map[datasets.SourceMode]datasets.CaseLabels
}

func readAs(t *testing.T, tests []labelsTest) {
	t.Helper()
	for _, tt := range tests {
		for mode, want := range tt.want {
			t.Run(tt.name+"/"+string(mode), func(t *testing.T) {
				c := datasets.Case{Source: tt.source, Judgments: tt.judgments}
				got := c.Labels(mode)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				for id, label := range want.Chunks {
					if diff := cmp.Diff(label, datasets.EffectiveLabel(&c, id, mode)); diff != "" {
						t.Errorf("chunk %s: %s", id, diff)
					}
				}
			})
		}
	}
}

func grade(n int) *int { return &n }

func source(id string) datasets.Judgment {
	return datasets.Judgment{ChunkID: id, By: datasets.BySynthetic, Grade: grade(3)}
}

func byLLM(id string, grade *int) datasets.Judgment {
	return datasets.Judgment{ChunkID: id, By: datasets.ByLLM, Grade: grade}
}

func byPerson(id string, grade *int) datasets.Judgment {
	return datasets.Judgment{ChunkID: id, By: datasets.ByHuman, Grade: grade}
}

func byModel(id string) datasets.Judgment {
	return datasets.Judgment{ChunkID: id, By: datasets.ByLabelModel, P: maybe().P, PDraws: maybe().PDraws}
}

// Labels that are sure, a person's, or a label model's.
func sure(n int) datasets.Label   { return datasets.Label{Grade: grade(n), Known: true} }
func person(n int) datasets.Label { return datasets.Label{Grade: grade(n), Human: true, Known: true} }

func maybe() datasets.Label {
	p := 0.25
	return datasets.Label{P: &p, PDraws: []float64{0.2, 0.3}, Known: true}
}

func TestLabelsOfSources(t *testing.T) {
	readAs(t, []labelsTest{
		{
			"source judged by a model", []string{"s"},
			[]datasets.Judgment{source("s"), byLLM("s", grade(1)), byLLM("x", grade(0)), byLLM("y", nil)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"s": sure(3), "x": sure(0), "y": datasets.Label{}}},
				"judged": {Chunks: chunks{"s": sure(1), "x": sure(0), "y": datasets.Label{}}},
				"out":    {Chunks: chunks{"x": sure(0), "y": datasets.Label{}}, Dropped: []string{"s"}},
			},
		},
		{
			"source unknown to the judge", []string{"s"},
			[]datasets.Judgment{source("s"), byLLM("s", nil), byLLM("x", grade(1))},
			map[datasets.SourceMode]datasets.CaseLabels{
				"judged": {Chunks: chunks{"s": sure(3), "x": sure(1)}, Fallback: true},
			},
		},
		{
			"one of two sources unknown", []string{"t", "s"},
			[]datasets.Judgment{source("s"), source("t"), byLLM("s", grade(1))},
			map[datasets.SourceMode]datasets.CaseLabels{
				"judged": {Chunks: chunks{"s": sure(3), "t": sure(3)}, Fallback: true},
				"out":    {Chunks: chunks{}, Dropped: []string{"s", "t"}},
			},
		},
	})
}

func TestWhoseLabelCounts(t *testing.T) {
	readAs(t, []labelsTest{
		{
			"p wins over a model's grade", []string{"s"},
			[]datasets.Judgment{source("s"), byLLM("s", grade(3)), byModel("s"), byLLM("x", grade(3)), byModel("x")},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"s": sure(3), "x": maybe()}},
				"judged": {Chunks: chunks{"s": maybe(), "x": maybe()}},
			},
		},
		{
			"a person wins over p", []string{"s"},
			[]datasets.Judgment{source("s"), byPerson("s", grade(0)), byModel("s"), byPerson("x", grade(1)), byModel("x"), byLLM("x", grade(3))},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"s": sure(3), "x": person(1)}},
				"judged": {Chunks: chunks{"s": person(0), "x": person(1)}},
			},
		},
		{
			"a rival is wrong whatever models say, and no source", []string{"s"},
			[]datasets.Judgment{source("s"), datasets.RivalJudgment("x", "", "stale"), byModel("x"), byLLM("x", grade(3))},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":  {Chunks: chunks{"s": sure(3), "x": sure(0)}},
				"out": {Chunks: chunks{"x": sure(0)}, Dropped: []string{"s"}},
			},
		},
		{
			"a person finds a rival relevant", nil,
			[]datasets.Judgment{datasets.RivalJudgment("x", "", "irrelevant"), byPerson("x", grade(3))},
			map[datasets.SourceMode]datasets.CaseLabels{"in": {Chunks: chunks{"x": person(3)}}},
		},
		{
			"a person who could not tell leaves the word to the others", nil,
			[]datasets.Judgment{byPerson("x", nil), byModel("x"), byPerson("y", nil)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"x": maybe(), "y": datasets.Label{}}},
				"judged": {Chunks: chunks{"x": maybe(), "y": datasets.Label{}}},
				"out":    {Chunks: chunks{"x": maybe(), "y": datasets.Label{}}},
			},
		},
	})
}

func TestParseSourceMode(t *testing.T) {
	for _, s := range []string{"in", "judged", "out"} {
		if m, err := datasets.ParseSourceMode(s); err != nil || string(m) != s {
			t.Errorf("%s: %s, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "IN", "both"} {
		if _, err := datasets.ParseSourceMode(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestSmallChancesKeepTheirDigits(t *testing.T) {
	for p, want := range map[float64]float64{1: 1, 3. / 700: .0043, 3. / 3100: .0009677, 3e-7: 3e-7, 1.23456e-5: 1.235e-5, 0: 0} {
		if got := datasets.RoundInclusion(p); got != want || datasets.RoundInclusion(got) != got {
			t.Errorf("%v is kept as %v, want %v", p, got, want)
		}
	}
}
