package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goldgen/goldgen/eval"
)

// GateChoice says what a result is held to, and how the verdict is read.
type GateChoice struct {
	Gates           []string // as written; none takes those of goldgen.yaml where the result is of a golden set
	Strict          bool     // a gate that cannot tell is no pass
	AcceptUntrusted bool     // gates may rest on a set whose trust is none
}

// CompareOptions name two results and what is asked of them.
type CompareOptions struct {
	Base, Candidate string   // folders
	Golden          string   // score both again under this version of the set
	Common          bool     // only the cases that are the same on both sides
	SliceBy         []string // default: those of the base
	PerCase         bool
	Seed            int64 // of resampling
	GateChoice
}

// defaultGates are what holds without a goldgen.yaml.
func defaultGates() *Config {
	c := DefaultConfig()
	return &c
}

// Compare tells how the candidate differs from the base. It needs nothing but
// the two folders: p may be nil, unless Golden is set. Results that are not
// comparable are an answer and no error.
func Compare(p *Project, o CompareOptions) (*eval.Comparison, error) {
	in, notes, err := compareInput(p, o)
	if err != nil {
		return nil, err
	}
	c, err := eval.Compare(in)
	if err != nil {
		return nil, gateTrouble(err)
	}
	c.Notes = append(c.Notes, notes...)
	p.holdSet(c)
	return c, nil
}

// compareInput reads both folders, under another version of the set where that
// was asked for.
func compareInput(p *Project, o CompareOptions) (eval.CompareInput, []string, error) {
	in := eval.CompareInput{Common: o.Common, Seed: o.Seed, PerCase: o.PerCase}
	base, err := readKept(o.Base)
	if err != nil {
		return in, nil, fmt.Errorf("base: %w", err)
	}
	candidate, err := readKept(o.Candidate)
	if err != nil {
		return in, nil, fmt.Errorf("candidate: %w", err)
	}
	notes := slices.Concat(sideNotes("base", base), sideNotes("candidate", candidate))
	if in.GateOptions, err = p.gateOptions(o.GateChoice, candidate.Result.Golden != nil); err != nil {
		return in, nil, err
	}
	if o.Golden != "" {
		more, err := p.underGolden(o, base, candidate)
		if err != nil {
			return in, nil, err
		}
		notes = append(notes, more...)
	}
	sliceBy := o.SliceBy
	for _, side := range []*Kept{base, candidate} {
		if err := side.sliceFor(sliceBy, in.Gates); err != nil {
			return in, nil, err
		}
	}
	in.Base, in.Candidate, in.Shift = base.Input, candidate.Input, shiftOf(base, candidate)
	if known := candidate.Scoring.Learning; known != nil {
		in.LabelsLeave = known.Leave
	}
	return in, notes, nil
}

// sideNotes repeats what a result says of itself and scoring again does not.
func sideNotes(side string, k *Kept) (notes []string) {
	for _, n := range k.Scoring.Notes {
		notes = append(notes, side+": "+n)
	}
	return notes
}

// sliceFor cuts the cases by what was asked for, and by what gates look at
// where the result can be cut so.
func (k *Kept) sliceFor(asked []string, gates []eval.Gate) error {
	names := asked
	if len(names) == 0 {
		names = k.Scoring.SliceBy
	}
	names = slices.Clone(names)
	for _, g := range gates {
		if d := g.Dimension(); d != "" && k.hasSlice(d) && !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	var err error
	if k.Input.Dimensions, err = k.Dimensions(names); err != nil {
		return err
	}
	k.Input.Slicing, err = k.Dimensions(k.SliceNames())
	return err
}

// gateOptions reads the gates that were given, or goldgen.yaml's; these are
// about a golden set, and say nothing of TREC files.
func (p *Project) gateOptions(c GateChoice, golden bool) (eval.GateOptions, error) {
	config, today := defaultGates(), time.Now
	if p != nil {
		config, today = &p.Config, p.Now
	}
	texts := c.Gates
	if len(texts) == 0 && golden {
		texts = config.Eval.Gates
	}
	o := eval.GateOptions{
		Alpha: config.Gate.Alpha, CannotTell: config.Gate.CannotTell, Waivers: config.Waivers,
		Today: today(), AcceptUntrusted: c.AcceptUntrusted,
	}
	if c.Strict {
		o.CannotTell = cannotTellFails
	}
	var err error
	if o.Gates, err = ParseGates(texts); err != nil {
		return o, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return o, nil
}

// cannotTellFails is the policy of --strict.
const cannotTellFails = "fail"

// MayCannotTell reports whether a verdict of cannot_tell lets a result through.
func (p *Project) MayCannotTell(strict bool) bool {
	return !strict && (p == nil || p.Config.Gate.CannotTell != cannotTellFails)
}

// gateTrouble says what to do about gates that cannot be looked at.
func gateTrouble(err error) error {
	var gate *eval.GateError
	var measure *eval.MeasureError
	switch {
	case errors.As(err, &gate), errors.As(err, &measure):
		return fmt.Errorf("%w: %w", ErrConfig, err)
	case errors.Is(err, eval.ErrUntrusted):
		return hinted("have labels judged, or say --accept-untrusted if the gate is only to try the pipeline out", "%w: %w", ErrConfig, err)
	}
	return err
}
