package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// rankCases asks the retriever for each case's ranking and joins it to the
// labels. A query without an answer is recorded in its case; when no query has
// one, the first error ends it. sourceOnly counts the cases that mode judged
// reads as in.
func (p *Project) rankCases(ctx context.Context, b *bench, r retrieve.Retriever, cases []datasets.Case, mode datasets.SourceMode, depth int) (out []eval.Case, sourceOnly int, err error) {
	p.Progress.Begin("eval", len(cases))
	defer p.Progress.End()
	out = make([]eval.Case, len(cases))
	failures := make([]error, len(cases))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cases {
		labels := cases[i].Labels(mode)
		if labels.Fallback {
			sourceOnly++
		}
		g.Go(func() error {
			if gctx.Err() != nil {
				return context.Cause(gctx)
			}
			out[i], failures[i] = p.rankCase(gctx, b, r, &cases[i], labels, depth)
			p.Progress.Step(1, 0, 0)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, 0, err
	}
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	return out, sourceOnly, allFailed(failures)
}

// allFailed is the first error when there is nothing but errors.
func allFailed(failures []error) error {
	for _, err := range failures {
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("every query failed: %w", errors.Join(failures[:1]...))
}

func (p *Project) rankCase(ctx context.Context, b *bench, r retrieve.Retriever, c *datasets.Case, labels datasets.CaseLabels, depth int) (eval.Case, error) {
	out := eval.Case{
		ID: c.ID, Query: c.Query, Scope: c.Scope, Labels: evalLabels(labels, c), Abstain: c.ExpectedAbstention,
		Filtered: len(c.Scope)+len(c.Filters) > 0, Forbidden: c.Forbidden, Exclude: labels.Dropped,
	}
	out.Documents, out.Sections, out.Chunks = b.sourcesOf(c)
	res, err := r.Retrieve(ctx, retrieve.Query{ID: c.ID, Text: c.Query, K: depth, Scope: c.Scope, Filters: c.Filters, AsOf: c.AsOf})
	if err == nil {
		out.Ranking, out.Scores, err = b.evalHits(res.Hits)
	}
	if err != nil {
		out.Failed, out.Ranking, out.Scores = err.Error(), nil, nil
		return out, err
	}
	out.Took = res.Took
	return out, nil
}

// evalHits names each hit by its chunk. An id that the snapshot lacks stays as
// it is: it is unjudged, and counted.
func (b *bench) evalHits(hits []retrieve.Hit) (ids []string, scores []float64, err error) {
	ids, scores = make([]string, len(hits)), make([]float64, len(hits))
	for i, h := range hits {
		resolved, err := retrieve.Resolve(h, b.view)
		switch {
		case err != nil && h.ChunkID != "":
			b.unknown.Add(1)
			resolved = h
		case err != nil:
			return nil, nil, err
		case resolved.IsSpan():
			return nil, nil, fmt.Errorf("hit %s [%d,%d): a span, and this version scores chunk ids", h.DocID, h.Start, h.End)
		}
		ids[i], scores[i] = resolved.ChunkID, resolved.Score
	}
	return ids, scores, nil
}

func evalLabels(labels datasets.CaseLabels, c *datasets.Case) []eval.Label {
	out := make([]eval.Label, 0, len(labels.Chunks))
	seen := map[string]bool{}
	for _, j := range c.Judgments { // in the set's order
		l, ok := labels.Chunks[j.ChunkID]
		if !ok || seen[j.ChunkID] {
			continue
		}
		seen[j.ChunkID] = true
		out = append(out, evalLabel(j.ChunkID, l))
	}
	return out
}

func evalLabel(id string, l datasets.Label) eval.Label {
	out := eval.Label{ID: id, Grade: eval.Unknown}
	switch {
	case l.Grade != nil:
		out.Grade = *l.Grade
	case l.P != nil:
		out.Uncertain = &eval.Probability{P: *l.P, Draws: l.PDraws}
	}
	return out
}

// sourcesOf names what a case was written from: documents, the sections of
// their headings, chunks.
func (b *bench) sourcesOf(c *datasets.Case) (documents, sections, chunks []string) {
	for _, id := range c.Source {
		chunk, ok := b.chunk(id)
		if !ok {
			continue
		}
		documents = append(documents, chunk.DocID)
		sections = append(sections, chunk.DocID+"\x00"+strings.Join(chunk.HeadingPath, "\x00"))
		chunks = append(chunks, id)
	}
	return documents, sections, chunks
}

// restricted reports hits outside of a case's scope.
func (b *bench) restricted() func(*eval.Case, string) bool {
	return func(c *eval.Case, chunkID string) bool {
		chunk, ok := b.chunk(chunkID)
		return ok && !chunk.Scope.Visible(c.Scope)
	}
}

// dimensionsOf makes the slices that were asked for.
func dimensionsOf(cases []datasets.Case, names []string) ([]eval.Dimension, error) {
	var out []eval.Dimension
	for _, name := range names {
		values, err := sliceValues(name)
		if err != nil {
			return nil, err
		}
		out = append(out, eval.NewDimension(name, len(cases), func(i int) []string { return values(&cases[i]) }))
	}
	return out, nil
}

func sliceValues(name string) (func(*datasets.Case) []string, error) {
	one := func(field func(*datasets.Case) string) func(*datasets.Case) []string {
		return func(c *datasets.Case) []string { return []string{field(c)} }
	}
	fields := map[string]func(*datasets.Case) []string{
		"query_type": one(func(c *datasets.Case) string { return c.QueryType }),
		"category":   one(func(c *datasets.Case) string { return c.Category }),
		"language":   one(func(c *datasets.Case) string { return c.Language }),
		"origin":     one(func(c *datasets.Case) string { return c.Origin }),
		"style":      one(func(c *datasets.Case) string { return c.Style }),
		"unit":       one(func(c *datasets.Case) string { return c.Unit }),
		"stratum":    one(func(c *datasets.Case) string { return c.Provenance.Stratum }),
		"scope":      func(c *datasets.Case) []string { return scopeKinds(c.Scope) },
		"filtered":   one(func(c *datasets.Case) string { return fmt.Sprint(len(c.Filters) > 0) }),
		"tag":        func(c *datasets.Case) []string { return c.Tags },
	}
	if f, ok := fields[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("%w: slice by %q: valid are %s", ErrConfig, name, strings.Join(sortedKeys(fields), ", "))
}

func scopeKinds(s corpus.Scope) []string {
	if len(s) == 0 {
		return []string{"public"}
	}
	return sortedKeys(s)
}
