package datasets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
)

func TestLabels(t *testing.T) {
	zero, one, three, p := 0, 1, 3, 0.25
	draws := []float64{0.2, 0.3}
	synthetic := datasets.Judgment{ChunkID: "s", By: "synthetic", Grade: &three}
	llm := func(id string, grade *int) datasets.Judgment {
		return datasets.Judgment{ChunkID: id, By: "llm", Grade: grade}
	}
	human := func(id string, grade *int) datasets.Judgment {
		return datasets.Judgment{ChunkID: id, By: "human", Grade: grade}
	}
	model := func(id string, p *float64) datasets.Judgment {
		return datasets.Judgment{ChunkID: id, By: "label_model", P: p, PDraws: draws}
	}
	sure := func(grade *int) datasets.Label { return datasets.Label{Grade: grade, Known: true} }
	person := func(grade *int) datasets.Label { return datasets.Label{Grade: grade, Human: true, Known: true} }
	maybe := datasets.Label{P: &p, PDraws: draws, Known: true}
	unknown := datasets.Label{}

	type chunks = map[string]datasets.Label
	tests := []struct {
		name      string
		source    []string
		judgments []datasets.Judgment
		want      map[datasets.SourceMode]datasets.CaseLabels
	}{
		{
			"source judged by a model", []string{"s"},
			[]datasets.Judgment{synthetic, llm("s", &one), llm("x", &zero), llm("y", nil)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"s": sure(&three), "x": sure(&zero), "y": unknown}},
				"judged": {Chunks: chunks{"s": sure(&one), "x": sure(&zero), "y": unknown}},
				"out":    {Chunks: chunks{"x": sure(&zero), "y": unknown}, Dropped: []string{"s"}},
			},
		},
		{
			"source unknown to the judge", []string{"s"},
			[]datasets.Judgment{synthetic, llm("s", nil), llm("x", &one)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"judged": {Chunks: chunks{"s": sure(&three), "x": sure(&one)}, Fallback: true},
			},
		},
		{
			"p wins over a model's grade", []string{"s"},
			[]datasets.Judgment{synthetic, llm("s", &three), model("s", &p), llm("x", &three), model("x", &p)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"s": sure(&three), "x": maybe}},
				"judged": {Chunks: chunks{"s": maybe, "x": maybe}},
			},
		},
		{
			"a person wins over p", []string{"s"},
			[]datasets.Judgment{synthetic, human("s", &zero), model("s", &p), human("x", &one), model("x", &p), llm("x", &three)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"s": sure(&three), "x": person(&one)}},
				"judged": {Chunks: chunks{"s": person(&zero), "x": person(&one)}},
			},
		},
		{
			"a rival is wrong whatever models say, and no source", []string{"s"},
			[]datasets.Judgment{synthetic, datasets.RivalJudgment("x", "", "stale"), model("x", &p), llm("x", &three)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":  {Chunks: chunks{"s": sure(&three), "x": sure(&zero)}},
				"out": {Chunks: chunks{"x": sure(&zero)}, Dropped: []string{"s"}},
			},
		},
		{
			"a person finds a rival relevant", nil,
			[]datasets.Judgment{datasets.RivalJudgment("x", "", "irrelevant"), human("x", &three)},
			map[datasets.SourceMode]datasets.CaseLabels{"in": {Chunks: chunks{"x": person(&three)}}},
		},
		{
			"a person who could not tell leaves the word to the others", nil,
			[]datasets.Judgment{human("x", nil), model("x", &p), human("y", nil)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"in":     {Chunks: chunks{"x": maybe, "y": unknown}},
				"judged": {Chunks: chunks{"x": maybe, "y": unknown}},
				"out":    {Chunks: chunks{"x": maybe, "y": unknown}},
			},
		},
		{
			"one of two sources unknown", []string{"t", "s"},
			[]datasets.Judgment{synthetic, {ChunkID: "t", By: "synthetic", Grade: &three}, llm("s", &one)},
			map[datasets.SourceMode]datasets.CaseLabels{
				"judged": {Chunks: chunks{"s": sure(&three), "t": sure(&three)}, Fallback: true},
				"out":    {Chunks: chunks{}, Dropped: []string{"s", "t"}},
			},
		},
	}
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
