package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/goldgen/goldgen/eval"
)

// latencyBins is how many bars a distribution has.
const latencyBins = 20

// histogram is how many queries took how long. Bins are equally wide in the
// logarithm: latencies have long tails.
type histogram struct {
	Height, Bottom int
	Bars           []bar
	Marks          []percentile
	X              []tick
	Table          textTable
	Summary        textTable
}

type bar struct{ X, Width, Y, Height string }

// percentile is a labelled line; labels stand on lines of their own.
type percentile struct {
	X, Label, Anchor string
	TextX            string
	Y                int
}

// latencyOf draws the times of a result's queries; ok is false where no times
// are known.
func latencyOf(s *Scored, c *eval.Comparison) (h histogram, ok bool) {
	var times []float64
	for i := range s.Cases {
		if t := s.Cases[i].TookMS; t > 0 {
			times = append(times, t)
		}
	}
	l := s.Result.Latency
	if l == nil {
		return h, false
	}
	h.Summary = latencySummary(l, c)
	if len(times) < 2 {
		return h, true
	}
	low, high := slices.Min(times), slices.Max(times)
	if high/low < 1.01 {
		low, high = low/1.1, high*1.1
	}
	h.Height, h.Bottom = chartHeight, chartHeight-chartBottom
	counts := binned(times, low, high)
	h.draw(counts, low, high)
	h.mark(l, low, high)
	return h, true
}

func binned(times []float64, low, high float64) []int {
	counts := make([]int, latencyBins)
	for _, t := range times {
		bin := int(math.Log(t/low) / math.Log(high/low) * latencyBins)
		counts[min(max(bin, 0), latencyBins-1)]++
	}
	return counts
}

// barsTop leaves room for the labels of three percentiles.
const barsTop = 56

func (h *histogram) draw(counts []int, low, high float64) {
	most := slices.Max(counts)
	h.Table = textTable{Caption: "Queries by time taken", Columns: []string{"from", ">to", ">queries"}}
	width := (100 - 2*edge) / latencyBins
	for i, n := range counts {
		tall := float64(h.Bottom-barsTop) * float64(n) / float64(most)
		h.Bars = append(h.Bars, bar{place(edge + float64(float64(i)*width)), place(width * 0.88), place(float64(h.Bottom) - tall), place(tall)})
		if n > 0 {
			h.Table.add(0, milliseconds(bound(i, low, high)), milliseconds(bound(i+1, low, high)), fmt.Sprint(n))
		}
	}
	for i := 0; i <= latencyBins; i += latencyBins / 2 {
		t := tick{At: place(edge + float64(float64(i)*width)), Label: milliseconds(bound(i, low, high)), Anchor: "middle"}
		if i == 0 {
			t.Anchor = "start"
		}
		if i == latencyBins {
			t.Anchor = "end"
		}
		h.X = append(h.X, t)
	}
}

// bound is the lower end of bin i.
func bound(i int, low, high float64) float64 {
	return low * math.Pow(high/low, float64(i)/latencyBins)
}

func (h *histogram) mark(l *eval.Latency, low, high float64) {
	for i, p := range []struct {
		name string
		at   float64
	}{{"p50", l.P50}, {"p95", l.P95}, {"p99", l.P99}} {
		share := math.Log(min(high, max(low, p.at))/low) / math.Log(high/low)
		x := edge + float64((100-2*edge)*share)
		m := percentile{X: place(x), TextX: place(x + 0.8), Label: p.name + " " + milliseconds(p.at), Anchor: "start", Y: 12 + 15*i}
		if x > 60 {
			m.Anchor, m.TextX = "end", place(x-0.8)
		}
		h.Marks = append(h.Marks, m)
	}
}

func latencySummary(l *eval.Latency, c *eval.Comparison) textTable {
	t := textTable{Caption: "Nearest-rank percentiles over queries with a known time", Columns: []string{"", ">p50", ">p95", ">p99", ">queries"}}
	row := func(name string, l *eval.Latency) {
		t.add(0, name, milliseconds(l.P50), milliseconds(l.P95), milliseconds(l.P99), fmt.Sprint(l.N))
	}
	if c == nil || c.Latency.Base == nil {
		row("all queries", l)
		return t
	}
	row("baseline", c.Latency.Base)
	row("candidate", l)
	return t
}
