// Package study holds what the commands under bench share that measure the label
// model on collections with human judgments: the pooled collections, priors fitted
// without one of them, the shift variance, labels of a collection's own, queries
// that a model wrote, sides for eval.Agree, and tables in a page. The same inputs
// give the same numbers.
package study

import (
	"context"
	"fmt"
	"io"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

const (
	// Seed is that of every draw.
	Seed = 1
	// Metric is what retrievers are ordered by.
	Metric = "ndcg@10"
	// rankingDepth is how much of a variant's ranking is scored; its first
	// judgedDepth hits are in the pools, so that every variant is judged alike.
	rankingDepth, judgedDepth = 100, 10
)

// Material is a collection, pooled, with the retrievers over it.
type Material struct {
	collections.Collection
	Variants  []retrieve.Variant
	Members   map[string]retrieve.Retriever // of the pools that goldgen makes
	View      *judge.View
	Lines     []Written // the queries that a model wrote over it
	synthetic []synthetic
	chunks    []corpus.Chunk
	pools     []pooled
	rankings  [][][]string // by variant and query, chunk ids, best first
}

// pooled is the pool of one query. The first plain items are the pool that
// goldgen makes; the rest are what the variants have besides.
type pooled struct {
	id       string
	ids      []string
	relevant []bool
	seen     []map[string]float64
	plain    int
	source   string // one of its relevant documents, drawn
}

// GatherAll loads and pools the three collections below dir, with the queries that
// a model wrote over them below fixtures.
func GatherAll(ctx context.Context, dir, fixtures string, progress io.Writer) ([]*Material, error) {
	var all []*Material
	for _, name := range collections.Names() {
		fmt.Fprintf(progress, "%s: pools\n", name)
		c, err := collections.Load(dir, name)
		if err != nil {
			return nil, err
		}
		m, err := Gather(ctx, c, retrieve.VariantCount)
		if err != nil {
			return nil, err
		}
		if err := m.AddSynthetic(ctx, fixtures); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Gather builds the first so many of retrieve.Variants over a collection and pools
// its queries.
func Gather(ctx context.Context, c collections.Collection, variants int) (*Material, error) {
	m := &Material{Collection: c}
	for _, d := range c.Documents {
		m.chunks = append(m.chunks, corpus.Chunk{ID: d.ID, DocID: d.ID, Text: d.Text, Unit: corpus.UnitDocument})
	}
	if err := m.build(ctx, variants); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	var queries []retrieve.Query
	for _, q := range m.Queries {
		queries = append(queries, retrieve.Query{ID: q.ID, Text: q.Text})
	}
	var err error
	if m.rankings, err = m.Ask(ctx, queries); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	if err := m.pool(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return m, nil
}

func (m *Material) stream(yield func(corpus.Chunk, error) bool) {
	for _, c := range m.chunks {
		if !yield(c, nil) {
			return
		}
	}
}

// build makes the variants, the members of the pools and the view.
func (m *Material) build(ctx context.Context, variants int) (err error) {
	deps := retrieve.Deps{Chunks: m.stream}
	if m.Variants, err = retrieve.Variants(ctx, deps, variants); err != nil {
		return err
	}
	m.Members = map[string]retrieve.Retriever{}
	for _, name := range judge.Voters() {
		spec, err := retrieve.ParseSpec(name, nil)
		if err != nil {
			return err
		}
		if m.Members[name], err = retrieve.Build(ctx, spec, deps); err != nil {
			return err
		}
	}
	m.View = judge.NewView(m.chunks)
	return nil
}

// Ask has all variants rank all queries: the answer is by variant and query,
// chunk ids, best first.
func (m *Material) Ask(ctx context.Context, queries []retrieve.Query) ([][][]string, error) {
	rankings := make([][][]string, len(m.Variants))
	var group errgroup.Group
	for i, v := range m.Variants {
		group.Go(func() (err error) {
			rankings[i], err = ask(ctx, v.Retriever, queries)
			return err
		})
	}
	return rankings, group.Wait()
}

func ask(ctx context.Context, r retrieve.Retriever, queries []retrieve.Query) ([][]string, error) {
	var all [][]string
	for _, q := range queries {
		q.K = rankingDepth
		result, err := r.Retrieve(ctx, q)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, hit := range result.Hits {
			ids = append(ids, hit.ChunkID)
		}
		all = append(all, ids)
	}
	return all, nil
}

// poolers pool what goldgen does, and the first hits of each variant besides.
func (m *Material) poolers() (plain, wide *judge.Pooler) {
	options := judge.DefaultPool(Seed)
	plain = judge.NewPooler(options, m.Members, m.View)
	more := maps.Clone(m.Members)
	for i, v := range m.Variants {
		more["variant "+v.Name] = &replay{ids: m.rankings[i], queries: m.Queries}
	}
	return plain, judge.NewPooler(options, more, m.View)
}

// replay returns the rankings that a variant gave.
type replay struct {
	ids     [][]string
	queries []collections.Query
}

// Retrieve implements retrieve.Retriever.
func (r *replay) Retrieve(_ context.Context, q retrieve.Query) (retrieve.Result, error) {
	for i, known := range r.queries {
		if known.ID != q.ID {
			continue
		}
		var hits []retrieve.Hit
		for _, id := range First(r.ids[i]) {
			hits = append(hits, retrieve.Hit{ChunkID: id})
		}
		return retrieve.Result{Hits: hits}, nil
	}
	return retrieve.Result{}, fmt.Errorf("query %s: not asked before", q.ID)
}

// First is as much of a ranking as is judged where all variants are pooled.
func First(ranking []string) []string { return ranking[:min(judgedDepth, len(ranking))] }

func (m *Material) pool(ctx context.Context) error {
	plain, wide := m.poolers()
	for _, q := range m.Queries {
		c := datasets.Case{ID: q.ID, Query: q.Text}
		items, err := plain.Pool(ctx, c)
		if err != nil {
			return err
		}
		more, err := wide.Pool(ctx, c)
		if err != nil {
			return err
		}
		m.pools = append(m.pools, m.pooledQuery(c, items, more, plain))
	}
	return nil
}

// pooledQuery joins both pools: the features of a pair that goldgen's own pool
// lacks are computed among that pool.
func (m *Material) pooledQuery(c datasets.Case, items, more []judge.Item, plain *judge.Pooler) pooled {
	out := pooled{id: c.ID, plain: len(items), source: m.drawSource(c.ID)}
	have := map[string]bool{}
	for _, item := range items {
		have[item.ChunkID] = true
	}
	for _, item := range more {
		if !have[item.ChunkID] && !item.Random {
			items = append(items, item)
		}
	}
	for _, item := range items {
		out.ids = append(out.ids, item.ChunkID)
		out.relevant = append(out.relevant, m.Qrels[c.ID][item.ChunkID] > 0)
	}
	out.seen = plain.Observations(c, items)
	return out
}

// drawSource draws the document that the query might have been written from.
func (m *Material) drawSource(query string) string {
	var relevant []string
	for _, d := range m.Documents {
		if m.Qrels[query][d.ID] > 0 {
			relevant = append(relevant, d.ID)
		}
	}
	if len(relevant) == 0 {
		return ""
	}
	return relevant[seeded.Rand(Seed, "source "+m.Name, query).IntN(len(relevant))]
}
