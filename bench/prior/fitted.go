package main

import (
	"fmt"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// ownLabels is how many pairs of the collection's own are labelled; they are of
// a third of its queries, which no comparison then looks at.
const ownLabels = 200

// agreeFitted fits on labels of a third of the queries and compares the variants
// on the others, beside the prior on the same ones.
func (l *leftOut) agreeFitted(shift []judge.ShiftVariance) ([]agreement, error) {
	order := seeded.Rand(seed, "own queries", l.m.Name).Perm(len(l.m.queries))
	third := len(order) / 3
	model, scaled, err := l.fitOwn(l.m.only(order[:third]), shift)
	if err != nil {
		return nil, err
	}
	rest := leftOut{m: l.m.only(order[third:]), model: l.model}
	people, err := rest.verdicts(func(q *pooled) []eval.Label { return rest.humanLabels(q) }, "", 0)
	if err != nil {
		return nil, err
	}
	var rows []agreement
	for _, try := range []struct {
		how   string
		model *judge.LabelModel
		shift []judge.ShiftVariance
		mode  datasets.SourceMode
	}{
		{"prior", l.model, shift, datasets.SourceIn},
		{"fitted", model, scaled, datasets.SourceIn},
		{"fitted", model, scaled, datasets.SourceJudged},
	} {
		p := rest.m.probabilities(try.model)
		labels := func(q *pooled) []eval.Label { return q.uncertain(p[q.id], try.mode) }
		found, err := rest.verdicts(labels, try.mode, shiftIn(try.shift, try.mode))
		if err != nil {
			return nil, err
		}
		row := compareVerdicts(people, found)
		row.collection, row.how = l.m.Name, fmt.Sprintf("%s, source %s", try.how, try.mode)
		rows = append(rows, row)
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
func (l *leftOut) fitOwn(part *material, shift []judge.ShiftVariance) (*judge.LabelModel, []judge.ShiftVariance, error) {
	all := part.pairs(l.model.Features)
	var pairs []judge.LabelledPair
	for _, i := range seeded.Rand(seed, "own pairs", l.m.Name).Perm(len(all))[:min(ownLabels, len(all))] {
		pairs = append(pairs, all[i])
	}
	fit := func(pairs []judge.LabelledPair) (*judge.LabelModel, error) {
		return judge.FitOwn(l.model, pairs, judge.OwnOptions{Features: l.model.Features, Seed: seed})
	}
	model, err := fit(pairs)
	if err != nil {
		return nil, nil, err
	}
	predicted, err := judge.CrossValidate(pairs, seed, fit)
	if err != nil {
		return nil, nil, err
	}
	return model, judge.ScaleShift(shift, part.residuals(predicted), seed), nil
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
