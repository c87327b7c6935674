package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/jedib0t/go-pretty/v6/text"
)

// leaksShown and failuresShown are how many a terminal lists; the rest is
// counted.
const (
	leaksShown    = 20
	failuresShown = 10
)

// Terminal writes a result for a person: what was scored and how far it can be
// trusted, leaks, the means with their intervals, slices, abstention, latency
// and hints. Piped, tables are tab-separated and the rest is plain lines.
func Terminal(w io.Writer, r *eval.Result, style Style) error {
	p := &page{w: w, style: style}
	p.header(r)
	p.leaks(r)
	p.metrics(r)
	p.slices(r)
	p.failures(r)
	p.abstention(r)
	p.details(r)
	p.latency(r)
	p.remarks(r)
	return p.err
}

// page writes lines and tables until the first error.
type page struct {
	w     io.Writer
	style Style
	err   error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *page) table(t *Table) {
	if p.err == nil {
		p.err = t.Write(p.w, p.style)
	}
}

// title stands above a part.
func (p *page) title(s string) {
	p.line("")
	p.line("%s", p.style.paint(s, text.Bold))
}

func (p *page) header(r *eval.Result) {
	if r.Golden != nil {
		p.field("golden set", fmt.Sprintf("%s (%s)", r.Golden.Ref, ShortDigest(r.Golden.Digest)))
	}
	p.field("trust", trustWords(r.Trust, r.TrustDetail))
	p.field("retriever", retrieverWords(r.Retriever))
	p.field("cases", caseWords(r))
	p.field("conventions", conventionWords(&r.Conventions))
}

func (p *page) field(name, value string) {
	if p.err == nil {
		p.err = Field(p.w, name, value, p.style)
	}
}

// fieldWidth is where the values of fields begin on a terminal.
const fieldWidth = 13

// Field writes one named value; an empty one is left out. On a terminal a long
// value goes on under itself.
func Field(w io.Writer, name, value string, style Style) error {
	if value == "" {
		return nil
	}
	value = Escape(value)
	if !style.Terminal {
		_, err := fmt.Fprintf(w, "%s\t%s\n", name, value)
		return err
	}
	indent := "\n" + strings.Repeat(" ", fieldWidth)
	_, err := fmt.Fprintf(w, "%-*s%s\n", fieldWidth, name, strings.Join(wrap(value, style.Width-fieldWidth), indent))
	return err
}

// wrap breaks text between words; a word that is longer than a line stays whole,
// so that a path can be copied.
func wrap(s string, width int) []string {
	words := strings.Fields(s)
	if width < 20 || len(words) == 0 {
		return []string{s}
	}
	lines := []string{words[0]}
	for _, word := range words[1:] {
		last := len(lines) - 1
		if text.StringWidthWithoutEscSequences(lines[last])+1+text.StringWidthWithoutEscSequences(word) > width {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return lines
}

// ShortDigest keeps the first 12 hex digits of a sha256:... digest.
func ShortDigest(d string) string {
	if hex, ok := strings.CutPrefix(d, "sha256:"); ok && len(hex) > 12 {
		return "sha256:" + hex[:12]
	}
	return d
}

// trustWords says in a sentence how far labels of that trust go.
func trustWords(trust, detail string) string {
	words := map[string]string{
		datasets.TrustNone:       "none: queries and labels without a model; the numbers show that the pipeline works, not how good retrieval is",
		datasets.TrustSourceOnly: "source_only: the chunk that a query was written from is its only label",
		datasets.TrustJudged:     "judged: a model graded the pool and passed its canaries",
		datasets.TrustPrior:      "prior: labels are probabilities from other collections",
		datasets.TrustFitted:     "fitted: labels are probabilities fitted on people's labels of this collection",
		datasets.TrustReviewed:   "reviewed: people's judgments",
	}[trust]
	if words == "" {
		words = trust
	}
	if detail != "" {
		words += " (" + detail + ")"
	}
	return words
}

func retrieverWords(r eval.RetrieverRef) string {
	if r.Name != "" && r.Name != r.Spec {
		return r.Name + " (" + r.Spec + ")"
	}
	return r.Spec
}

// caseWords counts what went into the means and what did not.
func caseWords(r *eval.Result) string {
	c := r.Counts
	parts := []string{fmt.Sprintf("%d scored", c.Scored)}
	for _, x := range []struct {
		n    int
		what string
	}{
		{c.Dropped, "with nothing relevant (left out)"}, {c.Abstain, "expecting abstention (apart)"},
		{r.Missing, "without a result (score 0)"}, {len(r.Failed), "failed"},
		{c.Duplicates, "repeated results dropped"}, {c.Nonmonotone, "with scores that rise along the ranking"},
	} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if c.Results > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% of %s judged", 100*float64(c.Judged)/float64(c.Results), wording.Count(c.Results, "result")))
	}
	if c.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d of unknown grade (asked, and none given)", c.Unknown))
	}
	return strings.Join(parts, ", ")
}

func conventionWords(c *eval.Conventions) string {
	parts := []string{fmt.Sprintf("relevant from grade %d", c.MinGrade)}
	if c.Source != "" {
		parts = append(parts, "source "+c.Source)
	}
	if len(c.K) > 0 {
		parts = append(parts, "k "+strings.Trim(fmt.Sprint(c.K), "[]"))
	}
	parts = append(parts, "labels "+c.Labels, fmt.Sprintf("%s (%s)", wording.Count(c.Clusters, "cluster"), c.Cluster), "interval "+c.Interval)
	return strings.Join(parts, ", ")
}

