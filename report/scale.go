package report

import (
	"math"
	"strconv"
)

// edge keeps marks at the ends of an axis inside the drawing, in percent.
const edge = 3.0

// scale maps [Low, High] to percent of a drawing's width.
type scale struct {
	Low, High, Step float64
}

// tick is a labelled place on an axis.
type tick struct {
	At     string // percent
	Label  string
	Anchor string // start, middle, end: labels at the ends stay inside
	Zero   bool
}

// newScale covers the values with a round step. Values with one place only get
// a step on either side.
func newScale(values []float64, most int) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if low > high {
		low, high = 0, 1
	}
	if high-low < 1e-9 {
		low, high = low-0.05, high+0.05
	}
	step := roundStep((high - low) / float64(most))
	return scale{Low: math.Floor(low/step+1e-9) * step, High: math.Ceil(high/step-1e-9) * step, Step: step}
}

// shareScale is for means of measures: never beyond 0 and 1 where the values
// are not.
func shareScale(values []float64, most int) scale {
	s := newScale(values, most)
	if len(values) == 0 {
		return s
	}
	if s.Low < 0 && smallest(values) >= 0 {
		s.Low = 0
	}
	if s.High > 1 && largest(values) <= 1 {
		s.High = 1
	}
	return s
}

func smallest(values []float64) float64 {
	out := math.Inf(1)
	for _, v := range values {
		out = min(out, v)
	}
	return out
}

func largest(values []float64) float64 {
	out := math.Inf(-1)
	for _, v := range values {
		out = max(out, v)
	}
	return out
}

// roundStep is the least of 1, 2, 5 times a power of ten that is not below x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// at is a value's place in percent.
func (s scale) at(v float64) float64 {
	share := (v - s.Low) / (s.High - s.Low)
	return edge + float64((100-2*edge)*min(1, max(0, share)))
}

// value is that of tick i.
func (s scale) value(i int) float64 { return s.Low + float64(float64(i)*s.Step) }

func (s scale) ticks() []tick {
	var out []tick
	n := int(math.Round((s.High - s.Low) / s.Step))
	for i := range n + 1 {
		v := s.value(i)
		t := tick{At: place(s.at(v)), Label: s.label(v), Anchor: "middle", Zero: math.Abs(v) < s.Step/1e6}
		switch i {
		case 0:
			t.Anchor = "start"
		case n:
			t.Anchor = "end"
		}
		out = append(out, t)
	}
	return out
}

// label shows a value with as many decimals as the step has.
func (s scale) label(v float64) string {
	decimals := max(0, int(math.Ceil(-math.Log10(s.Step)-1e-9)))
	if math.Abs(v) < s.Step/1e6 {
		return "0"
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if v < 0 {
		return "−" + text
	}
	return text
}

// place is a coordinate to two decimals.
func place(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }
