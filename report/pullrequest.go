package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/eval"
)

// A pull request gets the head of each list; the page has all of it.
const (
	gatesTold = 20
	worseTold = 10
	leaksTold = 5
)

// PullRequest writes the findings as Markdown for a comment on a pull request:
// the verdict, leaks, gates, what moved and what got worse, and a link.
func PullRequest(w io.Writer, f *Findings) error {
	var b strings.Builder
	v, r := f.verdict(), f.Results[0].Result
	fmt.Fprintf(&b, "### %s %s: %s\n\n%s.\n", badges[v.Class], v.Word, escapeMarkdown(title(f)), escapeMarkdown(upper(v.Why)))
	tellLeaks(&b, r.Leaks)
	if c := f.Comparison; c != nil {
		tellComparison(&b, c)
	} else {
		tellGates(&b, f.gates())
	}
	switch {
	case len(f.Results) > 1:
		tellOthers(&b, f.Results)
	case f.Comparison == nil:
		tellMeans(&b, r)
	}
	fmt.Fprintf(&b, "\nTrust: %s.\n", escapeMarkdown(trustWords(r.Trust, r.TrustDetail)))
	for _, note := range notes(f) {
		fmt.Fprintf(&b, "\n- %s", escapeMarkdown(note))
	}
	if len(notes(f)) > 0 {
		b.WriteByte('\n')
	}
	if f.Link != "" {
		fmt.Fprintf(&b, "\n[The whole report](<%s>)\n", linkTarget(f.Link))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var badges = map[string]string{"pass": "✅", "fail": "❌", "open": "⚠️", "none": "ℹ️"}

// linkTarget keeps a link inside its angle brackets.
func linkTarget(s string) string {
	return strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "", "\r", "", " ", "%20").Replace(s)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func tellLeaks(b *strings.Builder, leaks []eval.Leak) {
	if len(leaks) == 0 {
		return
	}
	t := NewTable("leak in case", ">rank", "chunk", "scope", "query")
	for _, l := range leaks[:min(leaksTold, len(leaks))] {
		t.Add(l.Case, fmt.Sprint(l.Rank), l.Chunk, scopeWords(l.Scope), l.Query)
	}
	b.WriteByte('\n')
	t.markdown(b)
	tellMore(b, len(leaks)-leaksTold)
}

func tellMore(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "\nand %d more\n", n)
	}
}

func tellComparison(b *strings.Builder, c *eval.Comparison) {
	fmt.Fprintf(b, "\nBaseline: %s.", escapeMarkdown(retrieverWords(c.Base)))
	if c.Comparable {
		fmt.Fprintf(b, " Changed: %s.", changedWords(c))
	}
	b.WriteByte('\n')
	tellGates(b, c.Gates)
	if len(c.Metrics) > 0 {
		t := NewTable("measure", ">baseline", ">candidate", ">difference", ">95 % interval", ">p (Holm)", ">better / worse")
		for _, name := range Headline(asMetrics(c.Metrics)) {
			t.Add(differenceCells(name, differenceOf(c, name))...)
		}
		b.WriteByte('\n')
		t.markdown(b)
	}
	tellWorse(b, c)
}

func differenceCells(name string, d *eval.Difference) []string {
	return []string{name, short(d.Base), short(d.Candidate), plusMinus(d.Difference), between(d.Low, d.High), probability(d.PHolm), fmt.Sprintf("%d / %d", d.Better, d.Worse)}
}

func tellGates(b *strings.Builder, gates []eval.GateResult) {
	if len(gates) == 0 {
		return
	}
	gates = byUrgency(gates)
	t := NewTable("gate", "verdict", "why")
	for i := range gates[:min(gatesTold, len(gates))] {
		g := &gates[i]
		t.Add(gateName(g), gateWord(g), reasonOf(g))
	}
	b.WriteByte('\n')
	t.markdown(b)
	tellMore(b, len(gates)-gatesTold)
}

func byUrgency(gates []eval.GateResult) []eval.GateResult {
	return slices.SortedStableFunc(slices.Values(gates), func(x, y eval.GateResult) int {
		return cmp.Compare(urgency(&x), urgency(&y))
	})
}

