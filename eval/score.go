package eval

import (
	"math"
	"slices"
)

// plan is the measures made ready for one pass over the cases.
type plan struct {
	steps     []step
	levels    []int16 // distinct levels of the steps
	keepEmpty bool
	minGrade  int16
	log2      []float64
	ties      *tieMoves // nil where no case has a tie
	bySpan    bool
}

// newPlan resolves levels. Under binary labels every level is 1.
func newPlan(in *Input, measures []Measure, p *prepared, binary bool) *plan {
	pl := &plan{keepEmpty: in.KeepEmpty, minGrade: int16(in.MinGrade), bySpan: in.bySpan()}
	if binary {
		pl.minGrade = 1
	}
	pl.addLevel(pl.minGrade)
	for _, m := range measures {
		level := pl.minGrade
		if m.level > 0 && !binary {
			level = int16(m.level)
		}
		s := step{Measure: m, level: level, at: pl.addLevel(level), cut: slices.Index(p.cuts, m.k), of: formulas[m.kind],
			gainOf: m.gainsOf(), cases: in.holds(&m)}
		if in.bySpan() && !isSpanKind(m.kind) {
			s.of = unscored
		}
		pl.steps = append(pl.steps, s)
	}
	pl.log2 = discounts(longest(p))
	return pl
}

func (pl *plan) addLevel(level int16) int {
	if at := slices.Index(pl.levels, level); at >= 0 {
		return at
	}
	pl.levels = append(pl.levels, level)
	return len(pl.levels) - 1
}

func discounts(n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = math.Log2(float64(i + 2))
	}
	return d
}

func longest(p *prepared) int {
	n := 0
	for i := range p.facts {
		n = max(n, p.hitStart[i+1]-p.hitStart[i], p.labelStart[i+1]-p.labelStart[i])
	}
	return n
}

// matrix holds one value for each case and step; NaN is none. states says why
// a whole case has none.
type matrix struct {
	values []float64
	width  int
	states []state
}

func newMatrix(cases, width int) *matrix {
	return &matrix{values: make([]float64, cases*width), width: width, states: make([]state, cases)}
}

func (m *matrix) row(i int) []float64 { return m.values[i*m.width : (i+1)*m.width] }

// score fills the matrix from the rankings under the given grades, which are
// laid out as p.grades.
func (pl *plan) score(p *prepared, grades []int16, m *matrix) {
	eachBlock(len(p.facts), func(_, from, to int) {
		v := view{counts: make([]counts, len(pl.levels)), log2: pl.log2}
		for i := from; i < to; i++ {
			m.states[i] = pl.scoreCase(p, grades[p.labelStart[i]:p.labelStart[i+1]], i, &v, m.row(i))
		}
	})
}

func (pl *plan) scoreCase(p *prepared, grades []int16, i int, v *view, row []float64) state {
	s := p.facts[i].state
	if s == abstain {
		fillNaN(row)
		return s
	}
	pl.look(p, grades, i, v)
	pl.values(v, row)
	if !pl.keepEmpty && pl.nothingToFind(p, i, v) {
		pl.dropLabels(row)
		return dropped
	}
	if pl.ties.has(i) {
		v.ties = p.ties(i, v.ties[:0])
		pl.ties.measure(pl, v, i, row)
	}
	return s
}

// nothingToFind reports whether the case has no relevant label, or no evidence
// where rankings are spans.
func (pl *plan) nothingToFind(p *prepared, i int, v *view) bool {
	if pl.bySpan {
		return len(p.cases[i].about().Evidence) == 0
	}
	return v.counts[0].relevant == 0
}

// dropLabels takes out the values that rest on labels: those of spans do not.
func (pl *plan) dropLabels(row []float64) {
	for j := range row {
		if !isSpanKind(pl.steps[j].kind) {
			row[j] = math.NaN()
		}
	}
}

func fillNaN(row []float64) {
	for j := range row {
		row[j] = math.NaN()
	}
}

// values computes the first len(row) steps of the case in view.
func (pl *plan) values(v *view, row []float64) {
	for j := range row {
		step := &pl.steps[j]
		if step.cases != nil && !step.cases[v.at] {
			row[j] = math.NaN()
			continue
		}
		row[j] = step.of(step, v)
	}
}

// look fills the view with one case.
func (pl *plan) look(p *prepared, grades []int16, i int, v *view) {
	v.at = i
	v.gains, v.ideal, v.overlaps, v.stale = v.gains[:0], v.ideal[:0], p.overlapsOf(i), p.stale[i]
	for _, at := range p.hits[p.hitStart[i] : p.hitStart[i]+int(p.facts[i].results)] {
		if at == unlabelledHit {
			v.gains = append(v.gains, Unlabelled)
		} else {
			v.gains = append(v.gains, grades[at])
		}
	}
	clear(v.counts)
	for _, g := range grades {
		if g < 0 {
			continue
		}
		if g > 0 {
			v.ideal = append(v.ideal, g)
		}
		for l, level := range pl.levels {
			if g >= level {
				v.counts[l].relevant++
			} else {
				v.counts[l].nonrelevant++
			}
		}
	}
	slices.SortFunc(v.ideal, func(a, b int16) int { return int(b) - int(a) })
}
