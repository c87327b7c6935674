package report

import (
	"fmt"
	"io"

	"github.com/goldgen/goldgen/eval"
	"github.com/jedib0t/go-pretty/v6/text"
)

// CompareTerminal writes a comparison for a person: the verdict and the gates
// it rests on, what was compared and how far it can be trusted, the
// differences with their intervals, slices, leaks and notes; where no case changed,
// the means alone. Piped, tables are tab-separated and the rest is plain lines.
func CompareTerminal(w io.Writer, c *eval.Comparison, style Style) error {
	p := &page{w: w, style: style}
	p.verdict(c)
	p.gates(c.Gates)
	p.compared(c)
	switch {
	case !c.Comparable:
	case c.Changed == 0:
		p.sameMeans(c.Metrics)
	default:
		p.differences(c.Metrics)
		p.differenceSlices(c.Slices)
		p.caseDifferences(c.PerCase)
	}
	p.notes(c.Notes)
	return p.err
}

// GatesTerminal writes what gates say of one result.
func GatesTerminal(w io.Writer, c *eval.GateCheck, style Style) error {
	p := &page{w: w, style: style}
	p.line("")
	p.line("%-*s%s", fieldWidth, "verdict", p.verdictWord(c.Verdict))
	p.gates(c.Gates)
	p.notes(c.Notes)
	return p.err
}

// SelfTestTerminal writes how often tests raise a false alarm.
func SelfTestTerminal(w io.Writer, r *eval.SelfTestResult, style Style) error {
	p := &page{w: w, style: style}
	identical := "yes: difference 0 and p 1 for every measure"
	if !r.Identical {
		identical = "NO"
	}
	p.field("cases", fmt.Sprintf("%d in %s", r.Cases, count(r.Clusters, "cluster", "clusters")))
	p.field("method", r.Method)
	p.field("self equal", identical)
	p.field("shuffles", fmt.Sprintf("%d, the two sides of random cases swapped; false alarms should be at most about %.0f %%", r.Shuffles, 100*r.Level))
	p.line("")
	t := NewTable("metric", ">false alarms", ">rate", ">low", ">high", "note")
	for _, f := range r.Alarms {
		t.Add(f.Measure, fmt.Sprint(f.Alarms), number(f.Rate), number(f.Low), number(f.High), f.Why)
	}
	p.table(withoutEmpty(t))
	return p.err
}

func (p *page) verdict(c *eval.Comparison) {
	word := p.verdictWord(c.Verdict)
	switch {
	case !c.Comparable:
		word = p.style.paint("not comparable", text.Bold, text.FgRed)
	case len(c.Gates) == 0 && c.Verdict == eval.Pass:
		word = p.style.paint("comparable, no gates", text.Bold)
	}
	if p.style.Terminal {
		p.line("%-*s%s", fieldWidth, "verdict", word)
	} else {
		p.line("verdict\t%s", word)
	}
	for _, d := range c.Differs {
		p.field("differs", d)
	}
}

func (p *page) verdictWord(verdict string) string {
	switch verdict {
	case eval.Pass:
		return p.style.paint("pass", text.Bold, text.FgGreen)
	case eval.Fail:
		return p.style.paint("fail", text.Bold, text.FgRed)
	}
	return p.style.paint("cannot tell", text.Bold, text.FgYellow)
}

func (p *page) gates(gates []eval.GateResult) {
	if len(gates) == 0 {
		return
	}
	p.line("")
	t := NewTable("gate", "slice", "verdict", "why")
	t.Keys = 2
	for i := range gates {
		g := &gates[i]
		t.Add(g.Gate, g.Slice, gateWord(g), reasonOf(g))
	}
	p.table(t)
	p.line("")
}

func (p *page) compared(c *eval.Comparison) {
	p.field("base", retrieverWords(c.Base))
	p.field("candidate", retrieverWords(c.Candidate))
	for _, s := range c.Settings {
		p.field("setting", fmt.Sprintf("%s: %s, then %s", s.Name, orNone(s.Base), orNone(s.Candidate)))
	}
	if c.Golden != nil {
		p.field("golden set", fmt.Sprintf("%s (%s)", c.Golden.Ref, ShortDigest(c.Golden.Digest)))
	}
	p.field("trust", trustWords(c.Trust, c.TrustDetail))
	if !c.Comparable {
		return
	}
	p.field("cases", fmt.Sprintf("%d in %s; %s", c.Cases, count(c.Clusters, "cluster", "clusters"), casesChanged(c)))
	p.field("judged", fmt.Sprintf("@%d: base %s, candidate %s", c.Judged.K, number(c.Judged.Base), number(c.Judged.Candidate)))
	p.field("labels", labelWords(c))
	p.field("leaks", fmt.Sprintf("base %d, candidate %d", c.Leaks.Base, c.Leaks.Candidate))
	p.field("latency", latencyWords(c.Latency))
	p.field("method", c.Method)
}

