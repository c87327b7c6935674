package pipeline

import (
	"cmp"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// cell is a stratum's cases of one query type.
type cell struct{ stratum, queryType string }

// loggedCell stands for the query type of logged queries, which a plan does not
// know yet.
const loggedCell = datasets.OriginLog

func cellOfRow(row *sample.Row) cell {
	if row.Origin == datasets.OriginLog {
		return cell{row.Stratum, loggedCell}
	}
	return cell{row.Stratum, row.QueryType}
}

// margin counts the cases of a stratum, or of a query type.
type margin struct{ want, have int }

// balance holds a set against the plan over its corpus: by stratum and by type.
type balance struct {
	size    margin
	strata  map[string]*margin
	types   map[string]*margin
	sizeTol float64 // share by which the set may be larger than its plan
	mixTol  float64 // by which the share of a stratum or type may differ
}

func newBalance(rows []sample.Row, g GoldenConfig) *balance {
	b := &balance{strata: map[string]*margin{}, types: map[string]*margin{}, sizeTol: g.SizeWithin, mixTol: g.MixWithin}
	for i := range rows {
		if !rows[i].Reserve {
			for _, m := range b.margins(cellOfRow(&rows[i])) {
				m.want++
			}
		}
	}
	return b
}

// margins are what a case of the cell counts in.
func (b *balance) margins(c cell) []*margin {
	if b.strata[c.stratum] == nil {
		b.strata[c.stratum] = &margin{}
	}
	if b.types[c.queryType] == nil {
		b.types[c.queryType] = &margin{}
	}
	return []*margin{&b.size, b.strata[c.stratum], b.types[c.queryType]}
}

// add counts n cases of a cell, or takes them off.
func (b *balance) add(c cell, n int) {
	for _, m := range b.margins(c) {
		m.have += n
	}
}

// most is the largest size that the set may have.
func (b *balance) most() int { return b.size.want + int(float64(b.sizeTol*float64(b.size.want))) }

// lacks is how many cases the stratum and the type of a cell are short of together.
func (b *balance) lacks(c cell) int {
	return max(0, b.strata[c.stratum].want-b.strata[c.stratum].have) + max(0, b.types[c.queryType].want-b.types[c.queryType].have)
}

// exceeds is how many they have beyond the plan.
func (b *balance) exceeds(c cell) int {
	return max(0, b.strata[c.stratum].have-b.strata[c.stratum].want) + max(0, b.types[c.queryType].have-b.types[c.queryType].want)
}

// apart is how many cases a stratum or type has beyond its share by the plan.
func (b *balance) apart(m *margin) float64 {
	return float64(m.have) - float64(m.want)*float64(b.size.have)/float64(max(1, b.size.want))
}

// bound is how many cases a stratum or type may be apart: one always, as cases are
// whole.
func (b *balance) bound() float64 { return max(1, float64(b.mixTol*float64(b.size.have))) }

// under reports a stratum or type below its bounds; one that has no case at all is.
func (b *balance) under(m *margin) bool {
	return m.want > m.have && (m.have == 0 || b.apart(m) < -b.bound())
}

func (b *balance) over(m *margin) bool { return m.have > m.want && b.apart(m) > b.bound() }

func (b *balance) anyOf(c cell, is func(*margin) bool) bool {
	return is(b.strata[c.stratum]) || is(b.types[c.queryType])
}

// fill says how many cases of each cell to write: as many as the set lacks, each
// where strata and types lack most, and then what brings those that are below their
// bounds into them, as far as the set may grow. left is how many rows a cell has.
func (b *balance) fill(order []cell, left map[cell]int) map[cell]int {
	out := map[cell]int{}
	for b.size.have < b.most() {
		wanted := func(c cell) bool { return b.size.have < b.size.want || b.anyOf(c, b.under) }
		best := cell{}
		for _, c := range order {
			if left[c] > out[c] && b.lacks(c) > 0 && wanted(c) && (best == cell{} || b.lacks(c) > b.lacks(best)) {
				best = c
			}
		}
		if best == (cell{}) {
			break
		}
		out[best]++
		b.add(best, 1)
	}
	return out
}

// grow adds to what is needed what is new besides, in each cell in turn, as far as the
// set and the shares of its strata and types stay within their bounds. left is how
// many new rows a cell has, those that are needed among them.
func (b *balance) grow(order []cell, left, need map[cell]int) {
	for grown := true; grown; {
		grown = false
		for _, c := range order {
			if left[c] <= need[c] || b.size.have >= b.most() {
				continue
			}
			b.add(c, 1)
			if b.anyOf(c, b.over) {
				b.add(c, -1)
				continue
			}
			need[c]++
			grown = true
		}
	}
}

// surplus picks cases to retire: while the set is larger than it may be, and then
// while a stratum or type is above its bounds and the set is larger than its plan:
// what it has is worth more than its mix. Each is of where most are too many.
// may holds the cases that can go, in the order in which they go.
func (b *balance) surplus(may []casePlace) []string {
	var out []string
	for {
		wanted := func(c cell) bool {
			return b.size.have > b.most() || b.size.have > b.size.want && b.anyOf(c, b.over)
		}
		best := -1
		for i := range may {
			if c := may[i].cell; b.exceeds(c) > 0 && wanted(c) && (best < 0 || b.exceeds(c) > b.exceeds(may[best].cell)) {
				best = i
			}
		}
		if best < 0 {
			return out
		}
		b.add(may[best].cell, -1)
		out, may = append(out, may[best].id), slices.Delete(may, best, best+1)
	}
}

// casePlace is a case and where it counts.
type casePlace struct {
	id      string
	cell    cell
	planned bool // the plan over the present corpus has it
}

// inOrder puts cases that the plan has no more first.
func inOrder(places []casePlace) {
	slices.SortFunc(places, func(x, y casePlace) int {
		if x.planned != y.planned {
			if y.planned {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.id, y.id)
	})
}
