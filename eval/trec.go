package eval

import (
	"errors"
	"fmt"

	"github.com/goldgen/goldgen/datasets"
)

// FromQrels makes a case of every topic that the qrels judge, in their order.
// Rankings are left empty. A negative grade is Unknown: in the pool, and not
// judged.
func FromQrels(qrels *datasets.Qrels) []Case {
	cases := make([]Case, len(qrels.Topics))
	labels := make([]Label, 0, qrels.Rows)
	for i := range qrels.Topics {
		t := &qrels.Topics[i]
		first := len(labels)
		labels = appendLabels(labels, t)
		cases[i] = Case{ID: t.ID, Labels: labels[first:len(labels):len(labels)]}
	}
	return cases
}

func appendLabels(labels []Label, t *datasets.TopicQrels) []Label {
	for _, j := range t.Rows {
		labels = append(labels, Label{ID: j.ChunkID, Grade: max(int(j.Grade), Unknown)})
	}
	return labels
}

// labels are those of case i; the slice may be buffer's.
func (in *Input) labels(i int, buffer []Label) []Label {
	if in.Topics == nil {
		return in.Cases[i].Labels
	}
	return appendLabels(buffer[:0], &in.Topics.Qrels.Topics[i])
}

// labelCount is how many labels case i has.
func (in *Input) labelCount(i int) int {
	if in.Topics == nil {
		return len(in.Cases[i].Labels)
	}
	return len(in.Topics.Qrels.Topics[i].Rows)
}

// ranking is that of case i; the slice may be buffer's.
func (in *Input) ranking(i int, buffer []string) []string {
	switch {
	case in.Topics == nil:
		return in.Cases[i].Ranking
	case len(in.Cases[i].Scores) == 0:
		return buffer[:0]
	}
	return in.Topics.Ranking(i, buffer[:0])
}

// returned is how many results case i has, repeated ones included.
func (in *Input) returned(i int) int {
	if in.Topics == nil {
		return len(in.Cases[i].Ranking)
	}
	return len(in.Cases[i].Scores)
}

// checkTopics reports cases that do not fit the topics.
func (in *Input) checkTopics() error {
	if in.Topics == nil {
		return nil
	}
	if in.Restricted != nil || in.Outdated != nil || in.Violated != nil {
		return errors.New("topics: nothing is known of their chunks")
	}
	if n := len(in.Topics.Qrels.Topics); n != len(in.Cases) {
		return fmt.Errorf("topics: qrels of %d for %d cases", n, len(in.Cases))
	}
	for i := range in.Cases {
		if c := &in.Cases[i]; len(c.Labels) > 0 || len(c.Ranking) > 0 || c.Background != nil {
			return fmt.Errorf("case %s: labels, ranking or background beside those of topics", c.ID)
		}
	}
	return nil
}
