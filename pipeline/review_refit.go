package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// refitEvery is after how many labels a review fits the label model again.
const refitEvery = 10

// refit fits the set's label model on the labels of a review, as calibrate
// --apply will on the version that comes of it. What is known of each pair is
// read once.
type refit struct {
	calibrator
	prior  *judge.Profile
	before int // people's labels that the set has already
	cases  map[string]*seenCase
}

// seenCase is what a label model sees of a case's pairs.
type seenCase struct {
	chunks []string    // sorted
	x      [][]float64 // judge.LabelFeatures of each
	pool   []judge.Observed
	found  bool // by searching again, so that the set holds no chance of them yet
}

// lookedUp is the most cases that are searched for again when the page opens.
const lookedUp = 1000

// canRefit opens what the interval needs where labels come of a label model. As
// they stand, they would be compared under a model that has not heard of them;
// so where it cannot be fitted no interval is shown, and a note says why.
func (o *opening) canRefit(ctx context.Context) bool {
	if !fromLabelModel(o.set.Cases) {
		return true
	}
	var err error
	if o.pair.refit, err = o.newRefit(ctx); err != nil {
		o.notes = append(o.notes, "no interval is shown: "+err.Error())
	}
	return err == nil
}

func (o *opening) newRefit(ctx context.Context) (*refit, error) {
	b, err := o.pinnedBench(ctx, o.set.Manifest.Pins.Corpus, "golden set "+o.set.Ref().String())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	r := &refit{
		calibrator: calibrator{Project: o.Project, set: o.set, bench: b, labels: &labelFile{}},
		before:     len(humanLabels(o.set.Cases)), cases: map[string]*seenCase{},
	}
	if r.prior, err = judge.Prior(); err != nil {
		return nil, err
	}
	if r.deps.Judge.Name, err = judgeOf(o.set.Cases); err != nil {
		return nil, err
	}
	r.deps.embedder = b.embeddingKey()
	return r, r.lookUp(ctx, r.read())
}

// read takes what the label model left in the set, and returns the cases of which
// something is missing there.
func (r *refit) read() (missing []datasets.Case) {
	for i := range r.set.Cases {
		c := &r.set.Cases[i]
		if c.Status == datasets.Retired {
			continue
		}
		pool, ok := judge.ObservedIn(c)
		if !ok {
			missing = append(missing, *c)
			continue
		}
		r.cases[c.ID] = newSeenCase(pool, false)
	}
	return missing
}

// lookUp pools cases again.
func (r *refit) lookUp(ctx context.Context, missing []datasets.Case) error {
	if len(missing) == 0 {
		return nil
	}
	if len(missing) > lookedUp {
		return fmt.Errorf("of %d cases the label model has not seen every pair, and they are too many to look up: goldgen calibrate --labels %s --apply labels them", len(missing), r.set.Manifest.Name)
	}
	var err error
	if r.deps, err = r.pool(ctx); err != nil {
		return err
	}
	observed, err := judge.Observe(ctx, missing, r.deps.Deps, r.judgeOptions(r.set.Manifest.Pins.Seed, r.deps.depth))
	for i := range observed {
		r.cases[missing[i].ID] = newSeenCase(observed[i], true)
	}
	return err
}

