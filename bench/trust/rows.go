package main

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
)

// row is how one set with one way to label it does.
type row struct {
	collection, kind string
	size             int
	how              string
	figures          eval.AgreementFigures
}

// Ways to label.
const (
	sourceOnly = "source only"
	placebo    = "placebo"
	ceiling    = "people's halves"
	asBelow    = ", reference as below"
	wide       = ", all results pooled"
)

func byPriorIn(mode datasets.SourceMode) string { return fmt.Sprintf("prior, source %s", mode) }

func byLabelsIn(n int, mode datasets.SourceMode) string {
	return fmt.Sprintf("%d labels, source %s", n, mode)
}

// looked is a set in hand.
type looked struct {
	*subject
	set      syntheticSet
	rankings [][][]string
	byPrior  labelled // over the pools that goldgen makes
	rows     []row
}

// rows are those of a set.
func (s *subject) rows(ctx context.Context, set syntheticSet) ([]row, error) {
	rankings, err := s.Ask(ctx, study.Questions(set.cases))
	if err != nil {
		return nil, err
	}
	byPrior, err := s.label(ctx, set.cases, s.prior, nil)
	if err != nil {
		return nil, err
	}
	l := &looked{subject: s, set: set, rankings: rankings, byPrior: byPrior}
	for _, step := range []func(context.Context) error{l.sourceOnly, l.underPrior, l.underFitted, l.underGrades} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return l.rows, nil
}

func (l *looked) add(how string, f eval.AgreementFigures) {
	l.rows = append(l.rows, row{l.Name, l.set.kind, len(l.set.cases), how, f})
}

// compare adds the row of a labelled set held against people's queries.
func (l *looked) compare(how string, set labelled, mode datasets.SourceMode) (*eval.Agreement, error) {
	a, err := l.agree(l.people, how, set, mode)
	if err != nil {
		return nil, err
	}
	l.add(how, a.AgreementFigures)
	return a, nil
}

// agree holds a labelled set against people; an error names the way to label.
func (l *looked) agree(people *eval.AgreementReference, how string, set labelled, mode datasets.SourceMode) (*eval.Agreement, error) {
	a, err := people.Agree(l.side(set, l.rankings, mode))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", how, err)
	}
	return a, nil
}

func (l *looked) sourceOnly(context.Context) error {
	set := labelled{l.set.cases, datasets.Trust{Level: datasets.TrustSourceOnly}}
	_, err := l.compare(sourceOnly, set, datasets.SourceIn)
	return err
}

// underPrior looks at the prior in each source mode, over the pools that goldgen
// makes, and over pools that what the retrievers return was added to.
func (l *looked) underPrior(ctx context.Context) error {
	for _, mode := range study.Modes() {
		a, err := l.compare(byPriorIn(mode), l.byPrior, mode)
		if err != nil {
			return err
		}
		if mode == datasets.SourceIn {
			l.add(placebo, a.Placebo)
			l.add(ceiling, a.Ceiling)
		}
	}
	all, err := l.label(ctx, l.set.cases, l.prior, l.returned())
	if err != nil {
		return err
	}
	for _, mode := range study.Modes() {
		if _, err := l.compare(byPriorIn(mode)+wide, all, mode); err != nil {
			return err
		}
	}
	return nil
}

// returned are the first results of all retrievers, by case.
func (l *looked) returned() map[string][]string {
	out := map[string][]string{}
	for i, c := range l.set.cases {
		for v := range l.rankings {
			out[c.ID] = append(out[c.ID], study.First(l.rankings[v][i])...)
		}
	}
	return out
}

// underFitted looks at profiles fitted on the collection's own labels. The prior
// stands beside them, held against the same queries.
func (l *looked) underFitted(ctx context.Context) error {
	sum := newDraws()
	for _, o := range l.draws {
		for _, mode := range study.Modes() {
			how := byPriorIn(mode) + asBelow
			a, err := l.agree(o.people, how, l.byPrior, mode)
			if err != nil {
				return err
			}
			sum.add(how, a.AgreementFigures)
		}
		for i := range o.fitted {
			if err := l.fittedOn(ctx, o, i, sum); err != nil {
				return err
			}
		}
	}
	for _, how := range sum.order {
		l.add(how, meanOf(sum.found[how]))
	}
	return nil
}

// fittedOn collects the figures of a profile that so many of own labels gave.
func (l *looked) fittedOn(ctx context.Context, o own, size int, to *draws) error {
	set, err := l.label(ctx, l.set.cases, o.fitted[size], nil)
	if err != nil {
		return err
	}
	for _, mode := range study.Modes() {
		how := byLabelsIn(o.sizes[size], mode)
		a, err := l.agree(o.people, how, set, mode)
		if err != nil {
			return err
		}
		to.add(how, a.AgreementFigures)
	}
	return nil
}
