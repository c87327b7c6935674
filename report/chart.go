package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/goldgen/goldgen/eval"
)

// Sizes of a chart, in pixels. Places along x are in percent, so that a chart
// is as wide as its page and its text stays as large as it is.
const (
	chartHeight = 220
	chartTop    = 10
	chartBottom = 28
	chartLeft   = 11.0 // percent, for the labels of y
)

// chart is lines over common places along x, each point with its interval.
type chart struct {
	Title  string
	Height int
	Bottom int // y of the axis
	Y      []yTick
	X      []tick
	Series []series
	Table  textTable // the same figures
}

// yTick is a labelled height.
type yTick struct {
	Y     string
	Label string
}

// series is one line. Shift moves it aside so that intervals do not cover each
// other, in pixels.
type series struct {
	Name   string
	Style  int // its colour and its mark's form
	Shift  int
	Points []point
	Lines  []segment
}

// styles is how many colours and forms there are; further lines repeat them.
const styles = 4

func seriesStyle(i int) int { return i % styles }

type point struct{ X, Y, Low, High string }

type segment struct{ X1, Y1, X2, Y2 string }

// sample is a value at one of the places along x.
type sample struct {
	at        int
	mean      float64
	low, high *float64
}

// newChart draws each name's samples over the labels along x.
func newChart(title string, labels, names []string, data [][]sample) chart {
	c := chart{Title: title, Height: chartHeight, Bottom: chartHeight - chartBottom}
	s := shareScale(sampleValues(data), axisTicks)
	for _, t := range s.levels() {
		c.Y = append(c.Y, yTick{Y: place(c.y(s, t)), Label: s.label(t)})
	}
	for i, l := range labels {
		c.X = append(c.X, tick{At: place(along(i, len(labels))), Label: Escape(l), Anchor: "middle"})
	}
	thin(c.X)
	for i := range data {
		line := c.line(s, data[i], len(labels))
		line.Name, line.Style, line.Shift = Escape(names[i]), seriesStyle(i), 8*i-4*(len(data)-1)
		c.Series = append(c.Series, line)
	}
	return c
}

func sampleValues(data [][]sample) []float64 {
	var out []float64
	for _, line := range data {
		for _, p := range line {
			out = append(out, p.mean)
			for _, v := range []*float64{p.low, p.high} {
				if v != nil {
					out = append(out, *v)
				}
			}
		}
	}
	return out
}

// levels are the values at the ticks.
func (s scale) levels() []float64 {
	var out []float64
	for i := range int(math.Round((s.High-s.Low)/s.Step)) + 1 {
		out = append(out, s.value(i))
	}
	return out
}

func (c *chart) y(s scale, v float64) float64 {
	room := float64(c.Bottom - chartTop)
	return float64(c.Bottom) - float64(room*(v-s.Low)/(s.High-s.Low))
}

// along is the i-th of n places, in percent.
func along(i, n int) float64 {
	left, right := chartLeft+6, 89.5
	if n < 2 {
		return (left + right) / 2
	}
	return left + float64((right-left)*float64(i)/float64(n-1))
}

// labelsAcross is how many labels fit along x on a phone.
const labelsAcross = 4

// thin leaves the labels of a few places, the last one among them.
func thin(ticks []tick) {
	every := (len(ticks) + labelsAcross - 1) / labelsAcross
	for i := range ticks {
		if every > 1 && (len(ticks)-1-i)%every != 0 {
			ticks[i].Label = ""
		}
	}
}

// line draws samples over so many places along x.
func (c *chart) line(s scale, samples []sample, places int) series {
	var out series
	for i, p := range samples {
		at := point{X: place(along(p.at, places)), Y: place(c.y(s, p.mean))}
		if p.low != nil && p.high != nil {
			at.Low, at.High = place(c.y(s, *p.low)), place(c.y(s, *p.high))
		}
		if i > 0 {
			before := out.Points[i-1]
			out.Lines = append(out.Lines, segment{before.X, before.Y, at.X, at.Y})
		}
		out.Points = append(out.Points, at)
	}
	return out
}

var cutoff = regexp.MustCompile(`^(recall|ndcg|ndcg_cut)[@_](\d+)$`)

// overK finds a measure at its cut-offs, ascending.
func overK(metrics eval.Metrics, measure string) (ks []int, at []eval.Metric) {
	type cut struct {
		k int
		m eval.Metric
	}
	var cuts []cut
	for _, m := range metrics {
		parts := cutoff.FindStringSubmatch(m.Name)
		if parts == nil || parts[1] != measure || m.Mean == nil {
			continue
		}
		if k, err := strconv.Atoi(parts[2]); err == nil {
			cuts = append(cuts, cut{k, m.Metric})
		}
	}
	slices.SortFunc(cuts, func(x, y cut) int { return cmp.Compare(x.k, y.k) })
	for _, c := range cuts {
		ks, at = append(ks, c.k), append(at, c.m)
	}
	return ks, at
}

// line is a result under the name that it has in a chart.
type line struct {
	name    string
	metrics eval.Metrics
}

// lines are the results, and the baseline where it is comparable.
func (f *Findings) lines() []line {
	var out []line
	for i, name := range resultNames(f.Results) {
		out = append(out, line{name, f.Results[i].Result.Metrics})
	}
	if f.Baseline != nil && f.Comparison != nil && f.Comparison.Comparable {
		out[0].name = "candidate: " + out[0].name
		out = append(out, line{"baseline: " + nameOf(f.Baseline), f.Baseline.Metrics})
	}
	return out
}

// overKChart draws a measure over its cut-offs for each result; ok is false
// where there are fewer than two cut-offs.
func overKChart(lines []line, measure string) (c chart, ok bool) {
	ks, _ := overK(lines[0].metrics, measure)
	if len(ks) < 2 {
		return chart{}, false
	}
	labels := make([]string, len(ks))
	for i, k := range ks {
		labels[i] = fmt.Sprintf("k = %d", k)
	}
	data, names := make([][]sample, len(lines)), make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.name
		own, means := overK(l.metrics, measure)
		for j, k := range own {
			if at := slices.Index(ks, k); at >= 0 {
				data[i] = append(data[i], sample{at: at, mean: *means[j].Mean, low: means[j].Low, high: means[j].High})
			}
		}
	}
	c = newChart(measure+" over k", labels, names, data)
	c.Table = sampleTable(measure+" over k", "k", labels, c.Series, data)
	return c, true
}

func sampleTable(caption, first string, labels []string, lines []series, data [][]sample) textTable {
	t := textTable{Caption: caption, Columns: []string{first}}
	for _, l := range lines {
		t.Columns = append(t.Columns, ">"+l.Name)
	}
	for at, label := range labels {
		row := []string{Escape(label)}
		for i := range data {
			row = append(row, sampleCell(data[i], at))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func sampleCell(samples []sample, at int) string {
	for _, p := range samples {
		if p.at == at {
			return short(&p.mean) + " " + bracketed(p.low, p.high)
		}
	}
	return ""
}