func casesChanged(c *eval.Comparison) string {
	if c.Changed == 0 {
		return "no case changed"
	}
	return fmt.Sprintf("%d of %s changed", c.Changed, count(c.Cases, "case", "cases"))
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func latencyWords(l eval.LatencyPair) string {
	if l.Base == nil && l.Candidate == nil {
		return ""
	}
	side := func(l *eval.Latency) string {
		if l == nil {
			return "unknown"
		}
		return fmt.Sprintf("%.2f ms", l.P95)
	}
	return fmt.Sprintf("p95: base %s, candidate %s", side(l.Base), side(l.Candidate))
}

// differenceColumns are those of a table of differences after its keys. The
// cases that got better, got worse and stayed the same share one.
func differenceColumns(keys ...string) []string {
	return append(keys, ">base", ">candidate", ">difference", ">95 % interval", ">p", ">p_holm", ">better/worse/same", ">detectable", ">n", "note")
}

func differenceRow(d eval.Difference, keys ...string) []string {
	return append(keys, number(d.Base), number(d.Candidate), signed(d.Difference), signedInterval(d.Low, d.High),
		pValue(d.P), pValue(d.PHolm), fmt.Sprintf("%d/%d/%d", d.Better, d.Worse, d.Same),
		number(d.SmallestDetectable), fmt.Sprint(d.N), differenceNote(d))
}

// differenceNote leaves out that nothing changed, which the counts say.
func differenceNote(d eval.Difference) string {
	if d.Better == 0 && d.Worse == 0 && d.P != nil {
		return ""
	}
	return d.Why
}

func signedInterval(low, high *float64) string {
	if low == nil || high == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", signed(low), signed(high))
}

// pValue is a p-value to four decimals; a smaller one is not 0.
func pValue(p *float64) string {
	if p != nil && *p < 0.0001 {
		return "<0.0001"
	}
	return number(p)
}

func signed(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.4f", *v)
}

func (p *page) differences(all eval.Differences) {
	t := NewTable(differenceColumns("metric")...)
	for _, d := range all {
		t.Add(differenceRow(d.Difference, d.Name)...)
	}
	p.line("")
	p.table(withoutEmpty(t))
}

// sameMeans is the table of a comparison in which no case changed: every
// difference in it, and in its slices, is 0.
func (p *page) sameMeans(all eval.Differences) {
	t := NewTable("metric", ">both", ">n", "note")
	for _, d := range all {
		t.Add(d.Name, number(d.Candidate), fmt.Sprint(d.N), differenceNote(d.Difference))
	}
	p.line("")
	p.table(withoutEmpty(t))
}

func (p *page) differenceSlices(slices eval.DifferenceSlices) {
	for _, by := range slices {
		if len(by.Slices) == 0 {
			continue
		}
		p.title("by " + by.Name)
		t := NewTable(differenceColumns(by.Name, "metric")...)
		t.Keys = 2
		for _, s := range by.Slices {
			for _, name := range headlineOf(s.Metrics) {
				d := difference(s.Metrics, name)
				t.Add(differenceRow(d, s.Value, name)...)
			}
		}
		p.table(withoutEmpty(t))
	}
}

// headlineOf names the measures that a table of slices has room for.
func headlineOf(all eval.Differences) []string {
	var metrics eval.Metrics
	for _, d := range all {
		metrics = append(metrics, eval.NamedMetric{Name: d.Name})
	}
	return Headline(metrics)
}

func difference(all eval.Differences, name string) eval.Difference {
	for _, d := range all {
		if d.Name == name {
			return d.Difference
		}
	}
	return eval.Difference{}
}

// caseDifferences lists the cases with a value that changed, and only these
// values.
func (p *page) caseDifferences(cases []eval.CaseDifference) {
	t := NewTable("case", "metric", ">base", ">candidate")
	t.Keys = 2
	for _, c := range cases {
		for _, v := range c.Base {
			if now, ok := c.Candidate.Get(v.Name); ok && now != v.Value {
				t.Add(c.CaseID, v.Name, fmt.Sprintf("%.4f", v.Value), fmt.Sprintf("%.4f", now))
			}
		}
	}
	if len(t.Rows) > 0 {
		p.title("cases that changed")
		p.table(t)
	}
}
