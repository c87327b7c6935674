package eval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/internal/wording"
)

// addHidden appends the measures that only rules look at: success at the cut of
// critical cases, and judged@k as the last.
func addHidden(measures []Measure, gates []Gate, judgedK int, in *Input) ([]Measure, error) {
	depth := deepest(in.K, in.Measures)
	for _, g := range gates {
		if g.kind != criticalGate {
			continue
		}
		if depth > 0 && g.k > depth {
			return nil, g.unscored(in.Measures, depth)
		}
		measures = append(measures, successAt(g.cut(in)))
	}
	return append(measures, judgedAt(judgedK)), nil
}

func successAt(k int) Measure {
	return Measure{Name: fmt.Sprintf("success at %d", k), kind: success, k: k}
}

// cut is where a critical case must have something relevant: the largest k of
// the conventions, unless the gate says another.
func (g Gate) cut(in *Input) int {
	if g.k > 0 {
		return g.k
	}
	return deepest(in.K, nil)
}

// latency compares a percentile with the bound.
func (r *gateRun) latency(g Gate) *decision {
	t := &decision{gate: g}
	l := latencyOf(r.candidate.in.Cases)
	if l == nil {
		t.cannot("no query has a known time")
		return t
	}
	at := map[string]float64{"p50": l.P50, "p95": l.P95, "p99": l.P99}[g.quantile]
	bound := float64(g.latency) / float64(time.Millisecond)
	t.why = fmt.Sprintf("%.3g ms over %s", at, wording.Count(l.N, "query"))
	t.verdict = Fail
	if at <= bound {
		t.verdict = Pass
	}
	return t
}

// leaksIn lists what a side returned and must not.
func leaksIn(in *Input) []Leak { return findLeaks(in) }

// leaks counts what the candidate returned and must not.
func (r *gateRun) leaks(g Gate) *decision {
	waived := r.o.waivedCases(g)
	var found, let []string
	for _, l := range leaksIn(&r.candidate.in) {
		if w := waived[l.Case]; w != nil {
			let = append(let, l.Case+w.words())
			continue
		}
		found = append(found, fmt.Sprintf("case %s: %s at rank %d (%s)", l.Case, l.Chunk, l.Rank, l.Kind))
	}
	t := counted(g, "leak", found, let)
	if n := r.unplaced(waived); n > 0 && t.verdict == Pass {
		t.cannot(fmt.Sprintf("%s, but %s nowhere in the snapshot, so that no leak can be seen %s", t.why,
			wording.Count(n, "result")+wording.Pick(n, " stands", " stand"), wording.Pick(n, "in it", "among them")))
	}
	return t
}

// unplaced counts the results that may be leaks, of cases that are not waived.
func (r *gateRun) unplaced(waived map[string]*Waiver) int {
	n := 0
	for i := range r.candidate.in.Cases {
		if c := &r.candidate.in.Cases[i]; waived[c.ID] == nil {
			n += c.Unplaced
		}
	}
	return n
}

// words say who waives, and why.
func (w *Waiver) words() string {
	return fmt.Sprintf(" (%s, until %s: %s)", w.Owner, w.Until, w.Reason)
}

// counted is the answer of a gate that lets nothing happen.
func counted(g Gate, what string, found, waived []string) *decision {
	t := &decision{gate: g, verdict: Pass, why: "no " + what}
	if n := len(found); n > 0 {
		t.verdict, t.why = Fail, fmt.Sprintf("%s: %s", wording.Count(n, what), firstOf(found))
	}
	if n := len(waived); n > 0 {
		t.why += fmt.Sprintf("; %d waived: %s", n, firstOf(waived))
	}
	return t
}

func firstOf(list []string) string {
	s := strings.Join(list[:min(len(list), someShown)], "; ")
	if len(list) > someShown {
		s += "; ..."
	}
	return s
}

// critical looks at each case tagged critical.
func (r *gateRun) critical(g Gate) *decision {
	s, waived := r.candidate, r.o.waivedCases(g)
	column := s.column(successAt(g.cut(&s.in)))
	leaked := map[string]bool{}
	for _, l := range leaksIn(&s.in) {
		leaked[l.Case] = true
	}
	var failed, unsure, let []string
	n := 0
	for i := range s.in.Cases {
		c := &s.in.Cases[i]
		if !slices.Contains(c.about().Tags, criticalTag) {
			continue
		}
		n++
		why, sure := r.criticalCase(i, column, leaked[c.ID])
		switch w := waived[c.ID]; {
		case why == "":
		case w != nil:
			let = append(let, c.ID+w.words())
		case sure:
			failed = append(failed, fmt.Sprintf("case %s: %s", c.ID, why))
		default:
			unsure = append(unsure, fmt.Sprintf("case %s: %s", c.ID, why))
		}
	}
	t := counted(g, "critical failure", failed, let)
	switch {
	case n == 0:
		t.cannot("no case is tagged " + criticalTag)
	case t.verdict == Pass && len(unsure) > 0:
		t.cannot(fmt.Sprintf("%d of %d critical cases are not sure: %s", len(unsure), n, firstOf(unsure)))
	}
	return t
}

// criticalCase says how a critical case fails, and whether that is sure.
func (r *gateRun) criticalCase(i, column int, leaked bool) (why string, sure bool) {
	s := r.candidate
	c, found := &s.in.Cases[i], s.values.row(i)[column]
	switch {
	case c.Failed != "":
		return "the query failed: " + c.Failed, true
	case leaked:
		return "it leaked", true
	case found != found && !c.Abstain:
		return "nothing is known to be relevant", false
	case c.Unplaced > 0 && (c.Abstain || found >= 1-r.o.alpha()):
		return "a leak cannot be excluded", false
	case c.Abstain || found >= 1-r.o.alpha():
		return "", true
	case found <= r.o.alpha():
		return "nothing relevant is in the top", !r.rule.bites
	}
	return fmt.Sprintf("something relevant is in the top with probability %.2f", found), false
}
