package eval

import (
	"cmp"
	"fmt"
)

// gateData is what tested gates look at: a candidate alone, or beside a base.
type gateData struct {
	candidate *scores
	pair      *differ // nil without a base
}

// gateRun decides gates.
type gateRun struct {
	gateData
	o          *GateOptions
	gates      []Gate
	trust      string
	rule       judgedRule
	sourceOnly *gateData // the same under source-only labels; nil where verdicts do not need them
	identical  bool      // both sides returned the same
}

// decision is one gate in one group of cases.
type decision struct {
	gate    Gate
	group   int
	slice   string
	verdict string
	why     string

	// Of a test that was made: how likely figures as bad, or as good, are at the
	// bound, and how far the estimate is above it.
	tested            bool
	harm, pass, above float64
	harmHolm          float64
	basis             string // what the estimate is, in words
}

// CheckGates decides the gates that need no baseline on one result. A drop is
// an error.
func CheckGates(in Input, o GateOptions) (*GateCheck, error) {
	for _, g := range o.Gates {
		if g.NeedsBaseline() {
			return nil, &GateError{Gate: g.text, Why: "a drop needs a baseline to compare with"}
		}
	}
	measures, err := addGates(in.Measures, o.Gates, &in)
	if err != nil {
		return nil, err
	}
	k := judgedCut(o.Gates, measures, in.K)
	if in.Measures, err = addHidden(measures, o.Gates, k, &in); err != nil {
		return nil, err
	}
	if err := o.check(&in, in.Trust); err != nil {
		return nil, err
	}
	s, err := newScores(in)
	if err != nil {
		return nil, err
	}
	s.scoreAll()
	rule := judgedRuleOf(&in, in.Trust, JudgedPair{K: k, Candidate: s.judgedShare()})
	run := &gateRun{gateData: gateData{candidate: s}, o: &o, gates: o.Gates, trust: in.Trust, rule: rule}
	results, notes, err := run.decide()
	if err != nil {
		return nil, err
	}
	if rule.warn {
		notes = append(notes, rule.why)
	}
	return &GateCheck{Gates: results, Verdict: run.verdict(results), Notes: nonNil(notes)}, nil
}

// gate fills in the gates and the verdict.
func (c *Comparison) gate(d *differ, o *GateOptions, rule judgedRule) error {
	run := &gateRun{
		gateData: gateData{candidate: d.candidate.scores, pair: d}, o: o, gates: o.Gates, trust: c.Trust, rule: rule,
		identical: d.sameRankings(),
	}
	results, notes, err := run.decide()
	if err != nil {
		return err
	}
	c.Gates, c.Verdict = results, run.verdict(results)
	c.Notes = append(c.Notes, notes...)
	return nil
}

// untold answers every gate without looking.
func untold(gates []Gate, why string) []GateResult {
	out := make([]GateResult, len(gates))
	for i, g := range gates {
		out[i] = GateResult{Gate: g.text, Verdict: CannotTell, Why: why}
	}
	return out
}

// decide answers every gate, in order, and adds that of leaks where there are
// leaks and none looks at them.
func (r *gateRun) decide() ([]GateResult, []string, error) {
	r.watchLeaks()
	if err := r.readSourceOnly(); err != nil {
		return nil, nil, err
	}
	var tests []*decision
	for _, g := range r.gates {
		tests = append(tests, r.testsOf(g)...)
	}
	correct(tests)
	out := make([]GateResult, len(tests))
	for i, t := range tests {
		r.judge(t)
		out[i] = t.result()
		if t.verdict != Pass {
			out[i].Waived = r.o.waiver(t.gate)
		}
	}
	return out, r.o.waiverNotes(r.gates, r.candidate.in.Cases), nil
}

// watchLeaks adds a gate: one leak is a failure, asked for or not.
func (r *gateRun) watchLeaks() {
	for _, g := range r.gates {
		if g.kind == leaksGate {
			return
		}
	}
	if len(leaksIn(&r.candidate.in)) > 0 {
		r.gates = append(r.gates[:len(r.gates):len(r.gates)], Gate{text: "leaks = 0", kind: leaksGate})
	}
}

