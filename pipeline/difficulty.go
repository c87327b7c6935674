package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/retrieve"
)

// byMeaning names the retriever by vectors that the bench has: lsa stands in for
// dense.
func (b *bench) byMeaning() string {
	if b.hasVectors {
		return retrieve.KindDense
	}
	return retrieve.KindLSA
}

// openDifficulty opens what measures the difficulty of queries where shares of it
// are declared: bm25, and dense where the snapshot has vectors, else lsa, as judging
// pools them. A dry run has no queries to measure.
func (p *Project) openDifficulty(ctx context.Context, s *corpus.Snapshot, v *view) (*generate.Difficulty, func() error, error) {
	nothing := func() error { return nil }
	if len(p.Config.Generate.Difficulty) == 0 || p.DryRun {
		return nil, nothing, nil
	}
	b, err := p.benchOver(ctx, s, v, p.mayExec())
	if err != nil {
		return nil, nothing, err
	}
	d := &generate.Difficulty{Shares: p.Config.Generate.Difficulty, Retrievers: map[string]retrieve.Retriever{}}
	for _, name := range []string{retrieve.KindBM25, b.byMeaning()} {
		if d.Retrievers[name], _, err = b.retriever(ctx, name); err != nil {
			return nil, nothing, errors.Join(fmt.Errorf("generate.difficulty: %w", err), b.Close())
		}
	}
	return d, b.Close, nil
}
