package main

import (
	"fmt"

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
	for _, kind := range []string{study.OneADocument, study.ThreeADocument} {
		kept, before := study.Kept(lines, kind), 0
		for _, n := range sizes() {
			if n > most || len(kept) == 0 || before > 0 && len(kept) <= before+(n-before)/2 {
				break
			}
			n = min(n, len(kept))
			out, before = append(out, syntheticSet{kind, casesOf(kept[:n])}), n
		}
	}
	return out
}

// casesOf makes cases as goldgen does before anybody judges them: the document is
// the only chunk of itself.
func casesOf(lines []study.Written) []datasets.Case {
	cases := make([]datasets.Case, len(lines))
	for i, l := range lines {
		cases[i] = datasets.Case{
			ID: fmt.Sprintf("%s-%d", l.Document, l.Place), Query: l.Query, QueryType: l.Type,
			Origin: datasets.OriginSynthetic, Status: datasets.Active, Source: []string{l.Document}, Evidence: l.Evidence,
			Judgments: []datasets.Judgment{datasets.SourceJudgment(l.Document, l.Document)},
		}
	}
	return cases
}