// testsOf makes a gate's tests: one, or one a slice.
func (r *gateRun) testsOf(g Gate) []*decision {
	switch g.kind {
	case latencyGate:
		return []*decision{r.latency(g)}
	case leaksGate:
		return []*decision{r.leaks(g)}
	case criticalGate:
		return []*decision{r.critical(g)}
	}
	if g.dimension == "" {
		return []*decision{r.test(&decision{gate: g})}
	}
	var out []*decision
	for i, group := range r.candidate.groups {
		if group.dimension < 0 || r.candidate.in.Dimensions[group.dimension].Name != g.dimension {
			continue
		}
		value := r.candidate.in.Dimensions[group.dimension].values[group.value]
		out = append(out, r.test(&decision{gate: g, group: i, slice: g.dimension + "=" + cmp.Or(value, noValue)}))
	}
	if len(out) == 0 {
		return []*decision{{gate: g, verdict: CannotTell, why: "no case has a " + g.dimension}}
	}
	return out
}

// correct fills in Holm's adjusted p-values of harm over all tests.
func correct(tests []*decision) {
	var ps []float64
	for _, t := range tests {
		if t.tested {
			ps = append(ps, t.harm)
		}
	}
	adjusted := adjust(ps)
	for _, t := range tests {
		if t.tested {
			t.harmHolm, adjusted = adjusted[0], adjusted[1:]
		}
	}
}

// judge decides a test, as far as the labels carry it. The others have their
// verdicts already.
func (r *gateRun) judge(t *decision) {
	if t.tested {
		t.decide(r.o.alpha())
		r.holdBack(t)
	}
}

// decide turns the p-values of a test into a verdict.
func (t *decision) decide(alpha float64) {
	if !t.tested {
		return
	}
	worse, better, of := "worse by more than", "within", fmt.Sprintf("the margin of %v", t.gate.bound)
	if t.gate.kind == floorGate {
		worse, better, of = "below", "above", fmt.Sprintf("the floor of %v", t.gate.bound)
	}
	switch {
	case t.harmHolm <= alpha:
		t.verdict, t.why = Fail, fmt.Sprintf("%s: %s %s (p %.2g, %.2g after Holm)", t.basis, worse, of, t.harm, t.harmHolm)
	case t.pass <= alpha:
		t.verdict, t.why = Pass, fmt.Sprintf("%s: %s %s (p %.2g)", t.basis, better, of, t.pass)
	default:
		t.verdict = CannotTell
		t.why = fmt.Sprintf("%s: not for sure %s %s (p %.2g), nor %s it (p %.2g)", t.basis, worse, of, t.harm, better, t.pass)
	}
}

func (t *decision) result() GateResult {
	return GateResult{Gate: t.gate.text, Slice: t.slice, Verdict: t.verdict, Why: t.why}
}

// holdBack makes a verdict one that cannot tell where the labels do not carry
// it.
func (r *gateRun) holdBack(t *decision) {
	if t.verdict == CannotTell {
		return
	}
	if r.rule.bites {
		t.verdict, t.why = CannotTell, t.why+"; but "+r.rule.why
		return
	}
	if r.sourceOnly == nil {
		return
	}
	above, n := r.sourceOnly.above(t.gate, t.group)
	if n > 0 && (above < -sameValue) != (t.verdict == Fail) {
		t.verdict = CannotTell
		t.why += fmt.Sprintf("; but with only the source as label it is %+.4f from that bound, and trust %q needs both to agree", above, r.trust)
	}
}

// verdict sums the gates up. Without a gate nothing can fail. Two means are not
// told apart where results are unjudged, whatever the gates look at.
func (r *gateRun) verdict(results []GateResult) string {
	out := Pass
	if r.pair != nil && r.rule.bites && !r.identical {
		out = CannotTell
	}
	for _, g := range results {
		switch {
		case g.Waived != nil || g.Verdict == Pass:
		case g.Verdict == Fail:
			return Fail
		case r.o.CannotTell != passPolicy:
			out = CannotTell
		}
	}
	return out
}
