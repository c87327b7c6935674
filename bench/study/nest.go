package study

import (
	"fmt"
	"math"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// What labels of a collection's own leave of the shift variance is measured on
// these, together, since one alone is noisy.
const shrinkMetrics = "ndcg@10,recall@10,precision@10"

// LabelDraws is how often the labels of a collection's own are drawn.
const LabelDraws = 2

// OwnSizes are the numbers of labels that are tried.
func OwnSizes() []int { return []int{50, 100, 200} }

// Nested is what the other collections show of the shift variance, each with a
// prior that saw neither it nor the one that is looked at.
type Nested struct {
	Shift []judge.ShiftVariance // of Metric and precision@10, for queries of both kinds
	After []judge.ShiftShare
}

// Nest measures the shift variance on the collections but i, and what labels leave
// of it.
func (f Fitter) Nest(all []*Material, i int) (Nested, error) {
	shift, err := f.NestShift(all, i)
	if err != nil {
		return Nested{}, err
	}
	after, err := f.After(without(all, i))
	return Nested{shift, after}, err
}

// NestShift measures the shift variance on the collections but i.
func (f Fitter) NestShift(all []*Material, i int) ([]judge.ShiftVariance, error) {
	others := without(all, i)
	var left [][]judge.ShiftVariance
	for j := range others {
		model, err := f.Prior(without(others, j), middlePenalty)
		if err != nil {
			return nil, err
		}
		shift, err := ShiftOnBoth(others[j], model, Metric+",precision@10")
		if err != nil {
			return nil, err
		}
		left = append(left, shift)
	}
	return Shipped(left), nil
}

// moreCollections is the share of a shift variance that is left of what priors of
// k collections showed where a prior has seen one more. The error of a prior on a
// further collection is how far that lies from the mean of all, and how far the
// mean of k lies from it: as 1 + 1/k.
func moreCollections(k int) float64 {
	return (1 + 1/float64(k+1)) / (1 + 1/float64(k))
}

// Shipped is the shift variance of a prior of all collections of which each was
// left out once. What synthetic queries add is the same for any prior.
func Shipped(left [][]judge.ShiftVariance) []judge.ShiftVariance {
	return judge.ScaleModelShift(meanShift(left), moreCollections(len(left)-1))
}

// ShiftOnBoth is the shift variances in all source modes, first for people's
// queries and then for synthetic ones. What the model brings to these is what it
// gets wrong with people's, relative to the level of means there.
func ShiftOnBoth(m *Material, model *judge.LabelModel, metrics string) ([]judge.ShiftVariance, error) {
	found, err := m.errorsUnder(model, metrics, Modes()...)
	if err != nil {
		return nil, err
	}
	synthetic, err := SyntheticShift(m, model, metrics, Modes(), Kinds()...)
	for i := range synthetic {
		synthetic[i].Model = min(synthetic[i].Variance, shiftVariance(found[i].errors, true))
	}
	return append(shiftOf(found, judge.QueriesHuman), synthetic...), err
}

// meanShift is the mean over the collections left out.
func meanShift(left [][]judge.ShiftVariance) []judge.ShiftVariance {
	sums := slices.Clone(left[0])
	for i := range sums {
		sums[i].Variance, sums[i].Model = 0, 0
		for _, shift := range left {
			sums[i].Variance += shift[i].Variance / float64(len(left))
			sums[i].Model += shift[i].Model / float64(len(left))
		}
		sums[i].Variance, sums[i].Model = rounded(sums[i].Variance), rounded(sums[i].Model)
	}
	return sums
}

// rounded is a variance as a profile keeps it.
func rounded(variance float64) float64 { return math.Round(variance*1e8) / 1e8 }

// Modes are the ways to read a source, in the order of tables.
func Modes() []datasets.SourceMode {
	return []datasets.SourceMode{datasets.SourceIn, datasets.SourceJudged, datasets.SourceOut}
}

// ShiftIn is the shift variance of Metric for people's queries under a source mode.
func ShiftIn(shift []judge.ShiftVariance, mode datasets.SourceMode) float64 {
	for _, v := range shift {
		if v.Metric == Metric && v.Source == string(mode) && v.Queries == judge.QueriesHuman {
			return v.Variance
		}
	}
	return 0
}

// After is the share of the shift variance that labels of a collection's own
// leave, as measured on each of the collections with the prior of the others.
// Part of what labels do a further collection does too: it is not counted twice.
func (f Fitter) After(all []*Material) ([]judge.ShiftShare, error) {
	left := make([]float64, 1+len(OwnSizes()))
	for i, m := range all {
		prior, err := f.Prior(without(all, i), middlePenalty)
		if err != nil {
			return nil, err
		}
		for draw := range LabelDraws {
			if err := addLeft(left, m, prior, draw); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
		}
	}
	var out []judge.ShiftShare
	share := 1.0
	for i, n := range OwnSizes() {
		share = min(share, left[1+i]/left[0]/moreCollections(len(all)-1))
		out = append(out, judge.ShiftShare{Labels: n, Share: datasets.Round(share)})
	}
	return out, nil
}

// addLeft adds the shift variances after none and each number of labels of a
// third of the queries, on the other queries.
func addLeft(left []float64, m *Material, prior *judge.LabelModel, draw int) error {
	own, rest := m.Split(draw)
	for i, n := range append([]int{0}, OwnSizes()...) {
		model := prior
		if n > 0 {
			var err error
			if model, err = fitOn(prior, Drawn(own, own.Pairs(prior.Features), n, draw)); err != nil {
				return err
			}
		}
		shift, err := ShiftOn(rest, model, shrinkMetrics, datasets.SourceIn)
		if err != nil {
			return err
		}
		for _, v := range shift {
			left[i] += v.Variance
		}
	}
	return nil
}
