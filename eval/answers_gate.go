package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/internal/wording"
)

// mostUnknown is the share of unknown values above which a gate cannot tell: the
// mean would be one of the cases that happened to be readable.
const mostUnknown = 0.05

// AnswerGate is a condition on a measure of answers: a floor, or a drop against
// a baseline that is at most a margin.
type AnswerGate struct {
	floorOrDrop Gate // but for its measure, which is none of retrieval's
	measure     int  // index in AnswerMeasures
}

// String is the gate as it was written, spaces apart.
func (g AnswerGate) String() string { return g.floorOrDrop.text }

// NeedsBaseline reports whether the gate looks at two results.
func (g AnswerGate) NeedsBaseline() bool { return g.floorOrDrop.NeedsBaseline() }

// Dimension is the dimension whose slices each must pass, or "".
func (g AnswerGate) Dimension() string { return g.floorOrDrop.dimension }

// ParseAnswerGate reads a gate; an error is a *GateError:
//
//	faithfulness >= 0.9
//	correctness drop <= 0.02
//	correctness drop <= 0.02 by query_type
func ParseAnswerGate(text string) (AnswerGate, error) {
	p := newGateParser(text)
	first := p.next()
	measure := slices.Index(AnswerMeasures(), first.text)
	if measure < 0 {
		return AnswerGate{}, &GateError{
			Gate: text, At: first.at,
			Why:  "no measure of answers: these are " + strings.Join(AnswerMeasures(), ", "),
			Near: nearest(first.text, AnswerMeasures()),
		}
	}
	p.floorOrDrop()
	g, err := p.finish()
	return AnswerGate{g, measure}, err
}

// AnswerBaseline are the values of another result's cases, by id.
type AnswerBaseline map[string]Values

// Gates decides gates at a one-sided level alpha, as those of retrieval are:
// fail is harm that is significant after Holm over all of them, pass is a mean
// (or difference) that is significantly on the good side of its bound, each at
// its own level; else it cannot be told. The tests are cluster t tests, as the
// intervals are.
func (r *AnswersResult) Gates(gates []AnswerGate, base AnswerBaseline, alpha float64) ([]GateResult, error) {
	var tests []*decision
	for _, g := range gates {
		groups, err := r.gateGroups(g)
		if err != nil {
			return nil, err
		}
		for _, of := range groups {
			tests = append(tests, r.test(g, of, base))
		}
	}
	correct(tests)
	out := make([]GateResult, len(tests))
	for i, t := range tests {
		t.decide(alpha)
		out[i] = t.result()
	}
	return out, nil
}

func (r *AnswersResult) gateGroups(g AnswerGate) ([]*group, error) {
	dimension := g.Dimension()
	if dimension == "" {
		return []*group{&r.groups[0]}, nil
	}
	var out []*group
	for i := range r.groups {
		if d := r.groups[i].dimension; d >= 0 && r.in.Dimensions[d].Name == dimension {
			out = append(out, &r.groups[i])
		}
	}
	if len(out) == 0 {
		return nil, &GateError{
			Gate: g.String(), At: strings.LastIndex(g.String(), dimension),
			Why: "the result has no such slices; --slice-by makes them",
		}
	}
	return out, nil
}

// test fills in the p-values of a gate over one group, or a verdict where there
// is nothing to test.
func (r *AnswersResult) test(g AnswerGate, of *group, base AnswerBaseline) *decision {
	t := &decision{gate: g.floorOrDrop}
	if of.dimension >= 0 {
		d := &r.in.Dimensions[of.dimension]
		t.slice = d.Name + "=" + cmp.Or(d.values[of.value], noValue)
	}
	values, unknown, changed := r.gateValues(g, of, base)
	m := momentsOf(values, of.cases, r.clusters.of)[0]
	switch share := ratio(unknown, max(1, unknown+m.n)); {
	case m.n == 0:
		t.cannot("no case has a value")
	case share > mostUnknown:
		t.cannot(fmt.Sprintf("%.0f %% of the values are unknown, at most %.0f %% may be", 100*share, 100*mostUnknown))
	case g.NeedsBaseline() && !changed:
		t.verdict, t.why = Pass, fmt.Sprintf("0 of %s changed", casesWord(m.n))
	case m.clusters < minClusters:
		t.cannot(tooFew(m.clusters, "a test"))
	default:
		t.testMean(m)
	}
	return t
}

// gateValues are the values of a group's cases, or their differences to the
// baseline's, as the one column of a matrix.
func (r *AnswersResult) gateValues(g AnswerGate, of *group, base AnswerBaseline) (m *matrix, unknown int, changed bool) {
	m = newMatrix(len(r.in.Cases), 1)
	for _, i := range of.cases {
		v := r.values.row(int(i))[g.measure]
		unknown += btoi(r.unknown[i][g.measure])
		if g.NeedsBaseline() {
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

// testMean is the cluster t test of a mean, or of a mean difference, against
// the bound.
func (t *decision) testMean(m moments) {
	figure := fmt.Sprintf("mean %.4f", m.mean)
	t.above = m.mean - t.gate.bound
	if t.gate.kind == dropGate {
		figure, t.above = fmt.Sprintf("difference %+.4f", m.mean), m.mean+t.gate.bound
	}
	t.tested = true
	t.basis = fmt.Sprintf("%s over %s in %s", figure, casesWord(m.n), wording.Count(m.clusters, "cluster"))
	t.harm, t.pass = boundTails(t.above, m.variance, float64(m.clusters-1))
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
