package study

import (
	"cmp"
	"math"
	"slices"

	"github.com/goldgen/goldgen/judge"
)

// penalties are tried for the prior; middlePenalty is taken where a single
// collection leaves nothing to try them on.
func penalties() []float64 { return []float64{1, 3, 10, 30} }

const middlePenalty = 3

// Fitter fits priors whose coefficient vectors see so many pairs each.
type Fitter struct{ Pairs int }

// Prior fits on the collections.
func (f Fitter) Prior(all []*Material, penalty float64) (*judge.LabelModel, error) {
	var pairs [][]judge.LabelledPair
	for _, m := range all {
		pairs = append(pairs, m.Pairs(judge.PriorFeatures()))
	}
	return judge.FitPrior(pairs, judge.PriorOptions{Features: judge.PriorFeatures(), Penalty: penalty, Pairs: f.Pairs, Seed: Seed})
}

// LeaveOut is the prior of the collections but one, with the penalty that these
// choose.
func (f Fitter) LeaveOut(all []*Material, i int) (*judge.LabelModel, float64, error) {
	others := without(all, i)
	penalty, err := f.ChoosePenalty(others)
	if err != nil {
		return nil, 0, err
	}
	model, err := f.Prior(others, penalty)
	return model, penalty, err
}

// without is the collections but one.
func without(all []*Material, i int) []*Material {
	return slices.Delete(slices.Clone(all), i, i+1)
}

// ChoosePenalty takes the penalty with the least loss on collections left out.
func (f Fitter) ChoosePenalty(all []*Material) (float64, error) {
	if len(all) < 2 {
		return middlePenalty, nil
	}
	losses := map[float64]float64{}
	for _, penalty := range penalties() {
		for i := range all {
			m, err := f.Prior(without(all, i), penalty)
			if err != nil {
				return 0, err
			}
			losses[penalty] += LogLoss(m.Predict(all[i].Pairs(m.Features)))
		}
	}
	return slices.MinFunc(penalties(), func(a, b float64) int { return cmp.Compare(losses[a], losses[b]) }), nil
}

// LogLoss is the mean of -ln P(label), with p kept from 0 and 1.
func LogLoss(predicted []judge.Predicted) float64 {
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

func fitOn(prior *judge.LabelModel, pairs []judge.LabelledPair) (*judge.LabelModel, error) {
	return judge.FitOwn(prior, pairs, judge.OwnOptions{Features: prior.Features, Seed: Seed})
}

// FitOwn fits on n labelled pairs of a part of a collection and re-estimates the
// shift variance by them.
func (m *Material) FitOwn(prior *judge.LabelModel, s Nested, n, draw int) (*judge.LabelModel, []judge.ShiftVariance, error) {
	pairs := Drawn(m, m.Pairs(prior.Features), n, draw)
	fit := func(pairs []judge.LabelledPair) (*judge.LabelModel, error) { return fitOn(prior, pairs) }
	model, err := fit(pairs)
	if err != nil {
		return nil, nil, err
	}
	predicted, err := judge.CrossValidate(pairs, Seed, fit)
	if err != nil {
		return nil, nil, err
	}
	return model, judge.ScaleShift(s.Shift, s.After, m.residuals(predicted), Seed), nil
}

// residuals are what predictions got wrong, with the retrievers that have the
// pair among their first ten.
func (m *Material) residuals(predicted []judge.Predicted) []judge.Residual {
	members := map[[2]string][]string{}
	for _, q := range m.pools {
		for i, seen := range q.seen {
			for _, name := range judge.Voters() {
				if rank, ok := seen["rank_"+name]; ok && rank <= judgedDepth {
					pair := [2]string{m.Name + " " + q.id, q.ids[i]}
					members[pair] = append(members[pair], name)
				}
			}
		}
	}
	var out []judge.Residual
	for _, p := range predicted {
		r := judge.Residual{Query: p.Query, Value: -p.P, Weight: 1, Members: members[[2]string{p.Query, p.Chunk}]}
		if p.Relevant {
			r.Value++
		}
		out = append(out, r)
	}
	return out
}
