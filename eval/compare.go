package eval

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrUntrusted is the error of a gate that rests on the labels of a set whose
// trust is none, where GateOptions.AcceptUntrusted is not set.
var ErrUntrusted = errors.New("nobody has judged the labels of this set (trust: none)")

// CompareInput is two results over the same cases, and what is asked of them.
type CompareInput struct {
	// Base and Candidate are each whole, as Evaluate takes it. Cases are matched
	// by id, dimensions are those of Base. Labels are drawn under Base.Seed on
	// both sides. The measures compared are those that both have, and those of
	// the gates.
	Base, Candidate Input

	Common  bool  // compare only the cases that both have and that are the same
	Seed    int64 // of resampling
	PerCase bool  // fill Comparison.PerCase

	// Shift is the label model's shift variance of a difference of means of a
	// measure, between two retrievers that have nothing in common, where level is
	// the mean of their two means; it counts by the square of how far the rankings
	// lie apart (Apart). It is asked for only where labels are uncertain; nil means
	// 0.
	Shift func(m Measure, level float64) float64

	// LabelsLeave is what so many more labels by people are expected to leave of
	// the variance between draws and of the shift variance, as shares. It is for
	// Comparison.Labels alone; nil where it is not known.
	LabelsLeave func(more int) (draws, shift float64)

	GateOptions
}

// GateOptions says what must hold.
type GateOptions struct {
	Gates           []Gate
	Alpha           float64 // one-sided level of the gates; 0 means 0.05
	CannotTell      string  // fail, warn (also "") or pass: with pass, gates that cannot tell do not keep a verdict from being pass
	Waivers         []Waiver
	Today           time.Time // the day on which waivers are looked at
	AcceptUntrusted bool      // let gates rest on labels whose trust is none
}

// GateCheck is what gates say of one result without a baseline.
type GateCheck struct {
	Gates   []GateResult `json:"gates"`
	Verdict string       `json:"verdict"`
	Notes   []string     `json:"notes"`
}

// Compare tells how the candidate differs from the base on the same cases, with
// intervals, tests and the gates' verdicts. Results that are not comparable are
// an answer, not an error: Comparable is false, Differs says why, and every gate
// cannot tell.
//
// An error is a *GateError for a gate that names what the results lack, a
// *WaiverError, ErrUntrusted for gates on labels of trust none, or one of
// Evaluate's.
func Compare(in CompareInput) (*Comparison, error) {
	m, err := match(&in)
	if err != nil {
		return nil, err
	}
	if err := m.share(in.Gates); err != nil {
		return nil, err
	}
	trust := lowerTrust(in.Base.Trust, in.Candidate.Trust)
	if err := in.GateOptions.check(&m.base, trust); err != nil {
		return nil, err
	}
	c := m.head(trust)
	if !c.Comparable {
		c.Gates = untold(in.Gates, "the two results are not comparable")
		return c, nil
	}
	p, err := newPairing(m.base, m.candidate, nil)
	if err != nil {
		return nil, err
	}
	p.shown = m.shown
	d := &differ{pairing: p, flips: newFlipper(in.Seed, flipDraws), seed: in.Seed, shift: in.Shift, leave: in.LabelsLeave}
	c.measure(d)
	rule := judgedRuleOf(&p.candidate.in, trust, c.Judged)
	if err := c.gate(d, &in.GateOptions, rule); err != nil {
		return nil, err
	}
	c.Notes = append(c.Notes, d.notes(c, rule)...)
	if in.PerCase {
		c.PerCase = p.perCase()
	}
	return c, nil
}

// head is what is known before anything is scored.
func (m *matched) head(trust string) *Comparison {
	detail := m.candidate.TrustDetail
	if trust != m.candidate.Trust {
		detail = m.base.TrustDetail
	}
	return &Comparison{
		Comparable: len(m.differs) == 0, Differs: nonNil(m.differs), Golden: m.candidate.Golden,
		Trust: trust, TrustDetail: detail, Base: m.base.Retriever, Candidate: m.candidate.Retriever,
		Settings: settingsDiffer(m.base.Retriever, m.candidate.Retriever), Cases: len(m.base.Cases),
		Judged: JudgedPair{K: m.judgedK}, Metrics: Differences{}, Slices: DifferenceSlices{},
		Leaks:   LeakPair{Base: len(leaksIn(&m.base)), Candidate: len(leaksIn(&m.candidate))},
		Latency: LatencyPair{Base: latencyOf(m.base.Cases), Candidate: latencyOf(m.candidate.Cases)},
		Gates:   []GateResult{}, Verdict: CannotTell, Notes: nonNil(m.notes),
	}
}

// measure fills in the differences.
func (c *Comparison) measure(d *differ) {
	c.Method = d.method()
	c.Clusters = d.base.groups[0].clusters(d.base.scores)
	c.Changed = d.changed()
	c.Judged.Base, c.Judged.Candidate = d.base.judgedShare(), d.candidate.judgedShare()
	c.Metrics = d.metrics()
	c.Labels = d.outlook(c.Metrics)
	c.Slices = d.slices()
}

// method names how intervals and tests were made.
func (d *differ) method() string {
	if d.base.drawn {
		return fmt.Sprintf("uncertain labels: %d draws (seed %d), variance W + (1 + 1/m) B + S: over clusters, between draws, of the label model; t with Satterthwaite's degrees of freedom", drawCount, d.base.in.Seed)
	}
	return fmt.Sprintf("certain labels: percentile bootstrap over clusters (%d, seed %d); sign-flip permutation over clusters (exact up to %d that changed, else %d draws)",
		bootDraws, d.seed, exactClusters, flipDraws)
}

// perCase lists every case's values on both sides.
func (p *pairing) perCase() []CaseDifference {
	out := make([]CaseDifference, len(p.base.in.Cases))
	for i := range out {
		out[i] = CaseDifference{
			CaseID: p.base.in.Cases[i].ID,
			Base:   shownOnly(p.base.caseValues(i), p), Candidate: shownOnly(p.candidate.caseValues(i), p),
		}
	}
	return out
}

func shownOnly(v Values, p *pairing) Values {
	return slices.DeleteFunc(v, func(x Value) bool {
		return !slices.ContainsFunc(p.base.in.Measures[:p.shown], func(m Measure) bool { return m.Name == x.Name })
	})
}
