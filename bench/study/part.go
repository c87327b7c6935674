package study

import (
	"fmt"

	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// Pairs are the labelled pairs of goldgen's own pools, under the given features.
func (m *Material) Pairs(features []string) []judge.LabelledPair {
	var pairs []judge.LabelledPair
	for _, q := range m.pools {
		x := judge.Vectors(features, q.seen[:q.plain])
		for i := range x {
			pairs = append(pairs, judge.LabelledPair{
				Query: m.Name + " " + q.id, Chunk: q.ids[i], X: x[i], Relevant: q.relevant[i], Weight: 1,
			})
		}
	}
	return pairs
}

// only is the collection with some of its queries.
func (m *Material) only(queries []int) *Material {
	part := *m
	part.pools, part.Queries, part.rankings = nil, nil, make([][][]string, len(m.rankings))
	for _, q := range queries {
		part.pools, part.Queries = append(part.pools, m.pools[q]), append(part.Queries, m.Queries[q])
		for v := range m.rankings {
			part.rankings[v] = append(part.rankings[v], m.rankings[v][q])
		}
	}
	return &part
}

// Split is a third of the queries, for labels, and the others.
func (m *Material) Split(draw int) (own, rest *Material) {
	order := seeded.Rand(Seed, "own queries", fmt.Sprint(m.Name, draw)).Perm(len(m.pools))
	third := len(order) / 3
	return m.only(order[:third]), m.only(order[third:])
}

// Drawn draws n of a collection's pairs; as the numbers grow, those of the smaller
// one stay.
func Drawn[T any](m *Material, pairs []T, n, draw int) []T {
	var drawn []T
	for _, i := range seeded.Rand(Seed, "own pairs", fmt.Sprint(m.Name, draw)).Perm(len(pairs))[:min(n, len(pairs))] {
		drawn = append(drawn, pairs[i])
	}
	return drawn
}
