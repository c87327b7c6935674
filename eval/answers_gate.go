package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostUnknown is the share of unknown values above which a gate cannot tell: the
// mean would be one of the cases that happened to be readable.
const mostUnknown = 0.05

// AnswerGate is a condition on a measure of answers: a floor, or a drop against
// a baseline that is at most a margin.
type AnswerGate struct {
	text      string
	measure   int
	drop      bool
	bound     float64
	dimension string
}

// String is the gate as it was written, spaces apart.
func (g AnswerGate) String() string { return g.text }

// NeedsBaseline reports whether the gate looks at two results.
func (g AnswerGate) NeedsBaseline() bool { return g.drop }

// Dimension is the dimension whose slices each must pass, or "".
func (g AnswerGate) Dimension() string { return g.dimension }

// ParseAnswerGate reads a gate; an error is a *GateError:
//
//	faithfulness >= 0.9
//	correctness drop <= 0.02
//	correctness drop <= 0.02 by query_type
func ParseAnswerGate(text string) (AnswerGate, error) {
	p := &gateParser{text: text, words: gateWords(text)}
	g := AnswerGate{text: strings.Join(strings.Fields(text), " ")}
	first := p.next()
	if g.measure = slices.Index(AnswerMeasures(), first.text); g.measure < 0 {
		return g, &GateError{
			Gate: text, At: first.at,
			Why:  "no measure of answers: these are " + strings.Join(AnswerMeasures(), ", "),
			Near: nearest(first.text, AnswerMeasures()),
		}
	}
	if g.drop = p.peek() == "drop"; g.drop {
		p.next()
		p.expect("<=", `"<="`)
	} else {
		p.expect(">=", `">=" or "drop <="`)
	}
	p.bound()
	p.by()
	if rest := p.next(); p.err == nil && rest.text != "" {
		p.fail(rest, "expected nothing more")
	}
	g.bound, g.dimension = p.gate.bound, p.gate.dimension
	return g, p.err
}

// AnswerBaseline are the values of another result's cases, by id.
type AnswerBaseline map[string]Values

// Gates decides gates at a one-sided level alpha. Fail is harm that is
// significant after Holm over all of them, pass is a mean (or difference) that
// is significantly on the good side of its bound, each at its own level; else
// it cannot be told. The tests are cluster t tests, as the intervals are.
func (r *AnswersResult) Gates(gates []AnswerGate, base AnswerBaseline, alpha float64) ([]GateResult, error) {
	var tests []gateTest
	for _, g := range gates {
		groups, err := r.gateGroups(g)
		if err != nil {
			return nil, err
		}
		for _, of := range groups {
			tests = append(tests, r.test(g, of, base))
		}
	}
	correctHarm(tests)
	out := make([]GateResult, len(tests))
	for i, t := range tests {
		out[i] = t.result(alpha)
	}
	return out, nil
}

func (r *AnswersResult) gateGroups(g AnswerGate) ([]*group, error) {
	if g.dimension == "" {
		return []*group{&r.groups[0]}, nil
	}
	var out []*group
	for i := range r.groups {
		if d := r.groups[i].dimension; d >= 0 && r.in.Dimensions[d].Name == g.dimension {
			out = append(out, &r.groups[i])
		}
	}
	if len(out) == 0 {
		return nil, &GateError{Gate: g.text, At: strings.LastIndex(g.text, g.dimension), Why: "the result has no such slices; --slice-by makes them"}
	}
	return out, nil
}

// gateTest is one gate over one group, before it is decided.
type gateTest struct {
	gate    AnswerGate
	slice   string
	figures string
	tested  bool
	undone  string  // why it is not tested
	passed  bool    // without a test: nothing changed
	harm    float64 // p of a mean at the bound being this low or lower
	holm    float64 // harm after Holm
	safe    float64 // p of a mean at the bound being this high or higher
}

