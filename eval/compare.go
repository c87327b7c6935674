package eval

import (
	"errors"
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
	// measure. It is asked for only where labels are uncertain; nil means 0.
	Shift func(m Measure) float64

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

// checked validates what is asked of a comparison.
func (in *CompareInput) checked() (*matched, error) {
	m, err := match(in)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Compare tells how the candidate differs from the base on the same cases, with
// intervals, tests and the gates' verdicts. Results that are not comparable are
// an answer, not an error: Comparable is false and Differs says why.
//
// An error is a *GateError for a gate that names what the results lack,
// ErrUntrusted for gates on labels of trust none, or one of Evaluate's.
func Compare(in CompareInput) (*Comparison, error) {
	m, err := in.checked()
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Comparable: len(m.differs) == 0, Differs: nonNil(m.differs), Golden: in.Candidate.Golden,
		Base: in.Base.Retriever, Candidate: in.Candidate.Retriever, Cases: len(m.base.Cases),
		Verdict: CannotTell, Notes: nonNil(m.notes),
	}
	return c, nil
}
