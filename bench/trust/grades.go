package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// graded is a line of a fixture of grades: what a model said of a pair of a query,
// by its text, and a document.
type graded struct {
	Query         string    `json:"query"`
	Document      string    `json:"document"`
	Grade         *int      `json:"grade"`         // 0-3, nil unknown
	Probabilities []float64 `json:"probabilities"` // of the grades 0-3
	Yes           *float64  `json:"yes"`           // P(yes) of the prompt that asks yes or no
}

// grades are a model's judgments by the text of the query.
type grades map[string][]datasets.Judgment

// gradedBy is what judgments call the model.
const gradedBy = "llm"

// readGrades reads the grades of a collection; there need not be any.
func readGrades(dir, name string) (grades, error) {
	f, err := os.Open(filepath.Join(dir, "grades-"+name+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := readLines[graded](f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	out := grades{}
	for i, l := range lines {
		if len(l.Probabilities) != 0 && len(l.Probabilities) != topGrade+1 {
			return nil, fmt.Errorf("%s: line %d: %d probabilities, want one for each of the grades 0 to %d", f.Name(), i+1, len(l.Probabilities), topGrade)
		}
		out[l.Query] = append(out[l.Query], l.judgment())
	}
	return out, nil
}

func (l *graded) judgment() datasets.Judgment {
	j := datasets.Judgment{
		ChunkID: l.Document, DocID: l.Document, Grade: l.Grade, By: datasets.ByLLM, Judge: gradedBy, Inclusion: 1,
		Features: map[string]float64{},
	}
	if l.Grade != nil {
		j.Label, j.Features["grade"] = datasets.LabelOf(*l.Grade, relevantGrade), float64(*l.Grade)
	}
	if len(l.Probabilities) > 0 {
		expected := 0.0
		for grade, p := range l.Probabilities {
			expected += float64(float64(grade) * p)
		}
		j.Features[judge.FeatureExpected] = datasets.Round(expected)
	}
	if l.Yes != nil {
		j.Features[judge.FeaturePYes] = *l.Yes
	}
	return j
}

// on adds the model's judgments to cases; whole says that each has some.
func (g grades) on(cases []datasets.Case) (out []datasets.Case, whole bool) {
	whole = true
	for _, c := range cases {
		judged := g[c.Query]
		whole = whole && len(judged) > 0
		c.Judgments = append(c.Judgments[:len(c.Judgments):len(c.Judgments)], judged...)
		out = append(out, c)
	}
	return out, whole
}

// underGrades looks at a model's grades, where there are those of the set: alone,
// and as a feature of a model fitted on people's labels of pairs with grades.
func (l *looked) underGrades(ctx context.Context) error {
	cases, whole := l.grades.on(l.set.cases)
	if !whole {
		return nil
	}
	alone := labelled{cases, datasets.Trust{Level: datasets.TrustJudged}}
	for _, mode := range study.Modes()[:2] {
		if _, err := l.compare(fmt.Sprintf("%s, source %s", gradesAlone, mode), alone, mode); err != nil {
			return err
		}
	}
	own, err := l.gradedPairs(ctx)
	if err != nil || len(own.labels) == 0 {
		return err
	}
	for _, judged := range []string{"", gradedBy} {
		if err := l.fittedOnGraded(ctx, own, cases, judged); err != nil {
			return err
		}
	}
	return nil
}

// gradedOwn is people's labels of pairs that a model graded too.
type gradedOwn struct {
	cases    []datasets.Case
	observed [][]judge.Observed
	labels   []judge.HumanLabel
	people   *eval.AgreementReference // the queries without a grade
}

func (l *looked) gradedPairs(ctx context.Context) (o gradedOwn, err error) {
	var with, without []int
	for i, q := range l.Queries {
		if len(l.grades[q.Text]) > 0 {
			with = append(with, i)
		} else {
			without = append(without, i)
		}
	}
	asked := l.Only(with)
	if o.people, err = study.Reference(l.Only(without).People()); err != nil {
		return o, err
	}
	o.cases, _ = l.grades.on(humanCases(asked))
	for _, c := range o.cases {
		for _, j := range c.Judgments {
			o.labels = append(o.labels, humanLabel(asked, c.ID, j.ChunkID))
		}
	}
	o.observed, err = judge.Observe(ctx, o.cases, l.deps(), poolOptions(nil))
	return o, err
}

// fittedOnGraded adds the row of a fit with the grades of a model, or with none.
func (l *looked) fittedOnGraded(ctx context.Context, o gradedOwn, cases []datasets.Case, judged string) error {
	p, err := l.fit(o.cases, o.observed, o.labels, judged)
	if err != nil {
		return err
	}
	set, err := l.label(ctx, cases, p, nil)
	if err != nil {
		return err
	}
	how := fmt.Sprintf("%d labels of graded pairs, source in", len(o.labels))
	if judged != "" {
		how += ", with the LLM's grade"
	}
	a, err := o.people.Agree(l.side(set, l.rankings, datasets.SourceIn))
	if err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	l.add(how, a.AgreementFigures)
	return nil
}
