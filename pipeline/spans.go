package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// hitSpans says where hits stand: the span that a hit names, or its chunk's. A
// chunk that the snapshot lacks stands nowhere, a span of such a document covers
// no tokens. A span outside of its document is an error.
func (b *bench) hitSpans(hits []retrieve.Hit) ([]eval.Span, error) {
	out := make([]eval.Span, len(hits))
	for i, h := range hits {
		if h.IsSpan() {
			if n, known := b.docLength(h.DocID); known && (h.Start < 0 || h.End > n) {
				return nil, fmt.Errorf("hit %s [%d,%d): the document has %d bytes; offsets are of its text in the snapshot, without front matter or markup of HTML",
					h.DocID, h.Start, h.End, n)
			}
			out[i] = eval.Span{Doc: h.DocID, Start: h.Start, End: h.End}
		} else if resolved, err := retrieve.Resolve(h, b.view); err == nil {
			out[i] = b.chunkSpan(resolved.ChunkID)
		}
	}
	return out, nil
}

func (b *bench) docLength(id string) (bytes int, known bool) {
	if at, ok := b.docAt[id]; ok {
		return len(b.docs[at].Text), true
	}
	return 0, false
}

func (b *bench) chunkSpan(id string) eval.Span {
	if c, ok := b.chunk(id); ok {
		return eval.Span{Doc: c.DocID, Start: c.Start, End: c.End}
	}
	return eval.Span{}
}

// complete adds to an input what the snapshot knows: what a case may see, which
// filters hold, and where results and evidence stand. Rankings of spans are
// scored by spans; usual says that no measures were asked for.
func (b *bench) complete(in *eval.Input, usual bool) {
	in.Restricted, in.Outdated, in.Violated, in.ChunksIn = b.restricted, b.outdated, b.violated, b.chunksIn
	if slices.ContainsFunc(in.Cases, func(c eval.Case) bool { return b.hasSpan(&c) }) {
		in.Unit = eval.UnitSpans
		if usual {
			in.Measures = eval.SpanMeasures(in.K)
		}
	}
	for i := range in.Cases {
		if c := &in.Cases[i]; c.Background.ExpectedSource != "" {
			c.Sources = b.sourcesOf(c)
		}
	}
	if in.Unit == eval.UnitSpans || eval.HasSpanMeasure(in.Measures) {
		in.SpanUnit = eval.SpanTokens
		b.placeSpans(in.Cases)
	}
}

// sourcesOf names the kind of source of each result: its chunk's metadata
// "source", else its unit; "" where the snapshot lacks the chunk. A span is of
// the kind of the first chunk that it shares bytes with.
func (b *bench) sourcesOf(c *eval.Case) []string {
	out := make([]string, len(c.Ranking))
	for n, id := range c.Ranking {
		if c.Spans != nil && !b.HasChunk(id) {
			if in := b.chunksIn(c, n); len(in) > 0 {
				id = in[0].ID
			}
		}
		if chunk, ok := b.chunk(id); ok {
			out[n] = cmp.Or(chunk.Metadata["source"], chunk.Unit)
		}
	}
	return out
}

// placeSpans says of every result and of the evidence where it stands.
func (b *bench) placeSpans(cases []eval.Case) {
	starts := b.tokenStarts()
	for i := range cases {
		c := &cases[i]
		if c.Spans == nil {
			c.Spans = make([]eval.Span, len(c.Ranking))
			for n, id := range c.Ranking {
				c.Spans[n] = b.chunkSpan(id)
			}
		}
		countTokens(c.Spans, starts)
		countTokens(c.Background.Evidence, starts)
	}
}

// hasSpan reports whether a result is a span and no chunk.
func (b *bench) hasSpan(c *eval.Case) bool {
	for n := range c.Spans {
		if c.Spans[n].End > 0 && !b.HasChunk(c.Ranking[n]) {
			return true
		}
	}
	return false
}

func countTokens(spans []eval.Span, starts func(doc string) []int) {
	for i := range spans {
		spans[i] = spans[i].InTokens(starts(spans[i].Doc))
	}
}

// tokenStarts gives the byte offsets of a document's tokens, each document
// read once.
func (b *bench) tokenStarts() func(doc string) []int {
	known := map[string][]int{}
	return func(doc string) []int {
		starts, ok := known[doc]
		if at, exists := b.docAt[doc]; !ok && exists {
			starts = corpus.TokenStarts(b.docs[at].Text)
			known[doc] = starts
		}
		return starts
	}
}

// chunksIn lists the chunks that share bytes with a result.
func (b *bench) chunksIn(c *eval.Case, n int) []eval.PlacedChunk {
	var out []eval.PlacedChunk
	s := c.Spans[n]
	for _, at := range b.DocChunks(s.Doc) {
		if c := b.Chunk(at); c.Start < s.End && s.Start < c.End {
			out = append(out, eval.PlacedChunk{ID: c.ID, Start: c.Start, End: c.End})
		}
	}
	return out
}
