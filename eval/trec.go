package eval

import (
	"cmp"
	"iter"
	"sort"
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

// TRECOrder sorts a ranking in place as trec_eval does: score descending, then
// id descending by bytes. The two have the same length.
func TRECOrder(ids []string, scores []float64) {
	sort.Sort(trecOrder{ids, scores})
}

type trecOrder struct {
	ids    []string
	scores []float64
}

func (o trecOrder) Len() int { return len(o.ids) }

func (o trecOrder) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(o.scores[j], o.scores[i]), cmp.Compare(o.ids[j], o.ids[i])) < 0
}

func (o trecOrder) Swap(i, j int) {
	o.ids[i], o.ids[j] = o.ids[j], o.ids[i]
	o.scores[i], o.scores[j] = o.scores[j], o.scores[i]
}
