package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// refitEvery is after how many labels a review fits the label model again.
const refitEvery = 10

// refit fits the set's label model on the labels of a review, as calibrate
// --apply will on the version that comes of it. What is known of each pair is
// looked up once.
type refit struct {
	calibrator
	observed [][]judge.Observed
	prior    *judge.Profile
	before   int // people's labels that the set has already
}

// refitCases is the most cases of a set whose label model is fitted again while
// people label: each is looked up when the page opens.
const refitCases = 1000

// canRefit opens what the interval needs where labels come of a label model. As
// they stand, they would be compared under a model that has not heard of them;
// so where it cannot be fitted no interval is shown, and a note says why.
func (o *opening) canRefit(ctx context.Context) bool {
	if !fromLabelModel(o.set.Cases) {
		return true
	}
	err := fmt.Errorf("the set has more than %d cases", refitCases)
	if len(o.set.Cases) <= refitCases {
		o.pair.refit, err = o.lookUp(ctx)
	}
	if err != nil {
		o.notes = append(o.notes, "no interval is shown: "+err.Error())
	}
	return err == nil
}

func (o *opening) lookUp(ctx context.Context) (*refit, error) {
	b, err := o.pinnedBench(ctx, o.set.Manifest.Pins.Corpus, "golden set "+o.set.Ref().String())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	r := &refit{calibrator: calibrator{Project: o.Project, set: o.set, bench: b, labels: &labelFile{}}, before: len(humanLabels(o.set.Cases))}
	if r.deps, err = r.pool(ctx); err != nil {
		return nil, err
	}
	if r.prior, err = judge.Prior(); err != nil {
		return nil, err
	}
	r.observed, err = judge.Observe(ctx, o.set.Cases, r.deps.Deps, r.judgeOptions(o.set.Manifest.Pins.Seed, r.deps.depth))
	return r, err
}

func fromLabelModel(cases []datasets.Case) bool {
	for i := range cases {
		for _, j := range cases[i].Judgments {
			if j.By == datasets.ByLabelModel && len(j.PDraws) > 0 {
				return true
			}
		}
	}
	return false
}

// fitted is the set's cases with these labels and the chances of a model that
// was fitted on them, and what is left of the shift variance. With no label, or
// labels of one class, the set's own chances stay.
func (r *refit) fitted(_ context.Context, c *comparedPair, labelled []datasets.Case) ([]datasets.Case, func(eval.Measure) float64, error) {
	cases := withChanged(r.set.Cases, labelled)
	labels := humanLabels(cases)
	if len(labels) == 0 {
		return cases, c.in.Shift, nil
	}
	calibration, err := judge.Calibrate(r.prior, cases, r.observed, labels, r.options(labels, &LabelReport{}))
	if err != nil {
		return nil, nil, fmt.Errorf("label model: %w", err)
	}
	if calibration.Kept {
		return r.set.Cases, c.in.Shift, nil
	}
	profile := calibration.Profile
	for i := range cases {
		if cases[i].Status != datasets.Retired {
			cases[i] = chances(&cases[i], r.observed[i], profile)
		}
	}
	trust := profile.TrustIn(r.set.Manifest.Trust, judge.Labels{Cases: cases})
	var sides [2]*Kept
	for i, k := range c.sides {
		stored := *k.StoredResult
		stored.Scoring.Shift = judge.ShiftsIn(trust.Figures, c.mode)
		side := *k
		side.StoredResult, sides[i] = &stored, &side
	}
	return cases, shiftOf(sides[0], sides[1]), nil
}

// withChanged is cases with those that changed in their places.
func withChanged(cases, changed []datasets.Case) []datasets.Case {
	at := map[string]int{}
	for i := range changed {
		at[changed[i].ID] = i
	}
	out := slices.Clone(cases)
	for i := range out {
		if j, ok := at[out[i].ID]; ok {
			out[i] = changed[j]
		}
	}
	return out
}

// humanLabels are the grades that people gave, as calibrate reads them from a
// set.
func humanLabels(cases []datasets.Case) []judge.HumanLabel {
	var out []judge.HumanLabel
	for i := range cases {
		for _, j := range cases[i].Judgments {
			if cases[i].Status != datasets.Retired && j.By == datasets.ByHuman && j.Grade != nil {
				out = append(out, judge.HumanLabel{CaseID: cases[i].ID, ChunkID: j.ChunkID, Grade: *j.Grade, Inclusion: j.Inclusion})
			}
		}
	}
	return out
}

// chances puts a profile's chances of a case's pairs in the place of those that
// it has, rounded as a set keeps them.
func chances(c *datasets.Case, pool []judge.Observed, p *judge.Profile) datasets.Case {
	out := *c
	out.Judgments = slices.DeleteFunc(slices.Clone(c.Judgments), func(j datasets.Judgment) bool { return j.By == datasets.ByLabelModel })
	seen := make([]map[string]float64, len(pool))
	for i := range pool {
		seen[i] = pool[i].Seen
	}
	for i, x := range judge.Vectors(p.Model.Features, seen) {
		chance := p.Model.Probability(x)
		out.Judgments = append(out.Judgments, datasets.Judgment{
			ChunkID: pool[i].Item.ChunkID, DocID: pool[i].Item.DocID, By: datasets.ByLabelModel, P: &chance.P, PDraws: chance.Draws,
		})
	}
	return out.Canonical()
}
