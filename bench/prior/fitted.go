package main

import (
	"fmt"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// nested is what the other collections show of the shift variance, each with a
// prior that saw neither it nor the one that is looked at.
type nested struct {
	shift []judge.ShiftVariance
	after []judge.ShiftShare
}

// agreeFitted fits on labels of a third of the queries and compares the variants
// on the others, beside the prior on the same ones. Counts are of all draws of
// labels.
func (l *leftOut) agreeFitted(n nested) ([]agreement, error) {
	var rows []agreement
	for draw := range labelDraws {
		own, rest := l.m.split(draw)
		found, err := l.agreeOn(own, leftOut{m: rest, model: l.model}, n, draw)
		if err != nil {
			return nil, err
		}
		if draw == 0 {
			rows = make([]agreement, len(found))
		}
		for i := range found {
			rows[i].add(found[i])
		}
	}
	return rows, nil
}

// try is a model with its shift variance.
type try struct {
	how   string
	model *judge.LabelModel
	shift []judge.ShiftVariance
	modes []datasets.SourceMode
}

func (l *leftOut) agreeOn(own *material, rest leftOut, n nested, draw int) ([]agreement, error) {
	people, err := rest.verdicts(func(q *pooled) []eval.Label { return rest.humanLabels(q) }, "", 0)
	if err != nil {
		return nil, err
	}
	tries := []try{{"prior", l.model, n.shift, modes()[:1]}}
	for _, labels := range ownSizes()[1:] {
		model, scaled, err := l.fitOwn(own, n, labels, draw)
		if err != nil {
			return nil, err
		}
		tries = append(tries, try{fmt.Sprintf("%d labels", labels), model, scaled, modes()[:1]})
	}
	tries[len(tries)-1].modes = modes()[:2]
	var rows []agreement
	for _, t := range tries {
		p := rest.m.probabilities(t.model)
		for _, mode := range t.modes {
			shift := shiftIn(t.shift, mode)
			labels := func(q *pooled) []eval.Label { return q.uncertain(p[q.id], mode) }
			found, err := rest.verdicts(labels, mode, shift)
			if err != nil {
				return nil, err
			}
			row := compareVerdicts(people, found)
			row.collection, row.how, row.shift = l.m.Name, fmt.Sprintf("%s, source %s", t.how, mode), shift
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// only is the collection with some of its queries.
func (m *material) only(queries []int) *material {
	part := *m
	part.queries, part.Queries, part.rankings = nil, nil, make([][][]string, len(m.rankings))
	for _, q := range queries {
		part.queries, part.Queries = append(part.queries, m.queries[q]), append(part.Queries, m.Queries[q])
		for v := range m.rankings {
			part.rankings[v] = append(part.rankings[v], m.rankings[v][q])
		}
	}
	return &part
}

// fitOwn fits on labels of a part of the collection and re-estimates the shift
// variance by them.
func (l *leftOut) fitOwn(part *material, n nested, labels, draw int) (*judge.LabelModel, []judge.ShiftVariance, error) {
	pairs := part.someLabels(l.model.Features, labels, draw)
	fit := func(pairs []judge.LabelledPair) (*judge.LabelModel, error) { return fitOn(l.model, pairs) }
	model, err := fit(pairs)
	if err != nil {
		return nil, nil, err
	}
	predicted, err := judge.CrossValidate(pairs, seed, fit)
	if err != nil {
		return nil, nil, err
	}
	return model, judge.ScaleShift(n.shift, n.after, part.residuals(predicted), seed), nil
}

// residuals are what predictions got wrong, with the retrievers that have the
// pair among their first ten.
func (m *material) residuals(predicted []judge.Predicted) []judge.Residual {
	members := map[[2]string][]string{}
	for _, q := range m.queries {
		for i, seen := range q.seen {
			for _, name := range judge.Voters() {
				if rank, ok := seen["rank_"+name]; ok && rank <= judgedDepth {
					pair := [2]string{m.Name + " " + q.id, q.ids[i]}
					members[pair] = append(members[pair], name)
				}
			}
		}
	}
	var out []judge.Residual
	for _, p := range predicted {
		r := judge.Residual{Query: p.Query, Value: -p.P, Weight: 1, Members: members[[2]string{p.Query, p.Chunk}]}
		if p.Relevant {
			r.Value++
		}
		out = append(out, r)
	}
	return out
}
