package eval

import "github.com/goldgen/goldgen/datasets"

// FromQrels makes a case of every topic that the qrels judge, in their order.
// Rankings are left empty. A negative grade is Unknown: in the pool, and not
// judged.
func FromQrels(qrels *datasets.Qrels) []Case {
	cases := make([]Case, len(qrels.Topics))
	labels := make([]Label, 0, qrels.Rows)
	for i := range qrels.Topics {
		t := &qrels.Topics[i]
		first := len(labels)
		for _, j := range t.Rows {
			labels = append(labels, Label{ID: j.ChunkID, Grade: max(int(j.Grade), Unknown)})
		}
		cases[i] = Case{ID: t.ID, Labels: labels[first:len(labels):len(labels)]}
	}
	return cases
}