func newSeenCase(pool []judge.Observed, found bool) *seenCase {
	pool = slices.Clone(pool)
	slices.SortFunc(pool, func(a, b judge.Observed) int { return strings.Compare(a.Item.ChunkID, b.Item.ChunkID) })
	out := &seenCase{pool: pool, found: found}
	seen := make([]map[string]float64, len(pool))
	for i := range pool {
		seen[i], out.chunks = pool[i].Seen, append(out.chunks, pool[i].Item.ChunkID)
	}
	out.x = judge.Vectors(judge.LabelFeatures(), seen)
	return out
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

// relabelled is what a comparison is made under: cases that changed, the chances of
// the others' labels where they changed too, and the shift variance.
type relabelled struct {
	cases  []datasets.Case
	chance func(caseID string, labels []eval.Label) []eval.Label // nil: as they are
	shift  func(m eval.Measure, level float64) float64
}

// fitted puts the set under a model that was fitted on all labels of people, those
// of the cases labelled now among them. With no label, or labels of one class, the
// set's own chances stay.
func (r *refit) fitted(c *comparedPair, labelled []datasets.Case, labels []judge.HumanLabel) (relabelled, error) {
	if len(labels) == 0 {
		return relabelled{cases: labelled, shift: c.in.Shift}, nil
	}
	cases, observed := r.of(labels)
	options := r.options(labels, &LabelReport{})
	options.ProfileOnly = true
	calibration, err := judge.Calibrate(r.prior, cases, observed, labels, options)
	if err != nil {
		return relabelled{}, fmt.Errorf("label model: %w", err)
	}
	if calibration.Kept {
		return relabelled{shift: c.in.Shift}, nil
	}
	m := &modelled{seen: r.cases, model: &calibration.Profile.Model, columns: columnsOf(calibration.Profile.Model.Features)}
	return relabelled{cases: m.complete(r.set.Cases, labelled), chance: m.chances, shift: r.shiftUnder(c, calibration.Profile)}, nil
}

// of is the cases that labels are of, with what is known of their pairs.
func (r *refit) of(labels []judge.HumanLabel) (cases []datasets.Case, observed [][]judge.Observed) {
	labelled := map[string]bool{}
	for _, l := range labels {
		labelled[l.CaseID] = true
	}
	for i := range r.set.Cases {
		c := &r.set.Cases[i]
		if seen := r.cases[c.ID]; seen != nil && labelled[c.ID] {
			cases, observed = append(cases, *c), append(observed, seen.pool)
		}
	}
	return cases, observed
}

// shiftUnder is what a profile leaves of the shift variance.
func (r *refit) shiftUnder(c *comparedPair, profile *judge.Profile) func(eval.Measure, float64) float64 {
	trust := profile.TrustIn(r.set.Manifest.Trust, judge.Labels{Cases: r.set.Cases})
	var sides [2]*Kept
	for i, k := range c.sides {
		stored := *k.StoredResult
		stored.Scoring.Shift = judge.ShiftsIn(trust.Figures, c.mode)
		side := *k
		side.StoredResult, sides[i] = &stored, &side
	}
	return shiftOf(sides[0], sides[1])
}

// modelled is a fitted model over pairs that were seen.
type modelled struct {
	seen    map[string]*seenCase
	model   *judge.LabelModel
	columns []int // of the model's features among judge.LabelFeatures
}

func columnsOf(features []string) []int {
	all, out := judge.LabelFeatures(), make([]int, len(features))
	for i, name := range features {
		out[i] = slices.Index(all, name)
	}
	return out
}

// probability is the chance of a case's pair.
func (m *modelled) probability(c *seenCase, pair int) judge.Probability {
	x := make([]float64, len(m.columns))
	for i, at := range m.columns {
		x[i] = c.x[pair][at]
	}
	return m.model.Probability(x)
}

// chances puts the model's chances in the place of those that labels have.
func (m *modelled) chances(caseID string, labels []eval.Label) []eval.Label {
	c := m.seen[caseID]
	if c == nil {
		return labels
	}
	out := slices.Clone(labels)
	for i := range out {
		if pair, ok := slices.BinarySearch(c.chunks, out[i].ID); ok && out[i].Uncertain != nil {
			p := m.probability(c, pair)
			out[i].Uncertain = &eval.Probability{P: p.P, Draws: p.Draws}
		}
	}
	return out
}

// complete is the changed cases, and those that were looked up, whose pairs have
// no chance yet.
func (m *modelled) complete(all, changed []datasets.Case) []datasets.Case {
	var out []datasets.Case
	now := withChanged(all, changed)
	is := map[string]bool{}
	for i := range changed {
		is[changed[i].ID] = true
	}
	for i := range now {
		seen := m.seen[now[i].ID]
		switch {
		case seen != nil && seen.found && now[i].Status != datasets.Retired:
			out = append(out, m.judged(&now[i], seen))
		case is[now[i].ID]:
			out = append(out, now[i])
		}
	}
	return out
}

// judged gives a case the model's chances of all its pairs as judgments, rounded
// as a set keeps them.
func (m *modelled) judged(c *datasets.Case, seen *seenCase) datasets.Case {
	out := *c
	out.Judgments = slices.DeleteFunc(slices.Clone(c.Judgments), func(j datasets.Judgment) bool { return j.By == datasets.ByLabelModel })
	for i := range seen.pool {
		p, item := m.probability(seen, i), &seen.pool[i].Item
		out.Judgments = append(out.Judgments, datasets.Judgment{
			ChunkID: item.ChunkID, DocID: item.DocID, By: datasets.ByLabelModel, P: &p.P, PDraws: p.Draws,
		})
	}
	return out.Canonical()
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
