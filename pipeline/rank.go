package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// ranker asks one retriever for the rankings of cases.
type ranker struct {
	*bench
	retriever retrieve.Retriever
	mode      datasets.SourceMode // how source chunks are labelled
	depth     int                 // hits asked for
	atOnce    int                 // queries in flight
}

// inFlight is how many queries a retriever is asked at once: as many as a server
// is configured to take, else one a processor.
func inFlight(r retrieve.Retriever) int {
	if server, ok := r.(interface{ Concurrency() int }); ok {
		return server.Concurrency()
	}
	return runtime.GOMAXPROCS(0)
}

// rankCases asks for each case's ranking and joins it to the labels. A query
// without an answer is recorded in its case; when no query has one, the first
// error ends it. sourceOnly counts the cases that mode judged reads as in.
func (p *Project) rankCases(ctx context.Context, r ranker, cases []datasets.Case) (out []eval.Case, sourceOnly int, err error) {
	p.Progress.Begin("eval", len(cases))
	defer p.Progress.End()
	out = make([]eval.Case, len(cases))
	failures := make([]error, len(cases))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, r.atOnce))
	for i := range cases {
		var fallback bool
		if out[i], fallback = eval.FromGolden(&cases[i], r.mode, r.section); fallback {
			sourceOnly++
		}
		g.Go(func() error {
			failures[i] = r.rank(gctx, &cases[i], &out[i])
			p.Progress.Step(Step{Done: 1})
			return context.Cause(gctx)
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
	if slices.Contains(failures, nil) {
		return nil
	}
	return fmt.Errorf("every query failed: %w", failures[0])
}

// rank fills in what the retriever returned for a case.
func (r *ranker) rank(ctx context.Context, c *datasets.Case, out *eval.Case) error {
	q := retrieve.Query{ID: c.ID, Text: c.Query, K: r.depth, Scope: c.Scope, Filters: c.Filters, AsOf: c.AsOf}
	res, err := r.retriever.Retrieve(ctx, q)
	hits := r.settled(res.Hits) // none where err says why
	if err == nil {
		err = r.place(hits, out)
	}
	if err == nil && slices.ContainsFunc(hits, retrieve.Hit.IsSpan) {
		out.Spans, err = r.hitSpans(hits)
	}
	if err != nil {
		out.Failed, out.Ranking, out.Scores, out.Spans, out.Unplaced = err.Error(), nil, nil, nil, 0
		return err
	}
	out.Took = res.Took
	return nil
}

// settled are the hits, each a chunk or a span.
func (b *bench) settled(hits []retrieve.Hit) []retrieve.Hit {
	out := make([]retrieve.Hit, len(hits))
	for i, h := range hits {
		out[i] = retrieve.Settle(h, b.view)
	}
	return out
}

// place names each hit of a case by its chunk, and a span by its document and
// bytes. An id that the snapshot lacks stays as it is, and so does a span of such
// a document: it is unjudged, and counted as standing nowhere.
func (b *bench) place(hits []retrieve.Hit, out *eval.Case) error {
	out.Ranking, out.Scores = make([]string, len(hits)), make([]float64, len(hits))
	for i, h := range hits {
		resolved, err := retrieve.Resolve(h, b.view)
		switch {
		case err != nil && (h.ChunkID != "" || h.IsSpan()):
			out.Unplaced++
			resolved = h
		case err != nil:
			return err
		}
		if resolved.IsSpan() {
			resolved.ChunkID = fmt.Sprintf("%s[%d,%d)", h.DocID, h.Start, h.End)
		}
		out.Ranking[i], out.Scores[i] = resolved.ChunkID, resolved.Score
	}
	return nil
}

// section names the heading section that a chunk stands in.
func (b *bench) section(chunkID string) string {
	c, ok := b.chunk(chunkID)
	if !ok {
		return chunkID
	}
	return c.DocID + "\x00" + strings.Join(c.HeadingPath, "\x00")
}

// restricted reports chunks outside of a case's scope.
func (b *bench) restricted(c *eval.Case, chunkID string) bool {
	chunk, ok := b.chunk(chunkID)
	return ok && !chunk.Scope.Visible(c.Background.Scope)
}

// outdated reports chunks that do not hold at the case's date.
func (b *bench) outdated(c *eval.Case, chunkID string) bool {
	chunk, ok := b.chunk(chunkID)
	asOf := c.Background.AsOf
	return ok && asOf != nil && !corpus.ValidAt(chunk.ValidFrom, chunk.ValidTo, *asOf)
}

// violated finds the first of a case's filters that a chunk does not satisfy.
func (b *bench) violated(c *eval.Case, chunkID string) *corpus.Filter {
	if chunk, ok := b.chunk(chunkID); ok {
		return eval.FirstViolated(c.Background.Filters, chunk)
	}
	return nil
}

// dimensionsOf makes the slices that were asked for.
func dimensionsOf(cases []datasets.Case, names []string) ([]eval.Dimension, error) {
	var out []eval.Dimension
	for _, name := range names {
		d, err := eval.GoldenDimension(cases, name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		out = append(out, d)
	}
	return out, nil
}
