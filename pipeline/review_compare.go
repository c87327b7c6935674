package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/review"
)

// comparedPair is the comparison that labels are to narrow: two results under
// the labels of the set, on the cases that both asked.
type comparedPair struct {
	in      eval.CompareInput
	measure eval.Measure
	what    string
	paths   []string
	mode    datasets.SourceMode
	section func(string) string
	sides   [2]*Kept

	refit *refit           // nil where labels do not come of a label model
	last  *review.Interval // under the labels at the last fit
	at    int              // how many they were
	shown bool             // last is known
}

// comparePair reads two results and puts them under the set's labels.
func (p *Project) comparePair(set *datasets.Set, paths []string) (*comparedPair, error) {
	var sides [2]*Kept
	for i, path := range paths {
		k, err := readKept(path)
		if err != nil {
			return nil, fmt.Errorf("result %s: %w", path, err)
		}
		if k.Input.Unit == eval.UnitSpans {
			return nil, fmt.Errorf("%w: result %s ranks spans, and labels are of chunks", ErrNotComparable, path)
		}
		if _, err := k.rescoreUnder(set); err != nil {
			return nil, err
		}
		sides[i] = k
	}
	base, candidate := sides[0], sides[1]
	if a, b := base.Result.Conventions.Source, candidate.Result.Conventions.Source; a != b {
		return nil, fmt.Errorf("%w: one result was scored with --source %s, the other with %s", ErrNotComparable, a, b)
	}
	mode, err := datasets.ParseSourceMode(base.Result.Conventions.Source)
	if err != nil {
		return nil, err
	}
	c := &comparedPair{paths: paths, mode: mode, section: base.sections(), sides: sides}
	if c.measure, err = p.measureOf(base, candidate); err != nil {
		return nil, err
	}
	c.what = fmt.Sprintf("%s, %s less %s", c.measure.Name, candidate.Retriever.Name, base.Retriever.Name)
	c.in = eval.CompareInput{Base: c.side(base), Candidate: c.side(candidate), Shift: shiftOf(base, candidate)}
	c.keepCommon()
	if len(c.in.Base.Cases) == 0 {
		return nil, fmt.Errorf("%w: no case was asked in both %s and %s", ErrNotComparable, paths[0], paths[1])
	}
	return c, nil
}

// measureOf is that of the first gate against a baseline, else the nDCG of the
// greatest cut that both have, else the first measure that both have.
func (p *Project) measureOf(base, candidate *Kept) (eval.Measure, error) {
	gates, err := ParseGates(p.Config.Eval.Gates)
	if err != nil {
		return eval.Measure{}, err
	}
	for _, g := range gates {
		if m, ok := g.Measure(); ok && g.NeedsBaseline() && len(m.Conditions()) == 0 {
			return m, nil
		}
	}
	var both []eval.Measure
	for _, m := range base.Input.Measures {
		if len(m.Conditions()) == 0 && slices.ContainsFunc(candidate.Input.Measures, func(o eval.Measure) bool { return o.Canonical() == m.Canonical() }) {
			both = append(both, m)
		}
	}
	if len(both) == 0 {
		return eval.Measure{}, fmt.Errorf("%w: the two results have no measure in common", ErrNotComparable)
	}
	best := both[0]
	for _, m := range both {
		if isNDCG(m) && (!isNDCG(best) || m.K() > best.K()) {
			best = m
		}
	}
	return best, nil
}

func isNDCG(m eval.Measure) bool { return strings.HasPrefix(m.Canonical(), "ndcg@") }

func (c *comparedPair) side(k *Kept) eval.Input {
	in := k.Input
	in.Measures, in.Dimensions, in.Slicing = []eval.Measure{c.measure}, nil, nil
	return in
}

// keepCommon leaves the cases that both sides have, in one order.
func (c *comparedPair) keepCommon() {
	at := map[string]int{}
	for i := range c.in.Candidate.Cases {
		at[c.in.Candidate.Cases[i].ID] = i
	}
	var base, candidate []eval.Case
	for _, x := range c.in.Base.Cases {
		if i, ok := at[x.ID]; ok {
			base, candidate = append(base, x), append(candidate, c.in.Candidate.Cases[i])
		}
	}
	c.in.Base.Cases, c.in.Candidate.Cases = base, candidate
}

// decisive chooses the labels that the comparison rests on most.
func (c *comparedPair) decisive(pool []review.Pair, n int) ([]review.Worth, error) {
	return review.Decisive(c.in.Base, c.in.Candidate, c.measure, pool, n)
}

// interval compares with these cases in the place of the set's. Nil is a
// comparison without an interval, of too few independent cases say. Where the
// set's labels come of a label model, it is fitted again on the labels first, as
// calibrate does, at every refitEvery labels; in between the interval stays.
func (c *comparedPair) interval(_ context.Context, labelled []datasets.Case) (*review.Interval, error) {
	if c.refit == nil {
		return c.compare(relabelled{cases: labelled, shift: c.in.Shift})
	}
	labels := humanLabels(withChanged(c.refit.set.Cases, labelled))
	n := len(labels) - c.refit.before
	if c.shown && (n-c.at < refitEvery && c.at-n < refitEvery) {
		return copied(c.last), nil
	}
	now, err := c.refit.fitted(c, labelled, labels)
	if err != nil {
		return nil, err
	}
	if c.last, err = c.compare(now); err != nil {
		return nil, err
	}
	c.at, c.shown = n, true
	return copied(c.last), nil
}

func copied(i *review.Interval) *review.Interval {
	if i == nil {
		return nil
	}
	out := *i
	return &out
}

// compare puts cases in the place of the set's. One with another wording, or not
// active, was not asked so and drops out.
func (c *comparedPair) compare(now relabelled) (*review.Interval, error) {
	changed := map[string]*datasets.Case{}
	for i := range now.cases {
		changed[now.cases[i].ID] = &now.cases[i]
	}
	in := c.in
	in.Shift = now.shift
	in.Base.Cases, in.Candidate.Cases = c.under(in.Base.Cases, changed), c.under(in.Candidate.Cases, changed)
	if len(in.Base.Cases) == 0 {
		return nil, nil
	}
	if now.chance != nil {
		for i := range in.Base.Cases {
			labels := now.chance(in.Base.Cases[i].ID, in.Base.Cases[i].Labels)
			in.Base.Cases[i].Labels, in.Candidate.Cases[i].Labels = labels, labels
		}
	}
	answer, err := eval.Compare(in)
	if err != nil {
		return nil, err
	}
	d, ok := answer.Metrics.Get(c.measure.Name)
	if !ok || d.Low == nil || d.High == nil {
		return nil, nil
	}
	return &review.Interval{What: c.what, Low: *d.Low, High: *d.High, WidthAtStart: *d.High - *d.Low, Width: *d.High - *d.Low}, nil
}

// under puts changed cases in the place of the set's, with the rankings kept.
func (c *comparedPair) under(cases []eval.Case, changed map[string]*datasets.Case) []eval.Case {
	out := make([]eval.Case, 0, len(cases))
	for _, old := range cases {
		now, ok := changed[old.ID]
		if !ok {
			out = append(out, old)
			continue
		}
		next, _ := eval.FromGolden(now, c.mode, c.section)
		if now.Status != datasets.Active || !sameQuestion(old.Background, next.Background) {
			continue
		}
		next.Ranking, next.Scores, next.Spans, next.Took, next.Failed = old.Ranking, old.Scores, old.Spans, old.Took, old.Failed
		out = append(out, next)
	}
	return out
}
