package eval

import (
	"fmt"
	"slices"
)

// share settles which measures are compared: those that both sides have, in the
// base's order, then those of the gates, then judged@k for the rule on unjudged
// results. A gate whose measure the kept rankings cannot give is an error.
func (m *matched) share(gates []Gate) error {
	both := slices.DeleteFunc(slices.Clone(m.base.Measures), func(x Measure) bool { return !hasMeasure(m.candidate.Measures, x) })
	if left := without(m.base.Measures, both); len(left) > 0 {
		m.notes = append(m.notes, "only the base has "+left)
	}
	if left := without(m.candidate.Measures, both); len(left) > 0 {
		m.notes = append(m.notes, "only the candidate has "+left)
	}
	both, err := addGates(both, gates, &m.base)
	if err != nil {
		return err
	}
	if len(both) == 0 {
		m.differs = append(m.differs, "no measure is in both")
	}
	m.shown, m.judgedK = len(both), judgedCut(gates, both, m.base.K)
	if both, err = addHidden(both, gates, m.judgedK, &m.base); err != nil {
		return err
	}
	m.base.Measures, m.candidate.Measures = both, both
	return nil
}

// judgedAt is the hidden measure judged@k, or over the whole ranking for 0.
func judgedAt(k int) Measure {
	return Measure{Name: fmt.Sprintf("judged at %d", k), kind: judged, k: k}
}

// same reports whether two measures are one formula.
func (m Measure) same(o Measure) bool { return m.Canonical() == o.Canonical() }

func hasMeasure(list []Measure, m Measure) bool { return slices.ContainsFunc(list, m.same) }

func without(list, taken []Measure) string {
	names := ""
	for _, m := range list {
		if !hasMeasure(taken, m) {
			names += ", " + m.Name
		}
	}
	return names[min(2, len(names)):]
}

// addGates appends the gates' measures that are not there yet. Rankings are
// kept to the depth that was asked for: a deeper cut, or a measure without one,
// would be another number than the one that it is called.
func addGates(measures []Measure, gates []Gate, in *Input) ([]Measure, error) {
	depth := deepest(in.K, in.Measures)
	for _, g := range gates {
		m, tested := g.Measure()
		if !tested || hasMeasure(measures, m) {
			continue
		}
		if m.k == 0 || m.k > depth {
			return nil, g.unscored(in.Measures, depth)
		}
		measures = append(measures, m)
	}
	return measures, nil
}

// deepest is the largest cut of the conventions and measures.
func deepest(ks []int, measures []Measure) int {
	depth := 0
	for _, k := range ks {
		depth = max(depth, k)
	}
	for _, m := range measures {
		depth = max(depth, m.k)
	}
	return depth
}

// unscored is the error of a gate whose measure the results do not have.
func (g Gate) unscored(measures []Measure, depth int) error {
	names := make([]string, len(measures))
	for i, m := range measures {
		names[i] = m.Name
	}
	if !g.tested() {
		return &GateError{Gate: g.text, Why: fmt.Sprintf("the results keep rankings to depth %d", depth)}
	}
	why := fmt.Sprintf("the results have no %s, and keep rankings to depth %d", g.measure.Name, depth)
	return &GateError{Gate: g.text, At: 0, Why: why, Near: nearest(g.measure.Name, names)}
}

// judgedCut is where unjudged results are counted: the largest cut of the
// gates, else the largest compared.
func judgedCut(gates []Gate, measures []Measure, ks []int) int {
	k := 0
	for _, g := range gates {
		if m, tested := g.Measure(); tested {
			k = max(k, m.k)
		}
	}
	if k > 0 {
		return k
	}
	return deepest(ks, measures)
}

// judgedShare is the mean of judged@k, the last measure asked for; nil where no
// case has a result.
func (s *scores) judgedShare() *float64 {
	j, n, total := len(s.in.Measures)-1, 0, 0.0
	for _, i := range s.groups[0].cases {
		if v := s.values.row(int(i))[j]; v == v {
			n++
			total += v
		}
	}
	if n == 0 {
		return nil
	}
	return ptr(total / float64(n))
}
