package eval

import (
	"fmt"
	"math"
	"slices"

	"github.com/goldgen/goldgen/internal/wording"
)

// column is the index of a measure in the results.
func (s *scores) column(m Measure) int { return slices.IndexFunc(s.in.Measures, m.same) }

// above is how far the estimate lies above the gate's bound in a group, and
// from how many cases.
func (d *gateData) above(g Gate, group int) (float64, int) {
	j := d.candidate.column(g.measure)
	if g.kind == floorGate {
		p := pool(d.candidate.groups[group].moments[j])
		return p.mean - g.bound, p.n
	}
	p, _, _ := d.pair.pooled(group, j)
	return p.mean + g.bound, p.n
}

// test fills in p-values, or a verdict where there is nothing to test.
func (r *gateRun) test(t *decision) *decision {
	if t.gate.kind == floorGate {
		r.testFloor(t)
	} else {
		r.testDrop(t)
	}
	return t
}

func (t *decision) cannot(why string) { t.verdict, t.why = CannotTell, why }

// testFloor is a cluster t of the candidate's mean against the floor.
func (r *gateRun) testFloor(t *decision) {
	p := pool(r.candidate.groups[t.group].moments[r.candidate.column(t.gate.measure)])
	variance, df := p.total()
	switch {
	case p.n == 0:
		t.cannot("no case has a value")
		return
	case p.clusters < minClusters:
		t.cannot(tooFew(p.clusters, "a test"))
		return
	}
	t.tested, t.above = true, p.mean-t.gate.bound
	t.basis = fmt.Sprintf("mean %.4f of %s in %s", p.mean, casesWord(p.n), wording.Count(p.clusters, "cluster"))
	t.harm, t.pass = boundTails(t.above, variance, df)
	if variance == 0 {
		t.basis += ", all of them equal"
	}
}

// boundTails are the p-values of harm and of a pass of a mean that lies above
// a bound by so much. Where all cases stand on the bound, they keep it.
func boundTails(above, variance, df float64) (harm, pass float64) {
	if variance == 0 && math.Abs(above) < sameValue {
		return 1, 0
	}
	return tTail(above, variance, df), tTail(-above, variance, df)
}

// testDrop tests the differences, each moved by the margin.
func (r *gateRun) testDrop(t *decision) {
	j := r.candidate.column(t.gate.measure)
	p := r.pair.pooledWithShift(t.group, j)
	better, worse, same := r.pair.changes(t.group, j)
	switch {
	case p.n == 0:
		t.cannot("no case has a value")
		return
	case better+worse == 0 && (r.identical || !r.rule.bites):
		t.verdict, t.why = Pass, fmt.Sprintf("0 of %s changed", casesWord(same))
		return
	case p.clusters < minClusters:
		t.cannot(tooFew(p.clusters, "a test"))
		return
	}
	t.basis = fmt.Sprintf("%+.4f over %s in %s (%d better, %d worse)", p.mean, casesWord(p.n), wording.Count(p.clusters, "cluster"), better, worse)
	t.above = p.mean + t.gate.bound
	if r.pair.base.drawn {
		r.tDrop(t, p)
		return
	}
	cases, cluster := r.pair.base.groups[t.group].cases, r.pair.base.clusters.of
	terms := tallies(r.pair.diff, cases, cluster, []int{j})[0].terms(0, t.gate.bound)
	t.tested = true
	if !slices.ContainsFunc(terms, func(x float64) bool { return x != 0 }) {
		t.harm, t.pass = boundTails(0, 0, 0)
		return
	}
	tail := r.pair.flips.test(terms)
	t.harm, t.pass = tail.lower, tail.upper
}

// tDrop tests under uncertain labels.
func (r *gateRun) tDrop(t *decision, p pooled) {
	variance, df := p.total()
	t.tested = true
	t.harm, t.pass = boundTails(t.above, variance, df)
}

// readSourceOnly scores again with the source as the only label, where tested
// gates need that to agree: below trust fitted, and where cases have a source.
func (r *gateRun) readSourceOnly() error {
	tested := slices.ContainsFunc(r.gates, Gate.tested)
	hasSource := slices.ContainsFunc(r.candidate.in.Cases, func(c Case) bool { return len(c.about().Chunks) > 0 })
	if !tested || !hasSource || !belowFitted(r.trust) {
		return nil
	}
	candidate := withSourceOnly(r.candidate.in)
	if r.pair == nil {
		s, err := newScores(candidate)
		if err != nil {
			return fmt.Errorf("source-only labels: %w", err)
		}
		s.scoreAll()
		r.sourceOnly = &gateData{candidate: s}
		return nil
	}
	p, err := newPairing(withSourceOnly(r.pair.base.in), candidate, nil)
	if err != nil {
		return fmt.Errorf("source-only labels: %w", err)
	}
	r.sourceOnly = &gateData{candidate: p.candidate.scores, pair: &differ{pairing: p}}
	return nil
}

// sourceGrade is the grade of the chunk that a query was written from.
const sourceGrade = 3

// withSourceOnly relabels every case: what it was written from is relevant, and
// nothing else is known. A case without a source drops out.
func withSourceOnly(in Input) Input {
	cases := slices.Clone(in.Cases)
	for i := range cases {
		c := &cases[i]
		about := *c.about()
		about.Exclude = nil
		c.Background, c.Labels = &about, nil
		for _, id := range about.Chunks {
			c.Labels = append(c.Labels, Label{ID: id, Grade: max(sourceGrade, in.MinGrade)})
		}
	}
	in.Cases, in.KeepEmpty = cases, false
	return in
}
