package judge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goldgen/goldgen/internal/seeded"
)

// PriorPairs is on how many random pairs each of a prior's coefficient vectors
// is fitted.
const PriorPairs = 400

// votersAlike penalises differences between the voters' coefficients in a prior.
// Which of them finds more of what is relevant is what changes most from one
// collection to the next, so that other collections do not tell it; a team's
// labels do.
const votersAlike = 1000

// interceptPrecision is the penalty of an intercept: next to none, since how
// many pairs of a pool are relevant is for the pairs to say.
const interceptPrecision = 0.01

// leastVariance is the least that a prior's coefficients count as uncertain:
// vectors that agree on a feature that their pairs never lacked know nothing of
// it.
const leastVariance = 0.05

// priorTrust is how much a prior counts against labels, as a multiple of what the
// spread of its vectors gives: labels of a query are not independent, and come
// in bootstraps. With half of it, twenty labels made the model worse on one of
// three collections (docs/trust.md).
const priorTrust = 4

// PriorOptions say how a prior is fitted.
type PriorOptions struct {
	Features []string
	Penalty  float64 // precision of every slope of a standardised feature
	Pairs    int     // a coefficient vector; 0 means PriorPairs
	Seed     int64
}

// FitPrior fits a label model on the pairs of several collections, which count
// alike however many pairs they have. Each coefficient vector sees a bootstrap of
// the collections, so that the vectors differ as collections do.
func FitPrior(collections [][]LabelledPair, o PriorOptions) (*LabelModel, error) {
	if o.Pairs == 0 {
		o.Pairs = PriorPairs
	}
	m := &LabelModel{Features: o.Features}
	m.standardise(slices.Concat(collections...))
	k := len(o.Features)
	centre, precision := make([]float64, 1+2*k), slices.Repeat([]float64{o.Penalty}, 1+2*k)
	precision[0] = interceptPrecision
	p := penalty{centre: centre, precision: precision, groups: voterGroups(o.Features), alike: votersAlike}
	for t := range DrawCount {
		rng := seeded.Rand(o.Seed, "prior", fmt.Sprint(t))
		sample, err := randomPairs(collections, o.Pairs, rng)
		if err != nil {
			return nil, err
		}
		draw, err := m.regressionOf(sample, p).fit()
		if err != nil {
			return nil, err
		}
		m.Draws = append(m.Draws, draw)
	}
	return m, nil
}

// randomPairs draws as many collections as there are, with replacement, and then
// n pairs, each from one of these at random.
func randomPairs(collections [][]LabelledPair, n int, rng *rand.Rand) ([]LabelledPair, error) {
	if len(collections) == 0 || slices.ContainsFunc(collections, func(c []LabelledPair) bool { return len(c) == 0 }) {
		return nil, errors.New("label model: a collection without labelled pairs")
	}
	drawn := make([][]LabelledPair, len(collections))
	for i := range drawn {
		drawn[i] = collections[rng.IntN(len(collections))]
	}
	sample := make([]LabelledPair, n)
	for i := range sample {
		c := drawn[rng.IntN(len(drawn))]
		sample[i] = c[rng.IntN(len(c))]
	}
	return sample, nil
}

// OwnOptions say how a model is fitted on a team's own labels.
type OwnOptions struct {
	Features []string // the prior's, then extra ones
	Seed     int64
}

// FitOwn fits a model on a team's labels. The prior's coefficient vectors are
// where it starts from: each is the centre of a normal prior whose variances are
// those of the vectors over priorTrust, and meets a bootstrap of the labels that
// draws queries. Labels of one class leave the prior as it is.
func FitOwn(prior *LabelModel, pairs []LabelledPair, o OwnOptions) (*LabelModel, error) {
	if oneClass(pairs) {
		return prior, nil
	}
	start := prior.extended(o.Features, pairs)
	own := start.shell()
	precision := start.precisions()
	for t, centre := range start.Draws {
		rng := seeded.Rand(o.Seed, "labels", fmt.Sprint(t))
		draw, err := own.regressionOf(resampleQueries(pairs, rng), penalty{centre: centre, precision: precision}).fit()
		if err != nil {
			return nil, err
		}
		own.Draws = append(own.Draws, draw)
	}
	return own, nil
}

// resampleQueries draws as many queries as there are, with replacement, and
// gives their pairs.
func resampleQueries(pairs []LabelledPair, rng *rand.Rand) []LabelledPair {
	byQuery := map[string][]LabelledPair{}
	var queries []string
	for _, p := range pairs {
		if byQuery[p.Query] == nil {
			queries = append(queries, p.Query)
		}
		byQuery[p.Query] = append(byQuery[p.Query], p)
	}
	var sample []LabelledPair
	for range queries {
		sample = append(sample, byQuery[queries[rng.IntN(len(queries))]]...)
	}
	return sample
}

func oneClass(pairs []LabelledPair) bool {
	relevant := 0
	for i := range pairs {
		if pairs[i].Relevant {
			relevant++
		}
	}
	return relevant == 0 || relevant == len(pairs)
}

// shell is the model without its coefficient vectors.
func (m *LabelModel) shell() *LabelModel {
	return &LabelModel{Features: m.Features, Mean: m.Mean, Scale: m.Scale, Low: m.Low, High: m.High}
}

// extended is the prior with further features, whose coefficients are 0 in
// every vector, standardised over the pairs; ranges take the pairs in.
func (m *LabelModel) extended(features []string, pairs []LabelledPair) *LabelModel {
	k, old := len(features), len(m.Features)
	e := &LabelModel{Features: features}
	e.standardise(pairs)
	for j := range old {
		e.Mean[j], e.Scale[j] = m.Mean[j], m.Scale[j]
		e.Low[j], e.High[j] = min(e.Low[j], m.Low[j]), max(e.High[j], m.High[j])
	}
	for _, draw := range m.Draws {
		wider := make([]float64, 1+2*k)
		copy(wider, draw[:1+old])
		copy(wider[1+k:], draw[1+old:])
		e.Draws = append(e.Draws, wider)
	}
	return e
}

// precisions are the inverse variances of the coefficients among the vectors,
// times priorTrust; 1 for a feature that the prior does not know.
func (m *LabelModel) precisions() []float64 {
	precision := make([]float64, len(m.Draws[0]))
	for j := range precision {
		column := make([]float64, len(m.Draws))
		for t, draw := range m.Draws {
			column[t] = draw[j]
		}
		_, variance := meanVariance(column)
		if variance == 0 {
			precision[j] = 1
			continue
		}
		precision[j] = priorTrust / max(variance, leastVariance)
	}
	return precision
}
