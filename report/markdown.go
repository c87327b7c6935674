package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/eval"
)

// Markdown writes a result for a pull request: what was scored, the means with
// their intervals, the first dimension's slices, and what went wrong.
func Markdown(w io.Writer, r *eval.Result) error {
	var b strings.Builder
	subject := retrieverWords(r.Retriever)
	if r.Golden != nil {
		subject += " on " + r.Golden.Ref
	}
	fmt.Fprintf(&b, "### %s\n\n", escapeMarkdown(subject))
	fmt.Fprintf(&b, "Trust: %s. Cases: %s.\n\n", escapeMarkdown(trustWords(r.Trust, r.TrustDetail)), escapeMarkdown(caseWords(r)))
	means := NewTable("metric", ">mean", ">95 % interval", ">n")
	for _, m := range r.Metrics {
		means.Add(m.Name, number(m.Mean), span(m.Metric), fmt.Sprint(m.N))
	}
	means.markdown(&b)
	for _, by := range r.Slices[:min(1, len(r.Slices))] {
		if len(by.Slices) > 0 {
			b.WriteByte('\n')
			sliceTable(by).markdown(&b)
		}
	}
	remarks(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

func remarks(b *strings.Builder, r *eval.Result) {
	var lines []string
	if n := len(r.Leaks); n > 0 {
		lines = append(lines, leakWords(n))
	}
	if n := len(r.Failed); n > 0 {
		lines = append(lines, failureWords(n))
	}
	if r.Saturated {
		lines = append(lines, "saturated: so near 1 that the set cannot show a regression")
	}
	for _, l := range append(append(lines, r.Notes...), r.Hints...) {
		fmt.Fprintf(b, "\n- %s", escapeMarkdown(l))
	}
	if len(lines)+len(r.Notes)+len(r.Hints) > 0 {
		b.WriteByte('\n')
	}
}

func span(m eval.Metric) string {
	if m.Low == nil {
		return "-"
	}
	return number(m.Low) + " to " + number(m.High)
}

// markdown writes the table with pipes; nothing in a cell can end it.
func (t *Table) markdown(b *strings.Builder) {
	names, rules := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i], rules[i] = c.Name, "---"
		if c.Right {
			rules[i] = "--:"
		}
	}
	fmt.Fprintf(b, "| %s |\n| %s |\n", strings.Join(escapeAll(names), " | "), strings.Join(rules, " | "))
	for _, row := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i := range cells {
			cells[i] = cell(row, i)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(escapeAll(cells), " | "))
	}
}

func escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = escapeMarkdown(c)
	}
	return out
}

// mention is an @ that a forge would read as somebody's name; ndcg@10 is none.
var mention = regexp.MustCompile(`(^|\W)@`)

// escapeMarkdown shows text as it is: no control characters, no markup, no
// HTML, no mention, no end of a table's cell.
func escapeMarkdown(s string) string {
	r := strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "[", `\[`, "]", `\]`, "*", `\*`)
	return mention.ReplaceAllString(r.Replace(Escape(s)), "$1&#64;")
}
