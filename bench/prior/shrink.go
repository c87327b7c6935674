package main

import (
	"fmt"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// What labels of a collection's own leave of the shift variance is measured on
// these, together, since one alone is noisy.
const shrinkMetrics = "ndcg@10,recall@10,precision@10"

// labelDraws is how often the labels of a collection's own are drawn.
const labelDraws = 2

// ownSizes are the numbers of labels that are tried.
func ownSizes() []int { return []int{50, 100, 200} }

// moreCollections is the share of a shift variance that is left of what priors of
// k collections showed where a prior has seen one more. The error of a prior on a
// further collection is how far that lies from the mean of all, and how far the
// mean of k lies from it: as 1 + 1/k.
func moreCollections(k int) float64 {
	return (1 + 1/float64(k+1)) / (1 + 1/float64(k))
}

// shipped is the shift variance of a prior of all collections of which each was
// left out once.
func shipped(left []leftOut) []judge.ShiftVariance {
	out := meanShift(left)
	for i := range out {
		out[i].Variance = rounded(out[i].Variance * moreCollections(len(left)-1))
	}
	return out
}

// after is the share of the shift variance that labels of a collection's own
// leave, as measured on each of the collections with the prior of the others.
// Part of what labels do a further collection does too: it is not counted twice.
func (f fitter) after(all []*material) ([]judge.ShiftShare, error) {
	left := make([]float64, 1+len(ownSizes()))
	for i, m := range all {
		prior, err := f.fitPrior(without(all, i), middlePenalty)
		if err != nil {
			return nil, err
		}
		for draw := range labelDraws {
			if err := addLeft(left, m, prior, draw); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
		}
	}
	var out []judge.ShiftShare
	share := 1.0
	for i, n := range ownSizes() {
		share = min(share, left[1+i]/left[0]/moreCollections(len(all)-1))
		out = append(out, judge.ShiftShare{Labels: n, Share: datasets.Round(share)})
	}
	return out, nil
}

// addLeft adds the shift variances after none and each number of labels of a
// third of the queries, on the other queries.
func addLeft(left []float64, m *material, prior *judge.LabelModel, draw int) error {
	own, rest := m.split(draw)
	for i, n := range append([]int{0}, ownSizes()...) {
		model := prior
		if n > 0 {
			var err error
			if model, err = fitOn(prior, own.someLabels(prior.Features, n, draw)); err != nil {
				return err
			}
		}
		shift, err := shiftOn(rest, model, shrinkMetrics, datasets.SourceIn)
		if err != nil {
			return err
		}
		for _, v := range shift {
			left[i] += v.Variance
		}
	}
	return nil
}

// split is a third of the queries, for labels, and the others.
func (m *material) split(draw int) (own, rest *material) {
	order := seeded.Rand(seed, "own queries", fmt.Sprint(m.Name, draw)).Perm(len(m.queries))
	third := len(order) / 3
	return m.only(order[:third]), m.only(order[third:])
}

// someLabels draws n labelled pairs.
func (m *material) someLabels(features []string, n, draw int) []judge.LabelledPair {
	all := m.pairs(features)
	var pairs []judge.LabelledPair
	for _, i := range seeded.Rand(seed, "own pairs", fmt.Sprint(m.Name, draw)).Perm(len(all))[:min(n, len(all))] {
		pairs = append(pairs, all[i])
	}
	return pairs
}

func fitOn(prior *judge.LabelModel, pairs []judge.LabelledPair) (*judge.LabelModel, error) {
	return judge.FitOwn(prior, pairs, judge.OwnOptions{Features: prior.Features, Seed: seed})
}
