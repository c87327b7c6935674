package eval_test

import (
	"fmt"
	"testing"

	"github.com/goldgen/goldgen/eval"
)

// BenchmarkCompare: 10 measures, 6 dimensions of 90 slices together.
func BenchmarkCompare(b *testing.B) {
	for _, size := range []struct {
		queries int
		draws   bool
	}{{500, false}, {500, true}, {10_000, false}, {100_000, false}, {100_000, true}} {
		base, candidate := generated(size.queries, 10, size.draws), generated(size.queries, 10, size.draws)
		for i := range candidate.Cases {
			c := &candidate.Cases[i]
			for r := range len(c.Ranking) / 2 { // the lower half comes first
				c.Ranking[r], c.Ranking[r+5] = c.Ranking[r+5], c.Ranking[r]
			}
			c.Scores = nil
		}
		in := eval.CompareInput{Base: base, Candidate: candidate, Seed: 1}
		b.Run(fmt.Sprintf("cases=%d/draws=%v", size.queries, size.draws), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compare(b, in)
			}
		})
	}
}
