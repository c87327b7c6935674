package generate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/sample"
)

// Difficulty steers a run towards shares of difficulty. It looks at the queries
// that are written anyway, and at further reserves where a band is short; no query
// is written another way for it.
type Difficulty struct {
	Shares     map[string]float64            // band -> share of the cases; sums to 1
	Retrievers map[string]retrieve.Retriever // bm25, and dense or lsa: where they put the sources
}

// CheckDifficulty names a share that is of no band or no share, and shares that do
// not sum to 1.
func CheckDifficulty(key string, shares map[string]float64) error {
	return sample.CheckShares(key, "unknown band", shares, datasets.Bands())
}

// Validate names what cannot be.
func (d *Difficulty) Validate() error {
	if d == nil {
		return nil
	}
	if len(d.Retrievers) == 0 {
		return errors.New("generate: difficulty: no retriever to measure it by")
	}
	return CheckDifficulty("generate: difficulty", d.Shares)
}

// measure ranks the sources of all accepted cases.
func (d *Difficulty) measure(ctx context.Context, outcomes []Outcome, atOnce int) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range outcomes {
		if outcomes[i].Case != nil && len(outcomes[i].Case.Source) > 0 {
			group.Go(func() (err error) {
				outcomes[i].Case, err = d.ranked(gctx, *outcomes[i].Case)
				return err
			})
		}
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// ranked is the case with the ranks of its sources, under its scope and time.
func (d *Difficulty) ranked(ctx context.Context, c datasets.Case) (*datasets.Case, error) {
	for _, name := range slices.Sorted(maps.Keys(d.Retrievers)) {
		found, err := d.Retrievers[name].Retrieve(ctx, retrieve.Query{
			ID: c.ID, Text: c.Query, K: datasets.RankDepth, Scope: c.Scope, Filters: c.Filters, AsOf: c.AsOf,
		})
		if err != nil {
			return nil, fmt.Errorf("case %s: difficulty by %s: %w", c.ID, name, err)
		}
		ranks := map[string]int{}
		for i, hit := range found.Hits {
			if slices.Contains(c.Source, hit.ChunkID) {
				ranks[hit.ChunkID] = i + 1
			}
		}
		c.Rank(name, ranks)
	}
	return &c, nil
}