// urgency orders gates: failed ones first, waived ones last but passed ones.
func urgency(g *eval.GateResult) int {
	switch {
	case g.Verdict == eval.Pass:
		return 3
	case g.Waived != nil:
		return 2
	case g.Verdict == eval.Fail:
		return 0
	}
	return 1
}

func gateWord(g *eval.GateResult) string {
	word := map[string]string{eval.Pass: "pass", eval.Fail: "FAIL", eval.CannotTell: "cannot tell"}[g.Verdict]
	if word == "" {
		word = g.Verdict
	}
	if g.Waived != nil && g.Verdict != eval.Pass {
		return "waived (" + word + ")"
	}
	return word
}

func reasonOf(g *eval.GateResult) string {
	if g.Waived == nil {
		return g.Why
	}
	return g.Why + "; " + waiverWords(g.Waived)
}

func tellWorse(b *strings.Builder, c *eval.Comparison) {
	worse := worseSlices(c)
	if len(worse) == 0 {
		return
	}
	b.WriteString("\nGot worse, the whole interval below 0:\n\n")
	t := NewTable("slice", "measure", ">baseline", ">candidate", ">difference", ">95 % interval", ">n", "also fell")
	for _, s := range worse[:min(worseTold, len(worse))] {
		t.Add(s.cells()...)
	}
	withoutEmpty(t).markdown(b)
	tellMore(b, len(worse)-worseTold)
}

func tellMeans(b *strings.Builder, r *eval.Result) {
	t := NewTable("measure", ">mean", ">95 % interval", ">n")
	for _, name := range Headline(r.Metrics) {
		m, _ := r.Metrics.Get(name)
		t.Add(name, short(m.Mean), between(m.Low, m.High), fmt.Sprint(m.N))
	}
	b.WriteByte('\n')
	t.markdown(b)
}

// tellOthers sets several results side by side. None is named the best: that
// takes a comparison of pairs.
func tellOthers(b *strings.Builder, results []Scored) {
	names := Headline(results[0].Result.Metrics)
	t := NewTable(append([]string{"retriever", ">leaks"}, rightAligned(names)...)...)
	for _, s := range results {
		row := []string{retrieverWords(s.Result.Retriever), fmt.Sprint(len(s.Result.Leaks))}
		for _, name := range names {
			m, _ := s.Result.Metrics.Get(name)
			row = append(row, short(m.Mean)+" "+bracketed(m.Low, m.High))
		}
		t.Add(row...)
	}
	b.WriteByte('\n')
	t.markdown(b)
	b.WriteString("\nMeans alone name no winner: compare two results to know whether they differ.\n")
}

func rightAligned(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = ">" + n
	}
	return out
}

// notes are what a reader must know of the numbers, each once.
func notes(f *Findings) []string {
	var out []string
	r := f.Results[0].Result
	if n := len(r.Failed); n > 0 {
		out = append(out, failureWords(n))
	}
	if r.Saturated {
		out = append(out, "saturated: so near 1 that the set cannot show a regression")
	}
	out = append(out, f.unlike()...)
	if words := labelWords(f.Comparison); words != "" {
		out = append(out, "labels: "+words)
	}
	all := slices.Concat(f.Results[0].Notes, r.Notes, r.Hints)
	switch {
	case f.Comparison != nil:
		all = append(slices.Clone(f.Comparison.Notes), all...)
	case f.Check != nil:
		all = append(slices.Clone(f.Check.Notes), all...)
	}
	for _, n := range all {
		out = add(out, n)
	}
	return out
}

// unlike names results whose means say nothing beside those of the first: they
// are of another set, or were made under other conventions.
func (f *Findings) unlike() []string {
	var out []string
	names, first := resultNames(f.Results), f.Results[0].Result
	for i, s := range f.Results[1:] {
		r, why := s.Result, ""
		switch {
		case setDigest(r) != setDigest(first):
			why = "are of another golden set"
		case r.Conventions.MinGrade != first.Conventions.MinGrade || r.Conventions.Source != first.Conventions.Source || r.Conventions.Unit != first.Conventions.Unit:
			why = "were made under other conventions"
		default:
			continue
		}
		out = append(out, fmt.Sprintf("the means of %s do not stand beside those of %s: they %s", names[i+1], names[0], why))
	}
	return out
}

func setDigest(r *eval.Result) string {
	if r.Golden == nil {
		return ""
	}
	return r.Golden.Digest
}
