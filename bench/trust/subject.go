package main

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// People judged yes or no; a set's grades go to 3.
const relevantGrade, topGrade = 2, 3

// subject is a collection with the labels that sets over it may get.
type subject struct {
	*study.Material
	prior  *judge.Profile           // of other collections
	people *eval.AgreementReference // all of people's queries
	draws  []own
	grades grades // a model's, nil where there are none
}

// own is what labelled pairs of the collection's own queries give. Their queries
// are not among the rest, which is the reference.
type own struct {
	rest   *study.Material
	people *eval.AgreementReference // of the rest
	sizes  []int
	labels [][]judge.HumanLabel // by size
	fitted []*judge.Profile     // by size
}

func newSubject(ctx context.Context, m *study.Material, prior *judge.Profile) (*subject, error) {
	s := &subject{Material: m, prior: prior}
	var err error
	if s.people, err = study.Reference(m.People()); err != nil {
		return nil, err
	}
	for draw := range study.LabelDraws {
		o, err := s.own(ctx, draw)
		if err != nil {
			return nil, fmt.Errorf("labels, draw %d: %w", draw, err)
		}
		s.draws = append(s.draws, o)
	}
	return s, nil
}

// own has people label pairs from the pools of a third of their queries, as
// goldgen calibrate would get them.
func (s *subject) own(ctx context.Context, draw int) (own, error) {
	asked, rest := s.Split(draw)
	o := own{rest: rest, sizes: study.OwnSizes()}
	var err error
	if o.people, err = study.Reference(rest.People()); err != nil {
		return o, err
	}
	cases := asked.Questioned()
	observed, err := judge.Observe(ctx, cases, s.Deps(), study.PoolOptions(nil))
	if err != nil {
		return o, err
	}
	pooled := pooledLabels(asked, cases, observed)
	for _, n := range o.sizes {
		labels := study.Drawn(asked, pooled, n, draw)
		fitted, err := s.fit(cases, observed, labels, "")
		if err != nil {
			return o, err
		}
		o.labels, o.fitted = append(o.labels, labels), append(o.fitted, fitted)
	}
	return o, nil
}

// pooledLabels are people's labels of all pooled pairs.
func pooledLabels(m *study.Material, cases []datasets.Case, observed [][]judge.Observed) []judge.HumanLabel {
	var all []judge.HumanLabel
	for i := range observed {
		for _, pair := range observed[i] {
			all = append(all, humanLabel(m, cases[i].ID, pair.Item.ChunkID))
		}
	}
	return all
}

func humanLabel(m *study.Material, query, document string) judge.HumanLabel {
	l := judge.HumanLabel{CaseID: query, ChunkID: document, Inclusion: 1}
	if m.Qrels[query][document] > 0 {
		l.Grade = topGrade
	}
	return l
}

// fit calibrates the prior on labels; judged is whose grades the pairs have, "" none.
func (s *subject) fit(cases []datasets.Case, observed [][]judge.Observed, labels []judge.HumanLabel, judged string) (*judge.Profile, error) {
	c, err := judge.Calibrate(s.prior, cases, observed, labels, judge.CalibrateOptions{
		RelevantGrade: relevantGrade, From: []string{s.Name}, Seed: study.Seed, Judge: judged,
	})
	if err != nil {
		return nil, err
	}
	return c.Profile, nil
}

// labelled is a set with labels and the trust that they have.
type labelled struct {
	cases []datasets.Case
	trust datasets.Trust
}

// label has a profile label the set's pools.
func (s *subject) label(ctx context.Context, cases []datasets.Case, p *judge.Profile, extra map[string][]string) (labelled, error) {
	labels, err := judge.Label(ctx, cases, s.Deps(), study.PoolOptions(extra), p)
	if err != nil {
		return labelled{}, err
	}
	return labelled{labels.Cases, p.TrustIn(datasets.Trust{Level: datasets.TrustSourceOnly}, labels)}, nil
}

// side is what goldgen agreement makes of a set and the rankings of its queries.
func (s *subject) side(l labelled, rankings [][][]string, mode datasets.SourceMode) eval.AgreementSide {
	cases := make([]eval.Case, len(l.cases))
	for i := range l.cases {
		cases[i], _ = eval.FromGolden(&l.cases[i], mode, nil)
	}
	var side eval.AgreementSide
	for v := range rankings {
		in := eval.Input{
			MinGrade: relevantGrade, Seed: study.Seed,
			Header: eval.Header{Trust: l.trust.Level, Source: string(mode), Retriever: s.RefOf(v)},
		}
		for i, c := range cases {
			c.Ranking = rankings[v][i]
			in.Cases = append(in.Cases, c)
		}
		side.Retrievers = append(side.Retrievers, in)
	}
	shifts := judge.ShiftsIn(l.trust.Figures, mode)
	side.Shift = func(m eval.Measure, level float64) float64 { return judge.ShiftOf(shifts, m.Canonical(), level) }
	return side
}
