package eval

import "math"

// LabelOutlook says how much of the doubt about a comparison comes from labels, and
// what more of them would do. It is of the measure on which labels weigh most.
type LabelOutlook struct {
	Metric     string      `json:"metric"`
	Share      float64     `json:"share"`           // of the variance of the difference
	ShiftShare float64     `json:"shift_share"`     // the part of it that is the shift variance
	Third      *int        `json:"third,omitempty"` // labels that would take a third off the interval; nil where no number that was looked at would
	After      []LabelStep `json:"after,omitempty"` // by number of labels; empty where it is not known what they would do
}

// LabelStep is the width of the interval after so many more labels by people, as a
// share of what it is.
type LabelStep struct {
	Labels int     `json:"labels"`
	Width  float64 `json:"width"`
}

// The labels that are looked ahead to: steps of ten for the third, and those told.
const (
	labelsAhead = 300
	labelsStep  = 10
)

func labelsTold() []int { return []int{50, 100, 200} }

// outlook is nil where no label is uncertain.
func (d *differ) outlook(metrics Differences) *LabelOutlook {
	at, most := -1, 0.0
	for j := range metrics {
		if share := metrics[j].LabelShare; share != nil && *share > most {
			at, most = j, *share
		}
	}
	if at < 0 {
		return nil
	}
	p := d.pooledWithShift(0, at)
	variance, _ := p.total()
	out := &LabelOutlook{Metric: metrics[at].Name, Share: most, ShiftShare: p.shift / variance}
	if d.leave != nil {
		out.lookAhead(d.leave)
	}
	return out
}

// lookAhead fills in what more labels would leave. The width goes with the root of
// the variance.
func (o *LabelOutlook) lookAhead(leave func(int) (draws, shift float64)) {
	width := func(n int) float64 {
		draws, shift := leave(n)
		return math.Sqrt(1 - o.Share + float64((o.Share-o.ShiftShare)*draws) + float64(o.ShiftShare*shift))
	}
	for _, n := range labelsTold() {
		o.After = append(o.After, LabelStep{Labels: n, Width: width(n)})
	}
	for n := labelsStep; n <= labelsAhead && o.Third == nil; n += labelsStep {
		if width(n) <= 2.0/3 {
			o.Third = &n
		}
	}
}
