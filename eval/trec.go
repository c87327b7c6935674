package eval

import (
	"cmp"
	"iter"
	"slices"
)

// Qrel is one line of a qrels file.
type Qrel struct {
	QueryID string
	ID      string
	Grade   int // negative: in the pool and not judged
}

// FromQrels makes a case of every query that the qrels judge, in the order of
// their first line; rankings are left empty. An error of the sequence ends it.
func FromQrels(qrels iter.Seq2[Qrel, error]) ([]Case, error) {
	var cases []Case
	at := map[string]int{}
	for q, err := range qrels {
		if err != nil {
			return nil, err
		}
		i, ok := at[q.QueryID]
		if !ok {
			i = len(cases)
			at[q.QueryID] = i
			cases = append(cases, Case{ID: q.QueryID})
		}
		cases[i].Labels = append(cases[i].Labels, Label{ID: q.ID, Grade: max(q.Grade, Unknown)})
	}
	return cases, nil
}

// SortTREC orders hits as trec_eval does: score descending, then id
// descending by bytes.
func SortTREC(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
	})
}
