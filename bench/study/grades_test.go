package study

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// A grade comes out of the fixture as a judge's of a golden set, and an unknown one
// as unknown.
func TestGraded(t *testing.T) {
	grade, expected := 2, 1.9
	pair := Pair{&datasets.Case{ID: "q1", Query: "how is a file sorted"}, corpus.Chunk{ID: "d7", DocID: "d7"}}
	path := filepath.Join(t.TempDir(), GradesFile("cacm"))
	err := KeepLines(path, []Graded{
		GradedAs("m p@1", pair, judge.Grade{Grade: &grade, Expected: &expected, Probs: [4]float64{.1, .2, .4, .3}}),
		GradedAs("m p@1", pair, judge.Grade{Unknown: judge.UnknownUnreadable}),
	})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := ReadLines[Graded](path)
	if err != nil {
		t.Fatal(err)
	}
	var got []datasets.Judgment
	for i := range lines {
		got = append(got, lines[i].Judgment(2))
	}
	known := datasets.Judgment{ChunkID: "d7", DocID: "d7", By: datasets.ByLLM, Judge: "m p@1", Inclusion: 1}
	unknown := known
	known.Grade, known.Label = &grade, datasets.LabelRelevant
	known.Features, unknown.Features = map[string]float64{"grade": 2, judge.FeatureExpected: 1.9}, map[string]float64{}
	if diff := cmp.Diff([]datasets.Judgment{known, unknown}, got); diff != "" {
		t.Error(diff)
	}
}
