package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/eval"
)

// tables are the summary and the rows of every set.
func tables(rows []row) string {
	var out strings.Builder
	summary(&out, rows)
	for _, set := range slices.CompactFunc(slices.Clone(rows), sameTable) {
		title := fmt.Sprintf("Synthetic queries over %s, %s (nDCG@10)", set.collection, set.kind)
		study.Head(&out, title, "queries", "labels", "right", "reversed", "power", "tau", "of the best fifteen", "overlap of the best five", "loss")
		for _, r := range rows {
			if sameTable(set, r) {
				r.print(&out)
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

func sameTable(a, b row) bool { return a.collection == b.collection && a.kind == b.kind }

func sameSet(a, b row) bool { return sameTable(a, b) && a.size == b.size }

func (r *row) print(out *strings.Builder) {
	f := r.figures
	study.Row(out, fmt.Sprint(r.size), r.how, share(f.Right), share(f.Reversed), share(f.Power),
		estimate(f.Tau), estimate(f.TauBest), estimate(f.Overlap), estimate(f.Loss))
}

// share is a share with its interval and the pairs that it is of.
func share(s eval.AgreementShare) string {
	switch {
	case s.Value == nil:
		return fmt.Sprintf("- of %d", s.Pairs)
	case s.Low == nil || s.High == nil:
		return fmt.Sprintf("%.3f of %d", *s.Value, s.Pairs)
	}
	return fmt.Sprintf("%.3f [%.2f, %.2f] of %d", *s.Value, *s.Low, *s.High, s.Pairs)
}

func estimate(e eval.AgreementEstimate) string { return number(e.Value) }

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return study.Number(*v)
}

// goal is what is asked of a way to label, on every collection and at every size.
type goal struct {
	how                    string
	right, reversed, power float64 // at least, at most, at least
}

func goals() []goal {
	var out []goal
	for _, mode := range study.Modes() {
		out = append(out, goal{byPriorIn(mode), 0.97, 0.005, 0.5})
	}
	for _, mode := range study.Modes() {
		out = append(out, goal{byLabelsIn(200, mode), 0.97, 0.005, 0.65})
	}
	return out
}

// summary says of each set which goals hold.
func summary(out *strings.Builder, rows []row) {
	study.Head(out, "Sets of synthetic queries and the goals: right at least .970, reversed at most .005, power at least .500 with the prior and .650 when fitted",
		"collection", "queries", "labels", "right", "reversed", "power", "short of the goal")
	for _, set := range slices.CompactFunc(slices.Clone(rows), sameSet) {
		for _, g := range goals() {
			f := find(rows, set, g.how)
			study.Row(out, set.collection, fmt.Sprintf("%d, %s", set.size, set.kind), g.how,
				number(f.Right.Value), number(f.Reversed.Value), number(f.Power.Value), g.missed(f))
		}
	}
	out.WriteString("\n")
}

// find is the figures of one way to label a set; none where it was not looked at.
func find(rows []row, set row, how string) eval.AgreementFigures {
	for _, r := range rows {
		if sameSet(set, r) && r.how == how {
			return r.figures
		}
	}
	return eval.AgreementFigures{}
}

// missed names the figures that fall short. A figure that there is not does: a set
// that separates nothing orders nothing right.
func (g goal) missed(f eval.AgreementFigures) string {
	var out []string
	for _, c := range []struct {
		name  string
		value *float64
		holds func(float64) bool
	}{
		{"right", f.Right.Value, func(v float64) bool { return v >= g.right }},
		{"reversed", f.Reversed.Value, func(v float64) bool { return v <= g.reversed }},
		{"power", f.Power.Value, func(v float64) bool { return v >= g.power }},
	} {
		if c.value == nil || !c.holds(*c.value) {
			out = append(out, c.name)
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
