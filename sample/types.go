package sample

import (
	"cmp"
	"slices"
)

// group is a chunk's rows: how many it has among the main rows or the reserves,
// and which types it has been given.
type group struct {
	entry
	uses  int // types still to be given
	given []bool
	free  int // types not given
}

// typedPick is a pick with its type, an index of draw.types.
type typedPick struct {
	pick
	kind    int
	reserve bool
}

// assignTypes gives every pick a query type: over the main rows the mix is exact
// by largest remainder and spread over the strata, and the reserves of a stratum
// follow its main rows. A chunk never has one type twice. Only where chunks must
// be repeated so often that the mix cannot hold do the types that are left take
// its place.
func (d *drawing) assignTypes() {
	targets := d.mainTargets()
	for i, q := range d.quotas {
		q.groups = map[uint32]*group{}
		q.assign(q.main, targets[i], false, d)
	}
	for i, q := range d.quotas {
		if len(q.reserves) > 0 {
			q.assign(q.reserves, reserveTargets(len(q.reserves), targets[i]), true, d)
		}
	}
}

// mainTargets gives the main rows by stratum and type: rows sum to the
// stratum's, columns to the mix, each cell near the product and at most the
// stratum's chunks.
func (d *drawing) mainTargets() [][]int {
	rows, total := make([]int, len(d.quotas)), 0
	for i, q := range d.quotas {
		rows[i] = len(q.main)
		total += rows[i]
	}
	columns := allocate(total, d.mix, make([]int, len(d.mix)), fillInts(len(d.mix), total))
	cells := make([]cell, 0, len(rows)*len(columns))
	targets := make([][]int, len(rows))
	for i, q := range d.quotas {
		targets[i] = make([]int, len(columns))
		limit := distinct(q.main)
		for k, share := range d.mix {
			exact := float64(float64(rows[i]) * share)
			targets[i][k] = min(int(exact+1e-9), limit, rows[i])
			cells = append(cells, cell{i, k, exact - float64(targets[i][k]), limit})
		}
	}
	round(targets, cells, rows, columns)
	return targets
}

// cell is one (stratum, type) and what its target lacks of the exact share.
type cell struct {
	row, column int
	lacks       float64
	limit       int
}

// round raises the targets, where most is lacking first, until each row has its
// sum, and moves units within rows until each column has its own.
func round(targets [][]int, cells []cell, rows, columns []int) {
	rowRest, columnRest := slices.Clone(rows), slices.Clone(columns)
	for i := range targets {
		for k, n := range targets[i] {
			rowRest[i] -= n
			columnRest[k] -= n
		}
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return -cmp.Compare(a.lacks, b.lacks) })
	raise := func(needColumn bool) bool {
		moved := false
		for _, c := range cells {
			open := rowRest[c.row] > 0 && targets[c.row][c.column] < c.limit
			if open && (!needColumn || columnRest[c.column] > 0) {
				targets[c.row][c.column]++
				rowRest[c.row]--
				columnRest[c.column]--
				moved = true
			}
		}
		return moved
	}
	for raise(true) {
	}
	for raise(false) {
	}
	for level(targets, cells, columnRest) {
	}
}

// level moves one unit within a row from a column with too many to one with too
// few; false when no move is left.
func level(targets [][]int, cells []cell, columnRest []int) bool {
	for _, to := range cells {
		if columnRest[to.column] <= 0 || targets[to.row][to.column] >= to.limit {
			continue
		}
		for from, rest := range columnRest {
			if rest < 0 && targets[to.row][from] > 0 {
				targets[to.row][from]--
				targets[to.row][to.column]++
				columnRest[from]++
				columnRest[to.column]--
				return true
			}
		}
	}
	return false
}

// reserveTargets divides n reserves by a stratum's main rows of each type, one
// at least for each type that has any.
func reserveTargets(n int, main []int) []int {
	weights, low := make([]float64, len(main)), make([]int, len(main))
	left := n
	for k, m := range main {
		weights[k] = float64(m)
		if m > 0 && left > 0 {
			low[k] = 1
			left--
		}
	}
	return allocate(n, weights, low, fillInts(len(main), n))
}

// assign gives types to the picks so that they meet the targets: chunks with the
// least choice first, the rest in the order of the draw, each the type that its
// own number prefers while the target has room.
func (q *quota) assign(picks []pick, targets []int, reserve bool, d *drawing) {
	left := slices.Clone(targets)
	kinds := map[uint32][]int{}
	for _, g := range q.group(picks, len(d.types)) {
		for ; g.uses > 0; g.uses-- {
			k := g.choose(left, d.preferred(g.priority))
			left[k]--
			g.given[k] = true
			g.free--
			kinds[g.row] = append(kinds[g.row], k)
		}
		slices.Sort(kinds[g.row])
	}
	for _, p := range picks {
		k := kinds[p.row][0]
		kinds[p.row] = kinds[p.row][1:]
		q.typed = append(q.typed, typedPick{p, k, reserve})
	}
}

// group counts the uses of each chunk in picks and puts those with the least
// choice first.
func (q *quota) group(picks []pick, types int) []*group {
	var groups []*group
	for _, p := range picks {
		g := q.groups[p.row]
		if g == nil {
			g = &group{entry: p.entry, given: make([]bool, types), free: types}
			q.groups[p.row] = g
		}
		if g.uses == 0 {
			groups = append(groups, g)
		}
		g.uses++
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(a.free-a.uses, b.free-b.uses) })
	return groups
}

// choose gives a type that the chunk does not have: the preferred one while its
// target has room and the chunk needs no other, else the one with most room.
func (g *group) choose(left []int, preferred int) int {
	if g.uses == 1 && left[preferred] > 0 && !g.given[preferred] {
		return preferred
	}
	best := -1
	for k := range left {
		if !g.given[k] && (best < 0 || left[k] > left[best]) {
			best = k
		}
	}
	return best
}

// distinct counts the chunks of picks.
func distinct(picks []pick) int {
	rows := make(map[uint32]bool, len(picks))
	for _, p := range picks {
		rows[p.row] = true
	}
	return len(rows)
}

func fillInts(n, value int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = value
	}
	return out
}
