package main

import (
	"fmt"
	"io"
	"math"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// measured is all that is measured; agree fills in the last three.
type measured struct {
	study.Fitter
	all       []*study.Material
	penalty   float64
	model     *judge.LabelModel
	left      []leftOut
	shift     []judge.ShiftVariance // of the collections left out
	shares    []judge.ShiftShare
	progress  io.Writer
	compared  bool
	agreement []agreement
	fitted    []agreement        // with labels of the collection's own, on the other queries
	covered   [][]study.Coverage // by collection
}

// leftOut is what the prior of the other collections does on one.
type leftOut struct {
	m       *study.Material
	penalty float64
	model   *judge.LabelModel
	figures judge.Figures
	single  map[string]float64 // AUC of each feature alone
	curve   []learnt
	shift   []judge.ShiftVariance
	kinds   [][]judge.ShiftVariance // of study.Metric, by kind of synthetic set and source mode
}

// learnt is a point of the learning curve: means over draws of labels.
type learnt struct {
	labels                 int
	auc, brier, loss       float64 // on the pairs not drawn
	priorAUC, priorBrier   float64 // of the prior on the same pairs
	priorLoss, worseShares float64
}

func measure(all []*study.Material, o options, progress io.Writer) (*measured, error) {
	s := &measured{all: all, Fitter: study.Fitter{Pairs: o.pairs}, progress: progress, compared: !o.quick}
	var err error
	if s.penalty, err = s.ChoosePenalty(all); err != nil {
		return nil, err
	}
	if s.model, err = s.Prior(all, s.penalty); err != nil {
		return nil, err
	}
	for i := range all {
		fmt.Fprintf(progress, "%s: left out\n", all[i].Name)
		l, err := s.leaveOut(i)
		if err != nil {
			return nil, fmt.Errorf("%s left out: %w", all[i].Name, err)
		}
		s.left = append(s.left, l)
	}
	if !s.compared {
		return s, nil
	}
	var shifts [][]judge.ShiftVariance
	for _, l := range s.left {
		shifts = append(shifts, l.shift)
	}
	s.shift = study.Shipped(shifts)
	fmt.Fprintln(s.progress, "labels of a collection's own")
	s.shares, err = s.After(all)
	return s, err
}

func (s *measured) leaveOut(i int) (l leftOut, err error) {
	l.m = s.all[i]
	if l.model, l.penalty, err = s.LeaveOut(s.all, i); err != nil {
		return l, err
	}
	pairs := l.m.Pairs(l.model.Features)
	l.figures = judge.FiguresOf(l.model.Predict(pairs), study.Seed)
	l.single = singleAUC(l.model.Features, pairs)
	for _, n := range []int{20, 50, 100, 200} {
		point, err := learn(l.model, pairs, n)
		if err != nil {
			return l, err
		}
		l.curve = append(l.curve, point)
	}
	if s.compared {
		err = l.compare()
	}
	return l, err
}

func (l *leftOut) compare() (err error) {
	if l.shift, err = study.ShiftOnBoth(l.m, l.model, study.ShippedMetrics); err != nil {
		return err
	}
	for _, kind := range study.Kinds() {
		shift, err := study.SyntheticShift(l.m, l.model, study.Metric, study.Modes(), kind)
		if err != nil {
			return err
		}
		l.kinds = append(l.kinds, shift)
	}
	return nil
}

// singleAUC ranks pairs by one feature alone; a pair that lacks it comes last.
func singleAUC(features []string, pairs []judge.LabelledPair) map[string]float64 {
	out := map[string]float64{}
	for j, name := range features {
		predicted := make([]judge.Predicted, len(pairs))
		for i, p := range pairs {
			v := p.X[j]
			if name == judge.Feature("bm25", judge.FeatureLogRank) || name == judge.Feature("lsa", judge.FeatureLogRank) || name == judge.Feature("ngram", judge.FeatureLogRank) {
				v = -v
			}
			if math.IsNaN(v) {
				v = -1e9
			}
			predicted[i] = judge.Predicted{Query: p.Query, P: v, Relevant: p.Relevant, Weight: 1}
		}
		out[name] = judge.AUC(predicted)
	}
	return out
}

// curveDraws is how often labels are drawn for a point of the learning curve.
const curveDraws = 20

// learn fits on n labels drawn at random and looks at the pairs that were not
// drawn.
func learn(prior *judge.LabelModel, pairs []judge.LabelledPair, n int) (learnt, error) {
	out := learnt{labels: n}
	for draw := range curveDraws {
		order := seeded.Rand(study.Seed, "curve", fmt.Sprint(n, draw)).Perm(len(pairs))
		var labelled, test []judge.LabelledPair
		for _, i := range order[:n] {
			labelled = append(labelled, pairs[i])
		}
		for _, i := range order[n:] {
			test = append(test, pairs[i])
		}
		own, err := judge.FitOwn(prior, labelled, judge.OwnOptions{Features: prior.Features, Seed: int64(draw)})
		if err != nil {
			return out, err
		}
		out.add(own.Predict(test), prior.Predict(test))
	}
	return out, nil
}

func (l *learnt) add(own, prior []judge.Predicted) {
	const share = 1. / curveDraws
	l.auc += share * judge.AUC(own)
	l.brier += share * judge.Brier(own)
	l.loss += share * study.LogLoss(own)
	l.priorAUC += share * judge.AUC(prior)
	l.priorBrier += share * judge.Brier(prior)
	l.priorLoss += share * study.LogLoss(prior)
	if study.LogLoss(own) > study.LogLoss(prior) {
		l.worseShares += share
	}
}

// basis is what the shift variances were measured with.
func (s *measured) basis() []judge.ShiftBasis {
	var out []judge.ShiftBasis
	for _, m := range s.all {
		out = append(out, m.Basis())
	}
	return out
}

// profile is what goldgen ships.
func (s *measured) profile() (*judge.Profile, error) {
	var pairs []judge.LabelledPair
	var from []string
	var predicted []judge.Predicted
	for _, l := range s.left {
		own := l.m.Pairs(s.model.Features)
		pairs, from = append(pairs, own...), append(from, l.m.Name)
		predicted = append(predicted, l.model.Predict(own)...)
	}
	training, err := judge.TrainingOf(from, pairs)
	if err != nil {
		return nil, err
	}
	return &judge.Profile{
		Format: judge.ProfileFormat, Level: judge.LevelPrior, FeatureVersion: judge.FeatureVersion,
		Model: *s.model.Rounded(), Penalty: s.penalty, Training: training,
		Figures: judge.FiguresOf(predicted, study.Seed), Shift: s.shift, ShiftAfter: s.shares, ShiftFrom: s.basis(),
	}, nil
}