func (r *AnswersResult) test(g AnswerGate, of *group, base AnswerBaseline) gateTest {
	t := gateTest{gate: g}
	if of.dimension >= 0 {
		d := &r.in.Dimensions[of.dimension]
		t.slice = d.Name + "=" + cmp.Or(d.values[of.value], noValue)
	}
	values, unknown, changed := r.gateValues(g, of, base)
	m := momentsOf(values, of.cases, r.clusters.of)[0]
	t.figures = fmt.Sprintf("%s over %d cases in %d clusters", g.figure(m.mean), m.n, m.clusters)
	switch share := ratio(unknown, max(1, unknown+m.n)); {
	case m.n == 0:
		t.undone = "no case has a value"
	case share > mostUnknown:
		t.undone = fmt.Sprintf("%.0f %% of the values are unknown, at most %.0f %% may be", 100*share, 100*mostUnknown)
	case g.drop && !changed:
		t.passed, t.figures = true, fmt.Sprintf("0 of %d cases changed", m.n)
	case m.clusters < minClusters:
		t.undone = fmt.Sprintf("%d independent cases, a test needs %d", m.clusters, minClusters)
	default:
		t.test(m)
	}
	return t
}

func (g AnswerGate) figure(mean float64) string {
	if g.drop {
		return fmt.Sprintf("difference %+.4f", mean)
	}
	return fmt.Sprintf("mean %.4f", mean)
}

// gateValues are the values of a group's cases, or their differences to the
// baseline's, as the one column of a matrix.
func (r *AnswersResult) gateValues(g AnswerGate, of *group, base AnswerBaseline) (m *matrix, unknown int, changed bool) {
	m = newMatrix(len(r.in.Cases), 1)
	for _, i := range of.cases {
		v := r.values.row(int(i))[g.measure]
		unknown += btoi(r.unknown[i][g.measure])
		if g.drop {
			before, ok := base[r.in.Cases[i].ID].Get(AnswerMeasures()[g.measure])
			if !ok {
				before = math.NaN()
			}
			changed = changed || math.IsNaN(v) != math.IsNaN(before) || v < before || v > before
			v -= before
		}
		m.row(int(i))[0] = v
	}
	return m, unknown, changed
}

// test is the cluster t test of the mean against the bound, on both sides.
func (t *gateTest) test(m moments) {
	bound := t.gate.bound
	if t.gate.drop {
		bound = -bound
	}
	t.tested = true
	above := m.mean - bound
	if m.variance == 0 {
		below := above < -sameValue
		t.harm, t.safe = float64(btoi(!below)), float64(btoi(below))
		return
	}
	dist := distuv.StudentsT{Sigma: 1, Nu: float64(m.clusters - 1)}
	t.harm, t.safe = dist.CDF(above/math.Sqrt(m.variance)), dist.Survival(above/math.Sqrt(m.variance))
}

// correctHarm puts Holm's adjusted p-values in the place of those of harm, over
// all gates that are tested.
func correctHarm(tests []gateTest) {
	var ps []float64
	for _, t := range tests {
		if t.tested {
			ps = append(ps, t.harm)
		}
	}
	adjusted := adjust(ps)
	for i := range tests {
		if tests[i].tested {
			tests[i].holm, adjusted = adjusted[0], adjusted[1:]
		}
	}
}

func (t *gateTest) result(alpha float64) GateResult {
	out := GateResult{Gate: t.gate.text, Slice: t.slice}
	bound := fmt.Sprintf("the floor of %v", t.gate.bound)
	if t.gate.drop {
		bound = fmt.Sprintf("the margin of %v", t.gate.bound)
	}
	switch {
	case t.passed:
		out.Verdict, out.Why = Pass, t.figures
	case !t.tested:
		out.Verdict, out.Why = CannotTell, t.figures+": "+t.undone
	case t.holm <= alpha:
		out.Verdict, out.Why = Fail, fmt.Sprintf("%s: worse than %s (p %.2g, %.2g after Holm)", t.figures, bound, t.harm, t.holm)
	case t.safe <= alpha:
		out.Verdict, out.Why = Pass, fmt.Sprintf("%s: within %s (p %.2g)", t.figures, bound, t.safe)
	default:
		out.Verdict = CannotTell
		out.Why = fmt.Sprintf("%s: neither worse than %s (p %.2g) nor within it (p %.2g) for sure", t.figures, bound, t.harm, t.safe)
	}
	return out
}

// AnswerVerdict is the verdict of all gates: fail if one fails, else cannot
// tell if one cannot, else pass; "" without a gate.
func AnswerVerdict(gates []GateResult) string {
	verdict := ""
	for _, g := range gates {
		switch {
		case g.Verdict == Fail:
			return Fail
		case g.Verdict == CannotTell, verdict == "":
			verdict = g.Verdict
		}
	}
	return verdict
}
