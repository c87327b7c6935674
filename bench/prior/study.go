package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// penalties are tried for the prior; middle is taken where a single collection
// leaves nothing to try them on.
func penalties() []float64 { return []float64{1, 3, 10, 30} }

const middlePenalty = 3

// study is all that is measured; agree fills in the last three.
type study struct {
	fitter
	all       []*material
	penalty   float64
	model     *judge.LabelModel
	left      []leftOut
	shift     []judge.ShiftVariance // of the collections left out
	shares    []judge.ShiftShare
	progress  io.Writer
	compared  bool
	agreement []agreement
	fitted    []agreement // with labels of the collection's own, on the other queries
	covered   []coverage
}

// leftOut is what the prior of the other collections does on one.
type leftOut struct {
	m       *material
	penalty float64
	model   *judge.LabelModel
	figures judge.Figures
	single  map[string]float64 // AUC of each feature alone
	curve   []learnt
	shift   []judge.ShiftVariance
}

// learnt is a point of the learning curve: means over draws of labels.
type learnt struct {
	labels                 int
	auc, brier, loss       float64 // on the pairs not drawn
	priorAUC, priorBrier   float64 // of the prior on the same pairs
	priorLoss, worseShares float64
}

func studyOf(all []*material, o options, progress io.Writer) (*study, error) {
	s := &study{all: all, fitter: fitter{o.pairs}, progress: progress, compared: !o.quick}
	var err error
	if s.penalty, err = s.choosePenalty(all); err != nil {
		return nil, err
	}
	if s.model, err = s.fitPrior(all, s.penalty); err != nil {
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
	s.shift = shipped(s.left)
	fmt.Fprintln(s.progress, "labels of a collection's own")
	s.shares, err = s.after(all)
	return s, err
}

// fitter fits priors whose coefficient vectors see so many pairs each.
type fitter struct{ pairs int }

func (f fitter) fitPrior(all []*material, penalty float64) (*judge.LabelModel, error) {
	var pairs [][]judge.LabelledPair
	for _, m := range all {
		pairs = append(pairs, m.pairs(judge.PriorFeatures()))
	}
	return judge.FitPrior(pairs, judge.PriorOptions{Features: judge.PriorFeatures(), Penalty: penalty, Pairs: f.pairs, Seed: seed})
}

// without is the collections but one.
func without(all []*material, i int) []*material {
	return slices.Delete(slices.Clone(all), i, i+1)
}

// choosePenalty takes the penalty with the least loss on collections left out.
func (f fitter) choosePenalty(all []*material) (float64, error) {
	if len(all) < 2 {
		return middlePenalty, nil
	}
	losses := map[float64]float64{}
	for _, penalty := range penalties() {
		for i := range all {
			m, err := f.fitPrior(without(all, i), penalty)
			if err != nil {
				return 0, err
			}
			losses[penalty] += logLoss(m.Predict(all[i].pairs(m.Features)))
		}
	}
	return slices.MinFunc(penalties(), func(a, b float64) int { return cmp.Compare(losses[a], losses[b]) }), nil
}

// logLoss is the mean of -ln P(label), with p kept from 0 and 1.
func logLoss(predicted []judge.Predicted) float64 {
	sum := 0.0
	for _, p := range predicted {
		q := min(max(p.P, 1e-3), 1-1e-3)
		if !p.Relevant {
			q = 1 - q
		}
		sum -= math.Log(q)
	}
	return sum / float64(len(predicted))
}

func (s *study) leaveOut(i int) (l leftOut, err error) {
	l.m = s.all[i]
	if l.penalty, err = s.choosePenalty(without(s.all, i)); err != nil {
		return l, err
	}
	if l.model, err = s.fitPrior(without(s.all, i), l.penalty); err != nil {
		return l, err
	}
	pairs := l.m.pairs(l.model.Features)
	l.figures = judge.FiguresOf(l.model.Predict(pairs), seed)
	l.single = singleAUC(l.model.Features, pairs)
	for _, n := range []int{20, 50, 100, 200} {
		point, err := learn(l.model, pairs, n)
		if err != nil {
			return l, err
		}
		l.curve = append(l.curve, point)
	}
	if s.compared {
		l.shift, err = shiftOn(l.m, l.model, shiftMetrics, modes()...)
	}
	return l, err
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
		order := seeded.Rand(seed, "curve", fmt.Sprint(n, draw)).Perm(len(pairs))
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
	l.loss += share * logLoss(own)
	l.priorAUC += share * judge.AUC(prior)
	l.priorBrier += share * judge.Brier(prior)
	l.priorLoss += share * logLoss(prior)
	if logLoss(own) > logLoss(prior) {
		l.worseShares += share
	}
}

// profile is what goldgen ships.
func (s *study) profile() (*judge.Profile, error) {
	var pairs []judge.LabelledPair
	var from []string
	var predicted []judge.Predicted
	for _, l := range s.left {
		own := l.m.pairs(s.model.Features)
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
		Figures: judge.FiguresOf(predicted, seed), Shift: s.shift, ShiftAfter: s.shares,
	}, nil
}

// meanShift is the mean over the collections left out.
func meanShift(left []leftOut) []judge.ShiftVariance {
	sums := slices.Clone(left[0].shift)
	for i := range sums {
		sums[i].Variance = 0
		for _, l := range left {
			sums[i].Variance += l.shift[i].Variance / float64(len(left))
		}
		sums[i].Variance = rounded(sums[i].Variance)
	}
	return sums
}

// rounded is a variance as a profile keeps it.
func rounded(variance float64) float64 { return math.Round(variance*1e8) / 1e8 }

func modes() []datasets.SourceMode {
	return []datasets.SourceMode{datasets.SourceIn, datasets.SourceJudged, datasets.SourceOut}
}
