package eval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
)

const (
	gateAlpha  = 0.05 // unless GateOptions says another level
	passPolicy = "pass"
)

// gatePolicies are what may become of gates that cannot tell.
var gatePolicies = []string{"fail", "warn", passPolicy}

// alpha is the level of the gates.
func (o *GateOptions) alpha() float64 { return cmp.Or(o.Alpha, gateAlpha) }

// check refuses what the result cannot answer.
func (o *GateOptions) check(in *Input, trust string) error {
	if a := o.alpha(); !(a > 0 && a < 0.5) {
		return fmt.Errorf("level of the gates %v: want more than 0 and less than 0.5", a)
	}
	if o.CannotTell != "" && !slices.Contains(gatePolicies, o.CannotTell) {
		return fmt.Errorf("gates that cannot tell: %q: want %s", o.CannotTell, strings.Join(gatePolicies, ", "))
	}
	for _, g := range o.Gates {
		if err := g.checkDimension(in.Dimensions); err != nil {
			return err
		}
		if g.needsLabels() && trust == datasets.TrustNone && !o.AcceptUntrusted {
			return fmt.Errorf("gate %q: %w", g.text, ErrUntrusted)
		}
	}
	return o.checkWaivers()
}

// CheckReach reports a gate on what a result with these measures, cuts and
// dimensions will not have, as a *GateError or a *MeasureError.
func CheckReach(gates []Gate, measures []Measure, ks []int, dimensions []Dimension) error {
	in := Input{Measures: measures, Header: Header{K: ks}}
	all, err := addGates(measures, gates, &in)
	if err == nil {
		all, err = addHidden(all, gates, judgedCut(gates, all, ks), &in)
	}
	if err != nil {
		return err
	}
	return CheckConditions(all, dimensions)
}

// checkDimension refuses a gate by slices that the results do not have.
func (g Gate) checkDimension(dimensions []Dimension) error {
	if g.dimension == "" {
		return nil
	}
	names := make([]string, len(dimensions))
	for i := range dimensions {
		names[i] = dimensions[i].Name
	}
	if slices.Contains(names, g.dimension) {
		return nil
	}
	return &GateError{
		Gate: g.text, At: len(g.text) - len(g.dimension),
		Why: fmt.Sprintf("the results are not sliced by %s", g.dimension), Near: nearest(g.dimension, names),
	}
}

// WaiverError says what is wrong with a waiver.
type WaiverError struct {
	Waiver Waiver
	Err    error
}

func (e *WaiverError) Error() string { return fmt.Sprintf("waiver of %q: %v", e.Waiver.Gate, e.Err) }

func (e *WaiverError) Unwrap() error { return e.Err }

func (o *GateOptions) checkWaivers() error {
	if len(o.Waivers) > 0 && o.Today.IsZero() {
		return errors.New("waivers: the day on which to look at them is not given")
	}
	for _, w := range o.Waivers {
		if err := w.check(); err != nil {
			return &WaiverError{Waiver: w, Err: err}
		}
	}
	return nil
}

func (w Waiver) check() error {
	g, err := ParseGate(w.Gate)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(w.Reason) == "":
		return errors.New("it gives no reason")
	case strings.TrimSpace(w.Owner) == "":
		return errors.New("it names no owner")
	case w.Case != "" && g.kind != leaksGate && g.kind != criticalGate:
		return errors.New("it is for one case, but the gate looks at all cases together")
	}
	if _, err := time.Parse(time.DateOnly, w.Until); err != nil {
		return fmt.Errorf("until %q: want the last day, such as 2027-01-31", w.Until)
	}
	return nil
}

// expired reports whether the last day is over.
func (w *Waiver) expired(today time.Time) bool { return today.Format(time.DateOnly) > w.Until }

// waives reports whether a waiver is of this gate, however it is spelled.
func (w *Waiver) waives(g Gate) bool {
	other, err := ParseGate(w.Gate)
	return err == nil && other.key() == g.key()
}

// key is equal for two spellings of one gate.
func (g Gate) key() Gate {
	g.text, g.measure.Name = "", g.measure.Canonical()
	if !g.tested() {
		g.measure = Measure{}
	}
	return g
}

// waiver is the one that holds for the whole gate today, or nil.
func (o *GateOptions) waiver(g Gate) *Waiver {
	for i := range o.Waivers {
		if w := &o.Waivers[i]; w.Case == "" && w.waives(g) && !w.expired(o.Today) {
			return w
		}
	}
	return nil
}

// waivedCases are the waivers that hold today for single cases of the gate.
func (o *GateOptions) waivedCases(g Gate) map[string]*Waiver {
	out := map[string]*Waiver{}
	for i := range o.Waivers {
		if w := &o.Waivers[i]; w.Case != "" && w.waives(g) && !w.expired(o.Today) {
			out[w.Case] = w
		}
	}
	return out
}

// waiverNotes names the waivers that have no effect.
func (o *GateOptions) waiverNotes(gates []Gate, cases []Case) []string {
	var notes []string
	for i := range o.Waivers {
		w := &o.Waivers[i]
		what := fmt.Sprintf("waiver of %q", w.Gate)
		if w.Case != "" {
			what += fmt.Sprintf(" for case %q", w.Case)
		}
		switch {
		case w.expired(o.Today):
			notes = append(notes, fmt.Sprintf("%s expired on %s (%s: %s)", what, w.Until, w.Owner, w.Reason))
		case !slices.ContainsFunc(gates, w.waives):
			notes = append(notes, what+": it is none of the gates that were looked at")
		case w.Case != "" && !slices.ContainsFunc(cases, func(c Case) bool { return c.ID == w.Case }):
			notes = append(notes, what+": there is no such case")
		}
	}
	return notes
}
