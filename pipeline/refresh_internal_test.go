package pipeline

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/sample"
)

// drawBalance is a set of some cases beside a plan of some rows, over three strata and
// three types.
func drawBalance(t *rapid.T) (b *balance, order []cell, left map[cell]int, may []casePlace) {
	count := rapid.IntRange(0, 12)
	left = map[cell]int{}
	var rows []sample.Row
	for s := range 3 {
		for q := range 3 {
			c := cell{fmt.Sprint("s", s), fmt.Sprint("t", q)}
			order, left[c] = append(order, c), count.Draw(t, "rows left")
			for range count.Draw(t, "planned") {
				rows = append(rows, sample.Row{Stratum: c.stratum, QueryType: c.queryType})
			}
		}
	}
	g := GoldenConfig{SizeWithin: rapid.Float64Range(0, 1).Draw(t, "size"), MixWithin: rapid.Float64Range(0, 1).Draw(t, "mix")}
	b = newBalance(rows, g)
	for _, c := range order {
		b.margins(c)
		for i := range count.Draw(t, "there") {
			b.add(c, 1)
			may = append(may, casePlace{id: fmt.Sprint(c, i), cell: c, planned: i%2 == 0})
		}
	}
	return b, order, left, may
}

// TestFilledSetIsWithinItsSize holds what filling and retiring promise: no cell gives
// rows that it does not have, no set that was within its size leaves it, and none that
// had as many cases as planned has fewer.
func TestFilledSetIsWithinItsSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, order, left, may := drawBalance(t)
		before := b.size.have
		need := b.fill(order, left)
		added := 0
		for c, n := range need {
			added += n
			if n > left[c] {
				t.Fatalf("%v: %d of %d rows", c, n, left[c])
			}
		}
		if b.size.have != before+added || added > 0 && b.size.have > b.most() {
			t.Fatalf("%d cases and %d added are %d, at most %d", before, added, b.size.have, b.most())
		}
		filled := b.size.have
		inOrder(may)
		gone := b.surplus(may)
		if b.size.have != filled-len(gone) || b.size.have > b.most() {
			t.Fatalf("%d of %d retired leaves %d, at most %d", len(gone), filled, b.size.have, b.most())
		}
		if b.size.have < min(filled, b.size.want) {
			t.Fatalf("%d of %d retired leaves %d, planned are %d", len(gone), filled, b.size.have, b.size.want)
		}
	})
}

func TestGrownSetIsWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, order, left, _ := drawBalance(t)
		before, need := b.size.have, map[cell]int{}
		b.grow(order, left, need)
		added := 0
		for c, n := range need {
			added += n
			if n > left[c] || n > 0 && b.size.have > b.most() {
				t.Fatalf("%v: %d of %d rows makes %d cases, at most %d", c, n, left[c], b.size.have, b.most())
			}
		}
		if b.size.have != before+added {
			t.Fatalf("%d cases and %d added are %d", before, added, b.size.have)
		}
		// Nothing is left out that would still have fitted.
		for _, c := range order {
			if left[c] <= need[c] || b.size.have >= b.most() {
				continue
			}
			if b.add(c, 1); !b.anyOf(c, b.over) {
				t.Fatalf("%v: one more of %d would have been within its bounds", c, left[c])
			}
			b.add(c, -1)
		}
	})
}