func (p *page) metrics(r *eval.Result) {
	t := NewTable("metric", ">mean", ">low", ">high", ">n", "note")
	for _, m := range r.Metrics {
		t.Add(m.Name, number(m.Mean), number(m.Low), number(m.High), fmt.Sprint(m.N), note(m.Metric))
	}
	p.line("")
	p.table(withoutEmpty(t))
}

func note(m eval.Metric) string {
	if m.Residual != nil {
		return "residual " + number(m.Residual)
	}
	return m.Why
}

// withoutEmpty drops the last column when no row fills it.
func withoutEmpty(t *Table) *Table {
	last := len(t.Columns) - 1
	if !slices.ContainsFunc(t.Rows, func(row []string) bool { return cell(row, last) != "" }) {
		t.Columns = t.Columns[:last]
	}
	return t
}

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *v)
}

// slices writes one table a dimension: a row for each value, the first
// measures as columns, the first of them with its interval.
func (p *page) slices(r *eval.Result) {
	for _, by := range r.Slices {
		if len(by.Slices) == 0 {
			continue
		}
		p.title("by " + by.Name)
		p.table(sliceTable(by))
	}
}

// headlines is how many measures a table with a column for each shows; all are
// in the JSON.
const headlines = 6

// Headline names the measures that a table of slices has room for: the first
// ones without precision, which a set with one relevant chunk a case bounds at
// 1/k, judged and ndcg@1; with them where there is nothing else.
func Headline(all eval.Metrics) []string {
	var names, rest []string
	for _, m := range all {
		if strings.HasPrefix(m.Name, "precision") || strings.HasPrefix(m.Name, "judged") || m.Name == "ndcg@1" {
			rest = append(rest, m.Name)
			continue
		}
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		names = rest
	}
	return names[:min(headlines, len(names))]
}

func sliceTable(by eval.SliceBy) *Table {
	t := NewTable(by.Name, ">n")
	t.Keys = 2
	shown := Headline(by.Slices[0].Metrics)
	for i, name := range shown {
		t.Columns = append(t.Columns, Column{Name: name, Right: true})
		if i == 0 {
			t.Columns = append(t.Columns, Column{Name: "low", Right: true}, Column{Name: "high", Right: true})
		}
	}
	for _, s := range by.Slices {
		row := []string{s.Value, fmt.Sprint(s.N)}
		for i, name := range shown {
			m, _ := s.Metrics.Get(name)
			row = append(row, number(m.Mean))
			if i == 0 {
				row = append(row, number(m.Low), number(m.High))
			}
		}
		t.Add(row...)
	}
	return t
}

func (p *page) leaks(r *eval.Result) {
	if len(r.Leaks) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.style.paint(leakWords(len(r.Leaks)), text.Bold, text.FgRed))
	t := NewTable("case", ">rank", "chunk", "kind", "scope", "query")
	t.Columns[5].Max = 60
	for _, l := range r.Leaks[:min(leaksShown, len(r.Leaks))] {
		t.Add(l.Case, fmt.Sprint(l.Rank), l.Chunk, l.Kind, scopeWords(l.Scope), l.Query)
	}
	p.table(t)
	p.more(len(r.Leaks) - leaksShown)
}

func leakWords(n int) string {
	return count(n, "leak", "leaks") + ": results that the asker must not see"
}

func failureWords(n int) string { return count(n, "query", "queries") + " failed" }

func count(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (p *page) more(n int) {
	if n > 0 {
		p.line("and %d more (--json lists all)", n)
	}
}

func scopeWords(scope map[string][]string) string {
	keys := make([]string, 0, len(scope))
	for k := range scope {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		keys[i] = k + "=" + strings.Join(scope[k], "|")
	}
	return strings.Join(keys, " ")
}

func (p *page) failures(r *eval.Result) {
	if len(r.Failed) == 0 {
		return
	}
	p.title(failureWords(len(r.Failed)))
	t := NewTable("case", "error")
	for _, f := range r.Failed[:min(failuresShown, len(r.Failed))] {
		t.Add(f.Case, f.Error)
	}
	p.table(t)
	p.more(len(r.Failed) - failuresShown)
}

func (p *page) abstention(r *eval.Result) {
	a := r.Abstention
	if a == nil || a.Cases == 0 {
		return
	}
	p.title("abstention")
	t := NewTable("measure", ">value", ">n")
	t.Add("answer_rate", number(a.AnswerRate), fmt.Sprint(a.Answerable))
	t.Add("false_answer", number(a.FalseAnswer), fmt.Sprint(a.Cases))
	t.Add("auroc", number(a.AUROC), fmt.Sprint(a.Answerable+a.Cases))
	p.table(t)
	if a.Why != "" {
		p.line("%s", Escape(a.Why))
	}
}

func (p *page) latency(r *eval.Result) {
	if l := r.Latency; l != nil {
		p.line("")
		p.field("latency", fmt.Sprintf("p50 %.2f ms, p95 %.2f ms, p99 %.2f ms over %s", l.P50, l.P95, l.P99, wording.Count(l.N, "query")))
	}
}

func (p *page) remarks(r *eval.Result) {
	if r.Saturated {
		p.line("")
		p.line("%s saturated: this retriever is so near 1 that the set cannot show a regression", p.style.paint("warning:", text.FgYellow))
	}
	p.notes(r.Notes)
	p.hints(r.Hints)
}

func (p *page) notes(list []string) {
	for _, n := range list {
		p.line("note: %s", Escape(n))
	}
}

func (p *page) hints(list []string) {
	for _, h := range list {
		p.line("%s %s", p.style.paint("hint:", text.FgCyan), Escape(h))
	}
}
