package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// grades are a model's judgments by the text of the query.
type grades map[string][]datasets.Judgment

// readGrades reads the grades of a collection; there need not be any.
func readGrades(dir, name string) (grades, error) {
	lines, err := study.ReadLines[study.Graded](filepath.Join(dir, study.GradesFile(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := grades{}
	for i := range lines {
		out[lines[i].Query] = append(out[lines[i].Query], lines[i].Judgment(relevantGrade))
	}
	return out, nil
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

// of are people's labels of the graded pairs of their queries.
func (g grades) of(asked *study.Material) []judge.HumanLabel {
	var labels []judge.HumanLabel
	for _, q := range asked.Queries {
		for _, j := range g[q.Text] {
			labels = append(labels, humanLabel(asked, q.ID, j.ChunkID))
		}
	}
	return labels
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
		if _, err := l.compare(fmt.Sprintf("the model's grades alone, source %s", mode), alone, mode); err != nil {
			return err
		}
	}
	for _, graded := range []bool{false, true} {
		if err := l.fittedOnGraded(ctx, cases, graded); err != nil {
			return err
		}
	}
	return nil
}

// fittedOnGraded adds the rows of a fit on people's labels of the pairs that the
// model graded too, with its grades as a feature or without them. Those are of the
// queries of the first draw.
func (l *looked) fittedOnGraded(ctx context.Context, cases []datasets.Case, graded bool) error {
	asked, _ := l.Split(0)
	people, _ := l.grades.on(asked.Questioned())
	labels := l.grades.of(asked)
	how := fmt.Sprintf("%d labels of graded pairs", len(labels))
	if graded {
		how += " with the grade"
	} else {
		people, cases = asked.Questioned(), l.set.cases
	}
	observed, err := judge.Observe(ctx, people, l.Deps(), study.PoolOptions(nil))
	if err != nil {
		return err
	}
	p, err := l.fit(people, observed, labels, judgeOf(people))
	if err != nil {
		return err
	}
	set, err := l.label(ctx, cases, p, nil)
	if err != nil {
		return err
	}
	for _, mode := range study.Modes() {
		name := fmt.Sprintf("%s, source %s", how, mode)
		a, err := l.agree(l.draws[0].people, name, set, mode)
		if err != nil {
			return err
		}
		l.add(name, a.AgreementFigures)
	}
	return nil
}

// judgeOf is the judge whose grades cases have; "" where they have none.
func judgeOf(cases []datasets.Case) string {
	for _, c := range cases {
		for _, j := range c.Judgments {
			if j.By == datasets.ByLLM {
				return j.Judge
			}
		}
	}
	return ""
}
