package eval

import (
	"math"
	"slices"
)

// tie is a run of results with the same score: indexes [from, to) into the
// view's gains.
type tie struct{ from, to int }

// tieMoves says how far reordering equal scores can move the values of the
// first steps of a plan: for each case with a tie the least, the greatest and
// the expected value over all orders, less the value under the order given.
// NaN stands for what is not known.
type tieMoves struct {
	steps int
	row   []int32 // by case; -1 for one without a tie
	moves []float64
}

// newTieMoves makes room for the cases with a tie; nil where there is none.
func newTieMoves(p *prepared, steps int) *tieMoves {
	t := &tieMoves{steps: steps, row: make([]int32, len(p.facts))}
	rows := 0
	for i := range p.facts {
		t.row[i] = -1
		if p.facts[i].tied && p.facts[i].state != abstain {
			t.row[i] = int32(rows)
			rows++
		}
	}
	if rows == 0 {
		return nil
	}
	t.moves = make([]float64, rows*steps*3)
	return t
}

func (t *tieMoves) has(i int) bool { return t != nil && t.row[i] >= 0 }

// of returns the moves of case i, by step.
func (t *tieMoves) of(i int) (least, most, expected []float64) {
	from, n := int(t.row[i])*t.steps*3, t.steps
	m := t.moves[from : from+3*n]
	return m[:n], m[n : 2*n], m[2*n:]
}

// measure fills in the moves of case i, whose values under the order given
// are known. Worst first and best first are the extremes of every measure that
// loses nothing when a better result changes places with a worse one right
// above it; which do not is in unbounded.
func (t *tieMoves) measure(pl *plan, v *view, i int, values []float64) {
	least, most, expected := t.of(i)
	clear(least)
	clear(most)
	clear(expected)
	if !v.tiesMatter() {
		return
	}
	for j := range expected {
		expected[j] = expectation(&pl.steps[j], v) - values[j]
	}
	v.given = append(v.given[:0], v.gains...)
	v.moved = slices.Grow(v.moved[:0], t.steps)[:t.steps]
	for _, descending := range []bool{false, true} {
		v.orderTies(descending)
		pl.values(v, v.moved)
		for j, x := range v.moved {
			least[j], most[j] = min(least[j], x-values[j]), max(most[j], x-values[j])
		}
	}
	v.gains = append(v.gains[:0], v.given...)
	for j := range least {
		t.settle(pl.steps[j].Measure.unbounded(), values[j], &least[j], &most[j], &expected[j])
	}
}

// settle says what is not known, and keeps rounding from leaving the bounds.
func (t *tieMoves) settle(unbounded bool, value float64, least, most, expected *float64) {
	switch {
	case value != value:
		*least, *most, *expected = 0, 0, 0
	case unbounded:
		*least, *most, *expected = math.NaN(), math.NaN(), math.NaN()
	case *least == *most:
		*expected = 0
	default:
		*expected = min(max(*expected, *least), *most)
	}
}

// unbounded reports whether the order of a tie's results by grade is not the
// extreme: infAP, where labels without a grade help behind relevant ones, and
// G, whose discount depends on the grades above.
func (m *Measure) unbounded() bool { return m.kind == infAP || m.kind == gain }

// tiesMatter reports whether results with the same score have different
// labels.
func (v *view) tiesMatter() bool {
	return slices.ContainsFunc(v.ties, func(t tie) bool {
		for _, g := range v.gains[t.from+1 : t.to] {
			if g != v.gains[t.from] {
				return true
			}
		}
		return false
	})
}

// orderTies sorts the gains of every tie.
func (v *view) orderTies(descending bool) {
	for _, t := range v.ties {
		slices.Sort(v.gains[t.from:t.to])
		if descending {
			slices.Reverse(v.gains[t.from:t.to])
		}
	}
}

// ties lists the runs of equal scores of case i.
func (p *prepared) ties(i int, out []tie) []tie {
	from, results := 0, int(p.facts[i].results)
	for n := range results {
		if p.tiedWithNext(i, n) {
			continue
		}
		if n > from {
			out = append(out, tie{from, n + 1})
		}
		from = n + 1
	}
	return out
}

// tiedWithNext reports whether kept results n and n+1 of case i have the same
// score.
func (p *prepared) tiedWithNext(i, n int) bool {
	scores, f := p.cases[i].Scores, &p.facts[i]
	if scores == nil || n < 0 || n+1 >= int(f.results) {
		return false
	}
	return scores[p.position(i, n)] == scores[p.position(i, n+1)]
}

// tieMean is a group's mean of moves in one draw of the labels.
type tieMean struct{ least, most, expected float64 }

// addTies adds the means of one draw, whose moments are given.
func (g *group) addTies(t *tieMoves, m *matrix, drawn []moments) {
	if t == nil {
		return
	}
	if g.ties == nil {
		g.ties = make([][]tieMean, t.steps)
	}
	sums := make([]tieMean, t.steps)
	for _, i := range g.cases {
		if t.has(int(i)) && m.states[i] != dropped {
			t.add(sums, int(i))
		}
	}
	for j, s := range sums {
		if n := float64(drawn[j].n); n > 0 {
			g.ties[j] = append(g.ties[j], tieMean{s.least / n, s.most / n, s.expected / n})
		}
	}
}

func (t *tieMoves) add(sums []tieMean, i int) {
	least, most, expected := t.of(i)
	for j := range sums {
		sums[j].least += least[j]
		sums[j].most += most[j]
		sums[j].expected += expected[j]
	}
}

// addTieBounds writes what ties can do to the mean of step j.
func (s *scores) addTieBounds(to *Metric, g *group, j int) {
	if to.Mean == nil || !s.everyScore {
		return
	}
	m := &s.in.Measures[j]
	var move tieMean
	if g.ties != nil {
		move = meanMove(g.ties[j])
		to.TiedAtCut = s.tiedAtCut(g, j)
	}
	if isSpanKind(m.kind) && to.TiedAtCut > 0 {
		return // a union of spans has no order that is the extreme
	}
	to.Least, to.Most, to.Expected = moved(m, *to.Mean, move.least), moved(m, *to.Mean, move.most), moved(m, *to.Mean, move.expected)
	if m.aggregate() == geometric && (move.least != 0 || move.most != 0) {
		to.Expected = nil
	}
}

func meanMove(draws []tieMean) tieMean {
	var out tieMean
	n := float64(len(draws))
	for _, d := range draws {
		out.least += d.least / n
		out.most += d.most / n
		out.expected += d.expected / n
	}
	return out
}

// moved is a mean after a move of its values' mean; nil for one not known.
func moved(m *Measure, mean, by float64) *float64 {
	switch {
	case by != by:
		return nil
	case by == 0:
		return &mean
	case m.aggregate() == geometric:
		return ptr(mean * math.Exp(by))
	}
	return ptr(mean + by)
}

// tiedAtCut counts the cases with a value for step j whose cut stands between
// two results of the same score.
func (s *scores) tiedAtCut(g *group, j int) int {
	n, k := 0, s.in.Measures[j].k
	if k == 0 {
		return 0
	}
	for _, i := range g.cases {
		v := s.values.row(int(i))[j]
		if v == v && s.ties.has(int(i)) && s.prepared.tiedWithNext(int(i), k-1) {
			n++
		}
	}
	return n
}

// hasEveryScore reports whether no result is without a score.
func hasEveryScore(cases []Case) bool {
	return !slices.ContainsFunc(cases, func(c Case) bool { return !c.Abstain && len(c.Ranking) > 0 && c.Scores == nil })
}
