package eval

import (
	"cmp"
	"slices"
)

// SortTREC orders hits as trec_eval does: score descending, then id
// descending by bytes.
func SortTREC(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
	})
}
