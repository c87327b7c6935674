package report

import (
	"fmt"
	"slices"
	"time"
)

// historyMost is how many results a history draws; older ones are left out and
// said.
const historyMost = 60

// historyChart draws one measure of earlier results, a line for each retriever.
func historyChart(past []Past, measure string) (chart, bool) {
	past = past[max(0, len(past)-historyMost):]
	var names, labels []string
	for _, p := range past {
		names = add(names, p.Retriever)
		labels = append(labels, p.Time.UTC().Format(dayOrTime(past)))
	}
	data := make([][]sample, len(names))
	points := 0
	for at, p := range past {
		if m, ok := p.Metrics.Get(measure); ok && m.Mean != nil {
			i := slices.Index(names, p.Retriever)
			data[i] = append(data[i], sample{at: at, mean: *m.Mean, low: m.Low, high: m.High})
			points++
		}
	}
	if points < 2 {
		return chart{}, false
	}
	c := newChart(measure+" of earlier results", labels, names, data)
	for i := range c.Series {
		c.Series[i].Shift = 0 // results have places of their own
	}
	c.Table = historyTable(past, measure)
	return c, true
}

// dayOrTime is the form of labels that tells results apart: the time where all
// are of one day.
func dayOrTime(past []Past) string {
	day := past[0].Time.UTC().Format(time.DateOnly)
	for _, p := range past {
		if p.Time.UTC().Format(time.DateOnly) != day {
			return time.DateOnly
		}
	}
	return time.TimeOnly
}

func historyTable(past []Past, measure string) textTable {
	t := textTable{Caption: Escape(measure) + " of earlier results", Columns: []string{"time", "golden set", "retriever", ">mean", ">95 % interval", ">leaks"}}
	for _, p := range slices.Backward(past) {
		m, _ := p.Metrics.Get(measure)
		t.add(0, p.Time.UTC().Format("2006-01-02 15:04"), p.Golden, p.Retriever, short(m.Mean), between(m.Low, m.High), fmt.Sprint(p.Leaks))
	}
	return t
}
