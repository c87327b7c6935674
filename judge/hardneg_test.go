package judge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// pumps is a small corpus: what each chunk is says its id.
func pumps() []corpus.Chunk {
	texts := [][2]string{
		{"source", "Prime the pump with clean water before the first run."},
		{"copy", "Prime the pump with clean water before the first run."},
		{"near", "Prime the pump with clean water before the very first run."},
		{"lookalike", "Prime the pump with grease before storing it."},
		{"second", "The pump is checked with clean water every year."},
		{"far", "Lunch is served at noon."},
	}
	var chunks []corpus.Chunk
	for _, t := range texts {
		c := chunk(t[0], 0, t[1])
		if t[0] == "near" || t[0] == "source" {
			c.NearGroup = "n:prime"
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// said is a judgment of a chunk that a retriever put at a rank.
func said(doc, by string, rank int, grade int, p float64) datasets.Judgment {
	j := datasets.Judgment{ChunkID: doc + "#0", DocID: doc, By: by, Inclusion: 1}
	if rank > 0 {
		j.Features = map[string]float64{"rank_bm25": float64(rank)}
	}
	if p >= 0 {
		j.P = &p
	}
	if grade >= 0 {
		j.Grade = &grade
	}
	return j
}

func TestHardNegatives(t *testing.T) {
	llm := func(doc string, rank, grade int) datasets.Judgment { return said(doc, datasets.ByLLM, rank, grade, -1) }
	model := func(doc string, rank int, p float64) datasets.Judgment {
		return said(doc, datasets.ByLabelModel, rank, -1, p)
	}
	person := func(doc string, grade int) datasets.Judgment { return said(doc, datasets.ByHuman, 0, grade, -1) }
	rival := datasets.RivalJudgment("near#0", "near", datasets.LabelStale)
	stale := person("lookalike", 0)
	stale.Label = datasets.LabelStale
	for name, test := range map[string]struct {
		judgments []datasets.Judgment
		before    []string
		blind     bool
		want      []string
	}{
		"a judge's grade":                     {judgments: []datasets.Judgment{llm("lookalike", 2, 1), llm("second", 1, 0)}, want: []string{"second#0", "lookalike#0"}},
		"of a judge that did not pass":        {judgments: []datasets.Judgment{llm("lookalike", 2, 1)}, blind: true},
		"an unknown grade":                    {judgments: []datasets.Judgment{llm("lookalike", 2, -1)}},
		"a relevant one":                      {judgments: []datasets.Judgment{llm("lookalike", 2, 2)}},
		"a low p, without any judge":          {judgments: []datasets.Judgment{model("lookalike", 2, .09)}, blind: true, want: []string{"lookalike#0"}},
		"a p that is not low":                 {judgments: []datasets.Judgment{model("lookalike", 2, .1)}},
		"a low p that the judge denies":       {judgments: []datasets.Judgment{model("lookalike", 2, .05), llm("lookalike", 2, 3)}},
		"a grade that p denies":               {judgments: []datasets.Judgment{llm("lookalike", 2, 0), model("lookalike", 2, .6)}},
		"a person, against both":              {judgments: []datasets.Judgment{llm("lookalike", 2, 3), model("lookalike", 2, .9), person("lookalike", 1)}, want: []string{"lookalike#0"}},
		"a person finds it relevant":          {judgments: []datasets.Judgment{llm("lookalike", 2, 0), person("lookalike", 2)}},
		"a person calls it stale":             {judgments: []datasets.Judgment{llm("lookalike", 2, 0), stale}},
		"the last rank that counts":           {judgments: []datasets.Judgment{llm("lookalike", 10, 0), llm("second", 11, 0)}, want: []string{"lookalike#0"}},
		"a rival, though nearly the source":   {judgments: []datasets.Judgment{rival, llm("near", 1, 3), model("near", 1, .9)}, blind: true, want: []string{"near#0"}},
		"a rival that a person finds right":   {judgments: []datasets.Judgment{rival, person("near", 2)}},
		"no rank":                             {judgments: []datasets.Judgment{person("lookalike", 0)}},
		"no word of the query":                {judgments: []datasets.Judgment{llm("far", 1, 0)}},
		"the source, its copy, its near one":  {judgments: []datasets.Judgment{llm("source", 1, 0), llm("copy", 2, 0), llm("near", 3, 0)}},
		"a chunk of another corpus":           {judgments: []datasets.Judgment{llm("gone", 1, 0)}},
		"one from before stays at any rank":   {judgments: []datasets.Judgment{llm("far", 90, 0)}, before: []string{"far#0"}, want: []string{"far#0"}},
		"one from before that is relevant":    {judgments: []datasets.Judgment{person("lookalike", 3)}, before: []string{"lookalike#0"}},
		"holds evidence (the second's words)": {judgments: []datasets.Judgment{llm("second", 1, 0)}, before: []string{"evidence"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := caseOf("1", "source#0")
			c.Query, c.Status, c.HardNegatives = "prime the pump with clean water", datasets.Active, test.before
			c.Judgments = append([]datasets.Judgment{datasets.SourceJudgment("source#0", "source")}, test.judgments...)
			if len(test.before) == 1 && test.before[0] == "evidence" {
				c.Evidence = []datasets.Evidence{{DocID: "second", Start: 4, End: 8}}
			}
			cases := []datasets.Case{c}
			judge.Negatives{View: judge.NewView(pumps()), RelevantGrade: 2, JudgePassed: !test.blind}.Fill(cases)
			if diff := cmp.Diff(append([]string{}, test.want...), cases[0].HardNegatives); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A chunk that shares less than half as many words with the query as the best
// relevant one is not near in wording.
func TestHardNegativesAreNearInWording(t *testing.T) {
	c := caseOf("1", "source#0")
	c.Query, c.Status = "prime pump clean water first run", datasets.Active
	c.Judgments = []datasets.Judgment{
		datasets.SourceJudgment("source#0", "source"),        // all six
		said("second", datasets.ByLLM, 1, 0, -1),             // pump, clean, water
		said("lookalike", datasets.ByLLM, 2, 0, -1),          // prime, pump
		said("far", datasets.ByLLM, 3, 0, -1),                // none
		said("elsewhere", datasets.ByLabelModel, 3, -1, .01), // of another corpus
	}
	cases := []datasets.Case{c}
	judge.Negatives{View: judge.NewView(pumps()), RelevantGrade: 2, JudgePassed: true}.Fill(cases)
	if diff := cmp.Diff([]string{"second#0"}, cases[0].HardNegatives); diff != "" {
		t.Error(diff)
	}
}

// What fails at a result's top becomes a hard negative by the extension that
// grades it, and by one that finds it graded already.
func TestExtendGrowsHardNegatives(t *testing.T) {
	d := deps(judgedBy(sharp), 40)
	candidates := plan(40, 0)
	for i := range candidates {
		candidates[i].Case.Query = "guide to a topic"
	}
	o := settings(2)
	o.Pool.Depth["bm25"] = 1
	result, err := judge.Run(t.Context(), candidates, d, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"doc00#0"}, result.Cases[7].HardNegatives); diff != "" {
		t.Fatal(diff)
	}
	tops := judge.Tops{Depth: 2, Rankings: map[string][]judge.Ranking{
		"07": {{Name: "new", Hits: hitsOf("doc05#2", "doc07#0", "doc09#1")}}, // doc07#0 is a neighbour, graded 1
	}}
	grown, err := judge.Extend(t.Context(), result.Cases, tops, d, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"doc00#0", "doc05#2", "doc07#0"}, grown.Cases[7].HardNegatives); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(result.Cases[8], grown.Cases[8]); diff != "" {
		t.Errorf("another case changed: %s", diff)
	}
}
