package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/eval"
)

// forest is a table whose last column draws each row's estimate with its
// interval on one common axis, so that the table is the drawing's text.
type forest struct {
	Name    string // of the measure, where there is a forest for each
	Chosen  bool   // the one that is shown first
	Caption string
	Columns []string // names; the first is the row's, the last the drawing's
	Ticks   []tick
	Groups  []forestGroup

	scale scale
}

// forestGroup is rows under a common heading, "" none.
type forestGroup struct {
	Name string
	Rows []forestRow
}

// forestRow is a row's text and its mark. Cells are those between the name and
// the drawing.
type forestRow struct {
	Name   string
	Cells  []string
	Mark   mark
	Series int
	Wordy  bool // a cell says in words why there is no interval
}

// mark is an estimate in percent of the axis; fields are "" where there is none.
type mark struct {
	Low, High, At, Base string
	Class               string // good, bad or plain
	Ticks               []tick

	low, high, at, base *float64
}

// draw places the marks of all rows on one axis.
func (f *forest) draw(s scale) {
	f.scale, f.Ticks = s, s.ticks()
	for g := range f.Groups {
		for r := range f.Groups[g].Rows {
			m := &f.Groups[g].Rows[r].Mark
			m.Low, m.High, m.At, m.Base = f.place(m.low), f.place(m.high), f.place(m.at), f.place(m.base)
			m.Ticks = f.Ticks
		}
	}
}

func (f *forest) place(v *float64) string {
	if v == nil {
		return ""
	}
	return place(f.scale.at(*v))
}

// values lists every number that the axis must show.
func (f *forest) values() []float64 {
	var out []float64
	for _, g := range f.Groups {
		for _, r := range g.Rows {
			for _, v := range []*float64{r.Mark.low, r.Mark.high, r.Mark.at, r.Mark.base} {
				if v != nil {
					out = append(out, *v)
				}
			}
		}
	}
	return out
}

func (f *forest) empty() bool { return len(f.Groups) == 0 }

// Column names the i-th column between a row's name and its drawing.
func (f forest) Column(i int) string { return f.Columns[i+1] }

// choose marks the forest of a measure as the one shown first, else the first.
func choose(forests []forest, measure string) []forest {
	at := max(0, slices.IndexFunc(forests, func(f forest) bool { return f.Name == measure }))
	if len(forests) > 0 {
		forests[at].Chosen = true
	}
	return forests
}

// Places on an axis: few, so that labels stand apart on a phone.
const axisTicks = 4

var meanColumns = []string{"n", "mean", "95 % interval"}

func meanRow(name string, m eval.Metric, series int) forestRow {
	cells := []string{fmt.Sprint(m.N), short(m.Mean), betweenOr(m.Low, m.High, m.Why)}
	return forestRow{Name: Escape(name), Cells: cells, Series: seriesStyle(series), Wordy: m.Low == nil, Mark: mark{low: m.Low, high: m.High, at: m.Mean, Class: "plain"}}
}

func betweenOr(low, high *float64, why string) string {
	if low == nil && why != "" {
		return Escape(why)
	}
	return between(low, high)
}

// meansForest shows the measures of one result.
func meansForest(r *eval.Result) forest {
	f := forest{Caption: "Means of all measures", Columns: columns("measure", meanColumns)}
	g := forestGroup{}
	for _, m := range r.Metrics {
		g.Rows = append(g.Rows, meanRow(m.Name, m.Metric, 0))
	}
	f.Groups = []forestGroup{g}
	f.draw(shareScale(f.values(), axisTicks))
	return f
}

// retrieversForest sets several results side by side, a group for each measure.
func retrieversForest(results []Scored) forest {
	f := forest{Caption: "Retrievers side by side", Columns: columns("retriever", meanColumns)}
	for _, name := range Headline(results[0].Result.Metrics) {
		g := forestGroup{Name: Escape(name)}
		for i, s := range results {
			if m, ok := s.Result.Metrics.Get(name); ok {
				g.Rows = append(g.Rows, meanRow(resultNames(results)[i], m, i))
			}
		}
		f.Groups = append(f.Groups, g)
	}
	f.draw(shareScale(f.values(), axisTicks))
	return f
}

// resultNames tells results apart: by retriever, and by folder where two have
// the same one.
func resultNames(results []Scored) []string {
	seen := map[string]int{}
	for _, s := range results {
		seen[s.Result.Retriever.Name]++
	}
	names := make([]string, len(results))
	for i, s := range results {
		names[i] = nameOf(s.Result)
		if seen[s.Result.Retriever.Name] > 1 && s.Path != "" {
			names[i] += " (" + s.Path + ")"
		}
	}
	return names
}

