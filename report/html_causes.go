package report

import (
	"cmp"
	"fmt"
	"slices"
)

// causeRows makes bars of counts, the most frequent first where the order is
// not a meaning of its own.
func causeRows(order []string, counts map[string]int, byCount bool) []causeRow {
	total, most := 0, 0
	for _, n := range counts {
		total, most = total+n, max(most, n)
	}
	var rows []causeRow
	for _, name := range order {
		n := counts[name]
		if n == 0 {
			continue
		}
		rows = append(rows, causeRow{
			Name: Escape(name), Count: n,
			Width: place(100 * float64(n) / float64(most)), Share: fmt.Sprintf("%.0f %%", 100*float64(n)/float64(total)),
		})
	}
	if byCount {
		slices.SortStableFunc(rows, func(x, y causeRow) int { return cmp.Compare(y.Count, x.Count) })
	}
	return rows
}
