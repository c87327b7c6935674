package generate

import (
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// Reserve of the window for a prompt's fixed text and the chat template, and
// the bytes that a token holds at the least in text written with spaces. Both
// err on the safe side: the server refuses what is still too long, and then the
// unit is rejected by name.
const (
	fixedTokens   = 500
	bytesPerToken = 2.8
)

// window returns the part of the chunk that is shown: all of it, or as many
// whole sentences around [start, end) of the document as the model's window
// has room for. A shortened one is recorded as the check "window", whose value
// is the share shown.
func (w *writing) window(start, end int) (string, *refusal) {
	chunk := w.u.Chunks[0]
	room := w.m.options.Options.NumCtx - w.m.options.Options.NumPredict - fixedTokens
	budget := int(float64(room)*bytesPerToken) - (end - start)
	if len(chunk.Text) <= budget {
		return chunk.Text, nil
	}
	if end-start > budget {
		return "", refuse(ReasonPromptTooLong, "the evidence alone is longer than num_ctx=%d leaves room for", w.m.options.Options.NumCtx)
	}
	from, to := grow(chunk.Text, start-chunk.Start, end-chunk.Start, budget)
	w.check("window", true, float64(to-from)/float64(len(chunk.Text)))
	return chunk.Text[from:to], nil
}

// grow widens [start, end) of text by whole sentences, in turn behind and in
// front, up to limit bytes.
func grow(text string, start, end, limit int) (int, int) {
	spans := corpus.Sentences(text)
	first := slices.IndexFunc(spans, func(s corpus.Span) bool { return s.End > start })
	last := slices.IndexFunc(spans, func(s corpus.Span) bool { return s.End >= end })
	if first < 0 || last < 0 {
		return start, end
	}
	from, to := start, end
	for grew := true; grew; {
		grew = false
		if last+1 < len(spans) && spans[last+1].End-from <= limit {
			last, to, grew = last+1, spans[last+1].End, true
		}
		if first > 0 && to-spans[first-1].Start <= limit {
			first, from, grew = first-1, spans[first-1].Start, true
		}
	}
	return from, to
}