// nameOf is a result's retriever in a word.
func nameOf(r *eval.Result) string { return cmp.Or(r.Retriever.Name, r.Retriever.Spec) }

// sliceForests shows one measure by slice, for each of the measures.
func sliceForests(results []Scored) []forest {
	var out []forest
	first := results[0].Result
	if len(first.Slices) == 0 {
		return nil
	}
	for _, name := range Headline(first.Metrics) {
		f := forest{Name: name, Caption: Escape(name) + " by slice", Columns: columns("slice", meanColumns)}
		for _, by := range first.Slices {
			f.Groups = append(f.Groups, sliceGroups(results, by, name)...)
		}
		if f.empty() {
			continue
		}
		if m, ok := first.Metrics.Get(name); ok && len(results) == 1 {
			f.Groups = append([]forestGroup{{Rows: []forestRow{meanRow("all cases", m, 0)}}}, f.Groups...)
		}
		f.draw(shareScale(f.values(), axisTicks))
		out = append(out, f)
	}
	return choose(out, primary(first.Metrics))
}

// sliceGroups is one group a dimension, or with several results one a slice.
func sliceGroups(results []Scored, by eval.SliceBy, name string) []forestGroup {
	if len(results) == 1 {
		g := forestGroup{Name: Escape(by.Name)}
		for _, s := range by.Slices {
			if m, ok := s.Metrics.Get(name); ok {
				g.Rows = append(g.Rows, meanRow(s.Value, m, 0))
			}
		}
		return []forestGroup{g}
	}
	var out []forestGroup
	for _, s := range by.Slices {
		g := forestGroup{Name: Escape(by.Name + " = " + s.Value)}
		for i, other := range results {
			for _, o := range other.Result.Slices.Get(by.Name) {
				if m, ok := o.Metrics.Get(name); ok && o.Value == s.Value {
					g.Rows = append(g.Rows, meanRow(resultNames(results)[i], m, i))
				}
			}
		}
		out = append(out, g)
	}
	return out
}

var plotColumns = []string{"base → candidate", "difference", "95 % interval", "p (Holm)", "better / worse"}

func plotRow(name string, d *eval.Difference) forestRow {
	cells := []string{
		short(d.Base) + " → " + short(d.Candidate), plusMinus(d.Difference), betweenOr(d.Low, d.High, d.Why),
		probability(d.PHolm), fmt.Sprintf("%d / %d", d.Better, d.Worse),
	}
	return forestRow{Name: Escape(name), Cells: cells, Wordy: d.Low == nil, Mark: mark{low: d.Low, high: d.High, at: d.Difference, Class: direction(d)}}
}

// direction is good or bad only where the whole interval says so.
func direction(d *eval.Difference) string {
	switch {
	case d.High != nil && *d.High < 0:
		return "bad"
	case d.Low != nil && *d.Low > 0:
		return "good"
	}
	return "plain"
}

// differenceForest shows every measure's difference over all cases.
func differenceForest(c *eval.Comparison) forest {
	f := forest{Caption: "Candidate less baseline, all cases", Columns: columns("measure", plotColumns)}
	g := forestGroup{}
	for _, m := range c.Metrics {
		g.Rows = append(g.Rows, plotRow(m.Name, &m.Difference))
	}
	f.Groups = []forestGroup{g}
	f.drawAroundZero()
	return f
}

// differenceSliceForests shows one measure's difference by slice, for each of
// the measures.
func differenceSliceForests(c *eval.Comparison) []forest {
	var out []forest
	for _, all := range c.Metrics {
		f := forest{Name: all.Name, Caption: Escape(all.Name) + ", candidate less baseline, by slice", Columns: columns("slice", plotColumns)}
		for _, by := range c.Slices {
			g := forestGroup{Name: Escape(by.Name)}
			for _, s := range by.Slices {
				for _, m := range s.Metrics {
					if m.Name == all.Name {
						g.Rows = append(g.Rows, plotRow(s.Value, &m.Difference))
					}
				}
			}
			f.Groups = append(f.Groups, g)
		}
		if f.empty() {
			continue
		}
		f.Groups = append([]forestGroup{{Rows: []forestRow{plotRow("all cases", &all.Difference)}}}, f.Groups...)
		f.drawAroundZero()
		out = append(out, f)
	}
	return out
}

// drawAroundZero draws differences on an axis that shows where 0 is.
func (f *forest) drawAroundZero() { f.draw(newScale(append(f.values(), 0), axisTicks)) }

func columns(first string, rest []string) []string {
	return append(append([]string{first}, rest...), "plot")
}
