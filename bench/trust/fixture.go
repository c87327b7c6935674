package main

import (
	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
)

// syntheticSet is a golden set of synthetic queries without labels.
type syntheticSet struct {
	kind  string
	cases []datasets.Case
}

// sizes are the numbers of queries that are looked at.
func sizes() []int { return []int{50, 100, 200} }

// setsOf are the sets of both kinds and all sizes up to most. Where there are
// fewer queries than a size, all there are make the set of it, unless most of
// them are in the set before.
func setsOf(lines []study.Written, most int) []syntheticSet {
	var out []syntheticSet
	for _, kind := range study.Kinds() {
		kept, before := study.Kept(lines, kind), 0
		for _, n := range sizes() {
			if n > most || len(kept) == 0 || before > 0 && len(kept) <= before+(n-before)/2 {
				break
			}
			n = min(n, len(kept))
			out, before = append(out, syntheticSet{kind, study.Cases(kept[:n])}), n
		}
	}
	return out
}
