package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/retrieve"
)

// probe asks about every failed case, and the exact search about all.
func (pr *prober) probe(ctx context.Context, cases []eval.Case, failed []int) ([]eval.Probes, error) {
	probes := make([]eval.Probes, len(cases))
	isFailed := make([]bool, len(cases))
	for _, i := range failed {
		isFailed[i] = true
	}
	total := len(failed)
	if pr.exact != nil {
		total = len(cases)
	}
	pr.progress.Begin("diagnose", total)
	defer pr.progress.End()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cases {
		if !isFailed[i] && pr.exact == nil {
			continue
		}
		g.Go(func() error {
			pr.ask(gctx, &cases[i], &probes[i], isFailed[i])
			pr.progress.Step(Step{Done: 1})
			return context.Cause(gctx)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return probes, nil
}

func (pr *prober) ask(ctx context.Context, c *eval.Case, p *eval.Probes, failed bool) {
	about := c.Background
	q := retrieve.Query{ID: c.ID, Text: about.Query, K: pr.depth, Scope: about.Scope, Filters: about.Filters, AsOf: about.AsOf}
	p.Exact = pr.hits(ctx, pr.exact, q)
	relevant := eval.Relevant(c, pr.minGrade)
	if !failed || c.Failed != "" || c.Abstain || len(relevant) == 0 {
		return
	}
	p.Deep = &eval.Probe{Hits: c.Ranking}
	if pr.depth > pr.asked {
		p.Deep = pr.hits(ctx, pr.retriever, q)
	}
	p.Before, p.Lexical, p.Dense = pr.hits(ctx, pr.before, q), pr.hits(ctx, pr.lexical, q), pr.hits(ctx, pr.dense, q)
	if pr.replayed {
		return
	}
	if len(about.Scope) > 0 || len(about.Filters) > 0 || about.AsOf != nil {
		open := q
		open.Scope, open.Filters, open.AsOf = pr.scopesOf(relevant), nil, nil
		p.Open = pr.hits(ctx, pr.retriever, open)
	}
	if len(relevant) <= ownChunks && !pr.found(c, p) {
		p.Own = pr.own(ctx, c, relevant)
	}
}

// found reports whether something relevant came back, whoever was asked how.
func (pr *prober) found(c *eval.Case, p *eval.Probes) bool {
	if pr.spans != nil {
		labelled := pr.spans.labelled(c, pr.minGrade, p)
		c = &labelled
	}
	for _, probe := range []*eval.Probe{{Hits: c.Ranking}, p.Deep, p.Open, p.Exact, p.Before} {
		if probe != nil && eval.FirstRelevant(c, probe.Hits, pr.minGrade) > 0 {
			return true
		}
	}
	return false
}

// own asks for each relevant chunk by its own text, as one who may see it.
func (pr *prober) own(ctx context.Context, c *eval.Case, relevant []string) map[string]*eval.Probe {
	probes := map[string]*eval.Probe{}
	for _, id := range relevant {
		chunk, ok := pr.chunk(id)
		if !ok || strings.TrimSpace(chunk.Text) == "" {
			continue
		}
		q := retrieve.Query{ID: c.ID + "#" + id, Text: clip.Bytes(chunk.Text, ownBytes), K: pr.depth, Scope: chunk.Scope}
		probes[id] = pr.hits(ctx, pr.retriever, q)
	}
	return probes
}

// scopesOf is an asker who may see all of the given chunks.
func (pr *prober) scopesOf(ids []string) corpus.Scope {
	asker := corpus.Scope{}
	for _, id := range ids {
		if chunk, ok := pr.chunk(id); ok {
			for key, values := range chunk.Scope {
				asker[key] = append(asker[key], values...)
			}
		}
	}
	for key, values := range asker {
		slices.Sort(values)
		asker[key] = slices.Compact(values)
	}
	return asker
}

// hits asks one retriever; nil where there is none, or it gives an error.
func (pr *prober) hits(ctx context.Context, r retrieve.Retriever, q retrieve.Query) *eval.Probe {
	if r == nil {
		return nil
	}
	found, err := r.Retrieve(ctx, q)
	if err != nil {
		pr.failed.Add(1)
		pr.firstError.CompareAndSwap(nil, &err)
		return nil
	}
	p := &eval.Probe{Hits: make([]string, len(found.Hits))}
	for i, h := range found.Hits {
		p.Hits[i] = pr.name(h)
	}
	return p
}

// name is the chunk of a hit; a hit that is no chunk of the snapshot keeps its
// own name, a span that of place.
func (pr *prober) name(h retrieve.Hit) string {
	h = retrieve.Settle(h, pr.view)
	if resolved, err := retrieve.Resolve(h, pr.view); err == nil && resolved.ChunkID != "" {
		return resolved.ChunkID
	}
	if h.ChunkID != "" {
		return h.ChunkID
	}
	id := fmt.Sprintf("%s[%d,%d)", h.DocID, h.Start, h.End)
	if pr.spans != nil {
		pr.spans.add(id, eval.Span{Doc: h.DocID, Start: h.Start, End: h.End})
	}
	return id
}
