package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/eval"
	"github.com/jedib0t/go-pretty/v6/text"
)

// How many of the worst cases a terminal shows, and how many results of each.
const (
	worstCases   = 5
	worstResults = 3
)

// DiagnosisTerminal writes why cases failed: counts by cause and slice, the
// worst cases with what stood where the evidence should be, tokens before the
// evidence, what to label and what to try first.
func DiagnosisTerminal(w io.Writer, d *eval.Diagnosis, style Style) error {
	p := &page{w: w, style: style}
	p.title(diagnosisWords(d))
	if d.Failed > 0 {
		p.table(causeTable(d))
		p.failureSlices(d)
		p.title("worst cases")
		for i := range d.Worst[:min(worstCases, len(d.Worst))] {
			p.failedCase(&d.Worst[i], worstResults)
		}
	}
	p.diagnosisFigures(d)
	return p.err
}

// CaseDiagnosisTerminal writes all that is known of why one case failed.
func CaseDiagnosisTerminal(w io.Writer, c *eval.CaseDiagnosis, style Style) error {
	p := &page{w: w, style: style}
	p.failedCase(c, len(c.Above))
	return p.err
}

func diagnosisWords(d *eval.Diagnosis) string {
	words := fmt.Sprintf("diagnosis: %d of %s failed at k %d", d.Failed, count(d.Looked, "case", "cases"), d.K)
	if d.Partly > 0 {
		words += fmt.Sprintf(", %d found only some of what is relevant", d.Partly)
	}
	return words + fmt.Sprintf(" (looked down to rank %d)", d.Depth)
}

func causeTable(d *eval.Diagnosis) *Table {
	t := NewTable("cause", ">cases", ">share")
	for _, cause := range d.Frequent() {
		n := d.Causes[cause]
		t.Add(causeWords(cause), fmt.Sprint(n), fmt.Sprintf("%.0f %%", 100*float64(n)/float64(d.Failed)))
	}
	return t
}

func causeWords(c eval.Cause) string { return strings.ReplaceAll(string(c), "_", " ") }

// failureSlices writes a table a dimension, with a column for each cause.
func (p *page) failureSlices(d *eval.Diagnosis) {
	causes := d.Frequent()
	for _, name := range slices.Sorted(maps.Keys(d.Slices)) {
		t := NewTable(name, ">cases", ">failed")
		for _, cause := range causes {
			t.Columns = append(t.Columns, Column{Name: causeWords(cause), Right: true})
		}
		for _, value := range slices.Sorted(maps.Keys(d.Slices[name])) {
			s := d.Slices[name][value]
			row := []string{value, fmt.Sprint(s.Cases), fmt.Sprint(s.Failed)}
			for _, cause := range causes {
				row = append(row, fmt.Sprint(s.Causes[cause]))
			}
			t.Add(row...)
		}
		p.title("failed by " + name)
		p.table(t)
	}
}

func (p *page) failedCase(c *eval.CaseDiagnosis, results int) {
	p.line("")
	p.line("%s %s: %s", p.style.paint(Escape(c.CaseID), text.Bold), causeWords(c.Cause), Escape(c.Why))
	for _, also := range c.Also {
		p.field("also", causeWords(also.Cause)+": "+also.Why)
	}
	p.field("query", c.Query)
	p.field("asked as", askedWords(c))
	for _, e := range c.Evidence {
		p.field("evidence", fmt.Sprintf("%s [%d,%d) %s", e.Doc, e.Start, e.End, oneLine(e.Text)))
	}
	p.field("relevant", strings.Join(c.Relevant, ", "))
	if len(c.Above) == 0 {
		p.field("instead", "nothing was returned")
		return
	}
	for _, s := range c.Above[:min(results, len(c.Above))] {
		p.field("instead", fmt.Sprintf("%d. %s (%s) %s", s.Rank, s.Chunk, strings.ReplaceAll(s.Mark, "_", " "), oneLine(s.Text)))
	}
	if more := len(c.Above) - results; more > 0 {
		p.field("and", fmt.Sprintf("%d more, %d tokens in all", more, c.Tokens))
		return
	}
	p.field("tokens", fmt.Sprintf("%d in the top %d", c.Tokens, len(c.Above)))
}

// askedWords says who asked and under which filters.
func askedWords(c *eval.CaseDiagnosis) string {
	parts := []string{scopeWords(c.Scope), filterWords(c.Filters)}
	if c.AsOf != nil {
		parts = append(parts, "as of "+c.AsOf.Format(time.RFC3339))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// oneLine joins the words of a text by single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// diagnosisFigures writes what is counted over all cases, and what follows.
func (p *page) diagnosisFigures(d *eval.Diagnosis) {
	p.line("")
	if t := d.Tokens; t != nil {
		words := fmt.Sprintf("%.0f before the evidence on average, half at most %d, 95 %% at most %d, over %s with something relevant in the top %d",
			t.Mean, t.P50, t.P95, count(t.N, "case", "cases"), d.K)
		if t.Unknown > 0 {
			words += fmt.Sprintf(" (%d more with chunks that are not in the snapshot)", t.Unknown)
		}
		p.field("tokens", words)
	}
	if e := d.Exact; e != nil {
		p.field("index", fmt.Sprintf("returns %.1f %% of the exact search's top %d, over %s", 100*e.Recall, e.K, count(e.N, "case", "cases")))
	}
	if l := d.Labelling; l.Pairs > 0 {
		p.field("to label", fmt.Sprintf("%s in %s", count(l.Pairs, "unjudged result of a failed case", "unjudged results of failed cases"), l.Path))
	}
	p.notes(d.Notes)
	p.hints(d.Hints)
}
