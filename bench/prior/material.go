package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

const (
	seed = 1
	// rankingDepth is how much of a variant's ranking is scored; its first
	// judgedDepth hits are in the pools, so that every variant is judged alike.
	rankingDepth, judgedDepth = 100, 10
)

// material is a collection, pooled.
type material struct {
	collections.Collection
	chunks   []corpus.Chunk
	queries  []pooled
	variants []string
	rankings [][][]string // by variant and query, chunk ids, best first
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

func gather(ctx context.Context, dir, name string) (*material, error) {
	c, err := collections.Load(dir, name)
	if err != nil {
		return nil, err
	}
	m := &material{Collection: c}
	for _, d := range c.Documents {
		m.chunks = append(m.chunks, corpus.Chunk{ID: d.ID, DocID: d.ID, Text: d.Text, Unit: corpus.UnitDocument})
	}
	if err := m.rank(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := m.pool(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func (m *material) stream(yield func(corpus.Chunk, error) bool) {
	for _, c := range m.chunks {
		if !yield(c, nil) {
			return
		}
	}
}

// rank asks all variants all queries.
func (m *material) rank(ctx context.Context) error {
	variants, err := retrieve.Variants(ctx, retrieve.Deps{Chunks: m.stream}, retrieve.VariantCount)
	if err != nil {
		return err
	}
	m.rankings = make([][][]string, len(variants))
	var group errgroup.Group
	for i, v := range variants {
		m.variants = append(m.variants, v.Name)
		group.Go(func() (err error) {
			m.rankings[i], err = m.ask(ctx, v.Retriever)
			return err
		})
	}
	return group.Wait()
}

func (m *material) ask(ctx context.Context, r retrieve.Retriever) ([][]string, error) {
	var all [][]string
	for _, q := range m.Queries {
		result, err := r.Retrieve(ctx, retrieve.Query{ID: q.ID, Text: q.Text, K: rankingDepth})
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
func (m *material) poolers() (plain, wide *judge.Pooler, err error) {
	members := map[string]retrieve.Retriever{}
	for _, name := range []string{"bm25", "ngram", "lsa"} {
		spec, err := retrieve.ParseSpec(name, nil)
		if err != nil {
			return nil, nil, err
		}
		if members[name], err = retrieve.Build(context.Background(), spec, retrieve.Deps{Chunks: m.stream}); err != nil {
			return nil, nil, err
		}
	}
	view := judge.NewView(m.chunks)
	options := judge.DefaultPool(seed)
	plain = judge.NewPooler(options, members, view)
	more := map[string]retrieve.Retriever{}
	for name, r := range members {
		more[name] = r
	}
	for i, name := range m.variants {
		more["variant "+name] = &replay{ids: m.rankings[i], queries: m.Queries}
	}
	return plain, judge.NewPooler(options, more, view), nil
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
		for _, id := range r.ids[i][:min(judgedDepth, len(r.ids[i]))] {
			hits = append(hits, retrieve.Hit{ChunkID: id})
		}
		return retrieve.Result{Hits: hits}, nil
	}
	return retrieve.Result{}, fmt.Errorf("query %s: not asked before", q.ID)
}

func (m *material) pool(ctx context.Context) error {
	plain, wide, err := m.poolers()
	if err != nil {
		return err
	}
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
		m.queries = append(m.queries, m.pooledQuery(c, items, more, plain))
	}
	return nil
}

// pooledQuery joins both pools: the features of a pair that goldgen's own pool
// lacks are computed among that pool.
func (m *material) pooledQuery(c datasets.Case, items, more []judge.Item, plain *judge.Pooler) pooled {
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
func (m *material) drawSource(query string) string {
	var relevant []string
	for _, d := range m.Documents {
		if m.Qrels[query][d.ID] > 0 {
			relevant = append(relevant, d.ID)
		}
	}
	if len(relevant) == 0 {
		return ""
	}
	return relevant[seeded.Rand(seed, "source "+m.Name, query).IntN(len(relevant))]
}

// pairs are the labelled pairs of goldgen's own pools, under the given features.
func (m *material) pairs(features []string) []judge.LabelledPair {
	var pairs []judge.LabelledPair
	for _, q := range m.queries {
		x := judge.Vectors(features, q.seen[:q.plain])
		for i := range x {
			pairs = append(pairs, judge.LabelledPair{
				Query: m.Name + " " + q.id, Chunk: q.ids[i], X: x[i], Relevant: q.relevant[i], Weight: 1,
			})
		}
	}
	return pairs
}
