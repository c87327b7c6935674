package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// detail is a part of a result that stands apart from its means: a table and
// what it is, for a terminal and for a page alike.
type detail struct {
	ID, Title string
	Note      string // a sentence that says what the figures are; "" none
	Table     *Table
	Most      int // rows that a terminal shows, 0 all
}

// details lists the parts of a result that have something to say.
func details(r *eval.Result) []detail {
	all := []detail{filterErrors(r), ties(r), otherSources(r), threshold(r.Abstention)}
	if r.Memory != nil {
		all = append(all, memoryScopes(r.Memory), staleHits(r.Memory), sourceKinds(r.Memory))
	}
	return slices.DeleteFunc(all, func(d detail) bool { return d.Table == nil || len(d.Table.Rows) == 0 })
}

func filterErrors(r *eval.Result) detail {
	t := NewTable("case", ">rank", "chunk", "violates", "query")
	t.Columns[4].Max = 60
	for _, e := range r.FilterErrors {
		t.Add(e.Case, fmt.Sprint(e.Rank), e.Chunk, filterWords([]corpus.Filter{e.Filter}), e.Query)
	}
	return detail{ID: "filters", Title: "Filter errors", Note: "Results that violate a filter that the case requires.", Table: t, Most: leaksShown}
}

// ties lists the measures that another order of results with equal scores would
// move.
func ties(r *eval.Result) detail {
	t := NewTable("measure", ">mean", ">least", ">most", ">expected", ">tied at k")
	for _, m := range r.Metrics {
		if m.TiedAtCut == 0 && (m.Least == nil || m.Most == nil || *m.Most-*m.Least < 1e-9) {
			continue
		}
		t.Add(m.Name, number(m.Mean), number(m.Least), number(m.Most), number(m.Expected), fmt.Sprint(m.TiedAtCut))
	}
	return detail{
		ID: "ties", Title: "Ties", Table: t,
		Note: "How far another order of results with equal scores can move a mean, and the cases whose cut at k falls inside a tie.",
	}
}

// otherSources sets the means under the other readings of the source chunk
// beside those asked for.
func otherSources(r *eval.Result) detail {
	names := []string{"measure", ">source " + r.Conventions.Source}
	for _, s := range r.BySource {
		names = append(names, ">source "+s.Source)
	}
	d := detail{ID: "sources", Title: "Other readings of the source chunk", Note: "The chunk that a query was written from: labelled relevant (in), as judged, or taken out."}
	if len(r.BySource) == 0 {
		return d
	}
	d.Table = NewTable(names...)
	for _, name := range Headline(r.Metrics) {
		m, _ := r.Metrics.Get(name)
		row := []string{name, number(m.Mean)}
		for _, s := range r.BySource {
			other, _ := s.Metrics.Get(name)
			row = append(row, fmt.Sprintf("%s (n %d)", number(other.Mean), other.N))
		}
		d.Table.Add(row...)
	}
	return d
}

// threshold is the top score from which on answering keeps a declared rate of
// false answers.
func threshold(a *eval.Abstention) detail {
	d := detail{ID: "threshold", Title: "Threshold for answering"}
	if a == nil || a.Threshold == nil {
		return d
	}
	x := a.Threshold
	d.Note = upper(x.Method) + "."
	d.Table = NewTable("figure", ">value", ">low", ">high")
	d.Table.Add("answer where the top score is at least", usable(x.Value), number(x.Low), number(x.High))
	d.Table.Add("false-answer rate then", number(&x.FalseAnswer), number(&x.FalseAnswerLow), number(&x.FalseAnswerHigh))
	d.Table.Add("declared rate", number(&x.Target))
	d.Table.Add("answer rate then", number(&x.AnswerRate))
	return d
}

// usable writes a score that is to be compared with: rounded where that is the
// score itself, else in full.
func usable(v float64) string {
	short := number(&v)
	if x, err := strconv.ParseFloat(short, 64); err == nil && x == v {
		return short
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func memoryScopes(m *eval.Memory) detail {
	d := detail{ID: "memory", Title: "Memory by kind of scope"}
	if len(m.Scopes.Slices) > 0 {
		d.Table = sliceTable(m.Scopes)
	}
	return d
}

func staleHits(m *eval.Memory) detail {
	d := detail{ID: "stale", Title: "Stale results", Note: "Results that held once and do not any more, over the cases that have any."}
	if m.Stale == nil {
		return d
	}
	d.Table = NewTable("cases", ">stale results", ">above the current one", ">cases with one above")
	d.Table.Add(fmt.Sprint(m.Stale.Cases), fmt.Sprint(m.Stale.Returned), tally(m.Stale.AboveCurrent), tally(m.Stale.CasesAboveCurrent))
	return d
}

// tally is a count, which is a mean over draws where labels are uncertain.
func tally(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

func sourceKinds(m *eval.Memory) detail {
	t := NewTable("expected kind of source", ">cases", ">first", ">found", "returned first")
	for _, s := range m.Sources {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(s.Returned)) {
			kinds = append(kinds, fmt.Sprintf("%s %d", kind, s.Returned[kind]))
		}
		t.Add(s.Expected, fmt.Sprint(s.Cases), fmt.Sprint(s.First), fmt.Sprint(s.Found), strings.Join(kinds, ", "))
	}
	return detail{ID: "kinds", Title: "Kinds of source", Table: t}
}

// details writes the parts for a terminal.
func (p *page) details(r *eval.Result) {
	for _, d := range details(r) {
		p.title(strings.ToLower(d.Title))
		if d.Note != "" {
			p.line("%s", Escape(d.Note))
		}
		rest := 0
		if d.Most > 0 && len(d.Table.Rows) > d.Most {
			rest = len(d.Table.Rows) - d.Most
			d.Table.Rows = d.Table.Rows[:d.Most]
		}
		p.table(d.Table)
		p.more(rest)
	}
}

// pageDetail is a part for a page.
type pageDetail struct {
	ID, Title, Note string
	Table           textTable
}

func pageDetails(r *eval.Result) []pageDetail {
	var out []pageDetail
	for _, d := range details(r) {
		x := pageDetail{ID: d.ID, Title: d.Title, Note: Escape(d.Note), Table: textTable{Caption: d.Title}}
		for _, c := range d.Table.Columns {
			name := Escape(c.Name)
			if c.Right {
				name = ">" + name
			}
			x.Table.Columns = append(x.Table.Columns, name)
		}
		for _, row := range d.Table.Rows {
			cells := make([]string, len(d.Table.Columns))
			copy(cells, row)
			x.Table.add(listed, cells...)
		}
		out = append(out, x)
	}
	return out
}
