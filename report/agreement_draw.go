package report

import (
	"fmt"

	"github.com/goldgen/goldgen/eval"
)

const (
	scatterHeight = 340
	scatterBottom = scatterHeight - 44 // y of the axis: labels and its name stand below
	scatterLeft   = 14.0               // percent, for the labels of y
	gridRow       = 18                 // pixels
	gridMost      = 40                 // retrievers that a grid of pairs has room for
)

// scatter draws each retriever's mean under the tested set over that under the
// reference, with both intervals. Places along x are in percent, along y in
// pixels.
type scatter struct {
	Height, Bottom, Top int
	Left                string
	X                   []tick
	Y                   []yTick
	Points              []scatterPoint
}

// scatterPoint is one retriever; interval ends are "" where there is none.
type scatterPoint struct {
	Number                   int
	Name                     string
	X, Y                     string
	XLow, XHigh, YLow, YHigh string
}

func newScatter(a *eval.Agreement) scatter {
	s := scatter{Height: scatterHeight, Bottom: scatterBottom, Top: chartTop, Left: place(scatterLeft)}
	across := shareScale(meanValues(a, func(r *eval.AgreementRetriever) *eval.AgreementMean { return &r.Reference }), axisTicks)
	up := shareScale(meanValues(a, func(r *eval.AgreementRetriever) *eval.AgreementMean { return &r.Tested }), axisTicks)
	for _, v := range across.levels() {
		s.X = append(s.X, tick{At: s.x(across, &v), Label: across.label(v), Anchor: "middle"})
	}
	for _, v := range up.levels() {
		s.Y = append(s.Y, yTick{Y: s.y(up, &v), Label: up.label(v)})
	}
	for i, r := range byReference(a) {
		if r.Reference.Mean == nil || r.Tested.Mean == nil {
			continue
		}
		s.Points = append(s.Points, scatterPoint{
			Number: i + 1, Name: Escape(r.Name), X: s.x(across, r.Reference.Mean), Y: s.y(up, r.Tested.Mean),
			XLow: s.x(across, r.Reference.Low), XHigh: s.x(across, r.Reference.High),
			YLow: s.y(up, r.Tested.Low), YHigh: s.y(up, r.Tested.High),
		})
	}
	return s
}

// meanValues lists the means of one set and the ends of their intervals.
func meanValues(a *eval.Agreement, of func(*eval.AgreementRetriever) *eval.AgreementMean) []float64 {
	var out []float64
	for i := range a.Retrievers {
		m := of(&a.Retrievers[i])
		for _, v := range []*float64{m.Mean, m.Low, m.High} {
			if v != nil {
				out = append(out, *v)
			}
		}
	}
	return out
}

func (s *scatter) x(of scale, v *float64) string {
	if v == nil {
		return ""
	}
	return place(scatterLeft + 2 + float64((96-scatterLeft-2)*(*v-of.Low)/(of.High-of.Low)))
}

func (s *scatter) y(of scale, v *float64) string {
	if v == nil {
		return ""
	}
	return place(float64(s.Bottom) - float64(float64(s.Bottom-s.Top)*(*v-of.Low)/(of.High-of.Low)))
}

// pairGrid has a cell for each pair: the row is the retriever that the reference
// orders lower, the column the higher one.
type pairGrid struct {
	Height  int
	Columns []tick
	Rows    []yTick
	Cells   []gridCell
	Legend  []gridOutcome
	Omitted string // why there is no grid
}

type gridCell struct {
	X, Y    string
	Outcome string
	Words   string
}

// gridOutcome counts the pairs of one outcome.
type gridOutcome struct {
	Outcome, Words string
	Pairs          int
}

// outcomeWords are the outcomes in the order of the legend.
func outcomeWords() []gridOutcome {
	return []gridOutcome{
		{Outcome: eval.PairRight, Words: "right: separated, and the reference orders them the same"},
		{Outcome: eval.PairOther, Words: "other: separated, the reference orders them the other way, not significantly"},
		{Outcome: eval.PairReversed, Words: "reversed: both separate them, the two ways round"},
		{Outcome: eval.PairMissed, Words: "missed: the reference separates them, the tested set does not"},
		{Outcome: eval.PairUndecided, Words: "undecided: neither separates them"},
	}
}

func newPairGrid(a *eval.Agreement) pairGrid {
	n := len(a.Retrievers)
	g := pairGrid{Height: gridRow*n + gridRow, Legend: outcomeWords()}
	for _, p := range a.Pairs {
		for i := range g.Legend {
			if g.Legend[i].Outcome == p.Outcome {
				g.Legend[i].Pairs++
			}
		}
	}
	if n > gridMost {
		g.Omitted = fmt.Sprintf("%d retrievers are too many to draw a cell for each pair", n)
		return g
	}
	at := placesOf(a)
	for i := range n {
		label := fmt.Sprint(i + 1)
		g.Rows = append(g.Rows, yTick{Y: gridY(i), Label: label})
		if n > 12 && i%2 == 1 {
			label = ""
		}
		g.Columns = append(g.Columns, tick{At: gridX(i, n), Label: label, Anchor: "middle"})
	}
	for _, p := range a.Pairs {
		row, column := max(at[p.A], at[p.B]), min(at[p.A], at[p.B])
		words := fmt.Sprintf("%s and %s: %s", a.Retrievers[p.A].Name, a.Retrievers[p.B].Name, p.Outcome)
		g.Cells = append(g.Cells, gridCell{X: gridX(column, n), Y: gridY(row), Outcome: p.Outcome, Words: Escape(words)})
	}
	return g
}

// placesOf gives each retriever's place in the order of byReference.
func placesOf(a *eval.Agreement) []int {
	at, names := make([]int, len(a.Retrievers)), map[string]int{}
	for i, r := range byReference(a) {
		names[r.Name] = i
	}
	for i, r := range a.Retrievers {
		at[i] = names[r.Name]
	}
	return at
}

func gridX(i, n int) string { return place(8 + 91*(float64(i)+0.5)/float64(n)) }

func gridY(i int) string { return fmt.Sprint(gridRow*i + gridRow + gridRow/2) }
