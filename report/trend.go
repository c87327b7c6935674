package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/guptarohit/asciigraph"
)

// TrendLine is one retriever's means, oldest first.
type TrendLine struct {
	Name   string
	Values []float64
}

// trendHeight is how many lines a chart has between its lowest and highest
// value.
const trendHeight = 6

// trendRoom is what a chart needs beside its points: values and axis.
const trendRoom = 12

// Trend plots one measure on a terminal, a small chart a line of two values or
// more. A pipe gets nothing: the values stand in the table.
func Trend(w io.Writer, measure string, lines []TrendLine, style Style) error {
	if !style.Terminal {
		return nil
	}
	for _, l := range lines {
		if len(l.Values) < 2 {
			continue
		}
		p := &page{w: w, style: style}
		p.title(Escape(fmt.Sprintf("%s of %s: %d results, lowest %.4f, highest %.4f, last %.4f",
			measure, l.Name, len(l.Values), slices.Min(l.Values), slices.Max(l.Values), l.Values[len(l.Values)-1])))
		p.line("%s", plot(l.Values, style.Width))
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// plot draws the newest values that the width has room for. A line that does
// not move is drawn flat.
func plot(values []float64, width int) string {
	if room := width - trendRoom; width > 0 && len(values) > room {
		values = values[len(values)-max(room, 2):]
	}
	return asciigraph.Plot(values, asciigraph.Height(trendHeight), asciigraph.Precision(3))
}
