package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/retrieve"
)

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
	byMeaning := retrieve.KindLSA
	if b.hasVectors {
		byMeaning = retrieve.KindDense
	}
	for _, name := range []string{retrieve.KindBM25, byMeaning} {
		if d.Retrievers[name], _, err = b.retriever(ctx, name); err != nil {
			return nil, nothing, errors.Join(fmt.Errorf("generate.difficulty: %w", err), b.Close())
		}
	}
	return d, b.Close, nil
}
