package main

import (
	"fmt"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// agreement is how a prior that never saw a collection orders the variants
// there, beside people: numbers of pairs of variants.
type agreement struct {
	collection, how string
	shift           float64 // variance that was allowed for; of several draws of labels, the sum
	draws           int

	people    int // that people separate
	both      int // of them, separated by the labels
	against   int // of these, the other way round
	separated int // by the labels
	right     int // of them, ordered by people the same
}

func (a *agreement) add(b agreement) {
	a.collection, a.how = b.collection, b.how
	a.shift += b.shift
	a.draws += b.draws
	a.people += b.people
	a.both += b.both
	a.against += b.against
	a.separated += b.separated
	a.right += b.right
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// count sums up the pairs of variants.
func (a *agreement) count(pairs []eval.AgreementPair) {
	a.draws = 1
	for _, p := range pairs {
		a.people += btoi(p.Reference.Separated)
		a.separated += btoi(p.Tested.Separated)
		a.both += btoi(p.Reference.Separated && p.Tested.Separated)
		a.against += btoi(p.Outcome == eval.PairReversed)
		a.right += btoi(p.Outcome == eval.PairRight)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// labelling is one way to label a collection, held against people's.
type labelling struct {
	how   string
	side  eval.AgreementSide
	shift float64
}

func agreeEach(m *study.Material, list []labelling) ([]agreement, error) {
	people, err := study.Reference(m.People())
	if err != nil {
		return nil, err
	}
	var rows []agreement
	for _, l := range list {
		found, err := people.Agree(l.side)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", m.Name, l.how, err)
		}
		row := agreement{collection: m.Name, how: l.how, shift: l.shift}
		row.count(found.Pairs)
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *measured) agree() error {
	for i, l := range s.left {
		fmt.Fprintf(s.progress, "%s: agreement\n", l.m.Name)
		n, err := s.Nest(s.all, i)
		if err != nil {
			return err
		}
		rows, err := agreeEach(l.m, l.labellings(n.Shift))
		if err != nil {
			return err
		}
		own, err := l.agreeFitted(n)
		if err != nil {
			return err
		}
		s.agreement, s.fitted = append(s.agreement, rows...), append(s.fitted, own...)
		covered, err := l.m.Cover(l.model, n.Shift)
		if err != nil {
			return fmt.Errorf("%s: %w", l.m.Name, err)
		}
		s.covered = append(s.covered, covered)
	}
	return nil
}

// labellings are the prior's, with the sign rule and, as if the model were
// fitted, without.
func (l *leftOut) labellings(shift []judge.ShiftVariance) []labelling {
	list := []labelling{
		{"source only", l.m.SourceOnly(), 0},
		{"prior, source in, without the shift variance", l.m.Labelled(l.model, datasets.TrustFitted, datasets.SourceIn, 0), 0},
	}
	for _, mode := range study.Modes() {
		how, variance := fmt.Sprintf("prior, source %s", mode), study.ShiftIn(shift, mode)
		list = append(list,
			labelling{how, l.m.Labelled(l.model, datasets.TrustFitted, mode, variance), variance},
			labelling{how + ", and source-only agrees in sign", l.m.Labelled(l.model, datasets.TrustPrior, mode, variance), variance})
	}
	return list
}

// agreeFitted fits on labels of a third of the queries and compares the variants
// on the others, beside the prior on the same ones. Counts are of all draws of
// labels.
func (l *leftOut) agreeFitted(n study.Nested) ([]agreement, error) {
	var rows []agreement
	for draw := range study.LabelDraws {
		own, rest := l.m.Split(draw)
		list, err := l.fittedOn(own, rest, n, draw)
		if err != nil {
			return nil, err
		}
		found, err := agreeEach(rest, list)
		if err != nil {
			return nil, err
		}
		if draw == 0 {
			rows = make([]agreement, len(found))
		}
		for i := range found {
			rows[i].add(found[i])
		}
	}
	return rows, nil
}

func (l *leftOut) fittedOn(own, rest *study.Material, n study.Nested, draw int) ([]labelling, error) {
	of := func(how string, model *judge.LabelModel, shift []judge.ShiftVariance, mode datasets.SourceMode) labelling {
		variance := study.ShiftIn(shift, mode)
		return labelling{fmt.Sprintf("%s, source %s", how, mode), rest.Labelled(model, datasets.TrustFitted, mode, variance), variance}
	}
	list := []labelling{of("prior", l.model, n.Shift, datasets.SourceIn)}
	for _, labels := range study.OwnSizes()[1:] {
		model, shift, err := own.FitOwn(l.model, n, labels, draw)
		if err != nil {
			return nil, err
		}
		how := fmt.Sprintf("%d labels", labels)
		list = append(list, of(how, model, shift, datasets.SourceIn))
		if labels == 200 {
			list = append(list, of(how, model, shift, datasets.SourceJudged))
		}
	}
	return list, nil
}
