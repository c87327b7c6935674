package generate

import (
	"context"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/quotes"
	"github.com/goldgen/goldgen/llm"
)

// minQuoteWords is the least that a quote must hold: shorter ones are found
// anywhere and answer nothing.
const minQuoteWords = 3

// quote has the model write a query and quote what answers it, and finds the
// quotes in the chunk.
func (w *writing) quote(ctx context.Context) (query string, r *refusal, err error) {
	chunk := w.u.Chunks[0]
	middle := chunk.Start + len(chunk.Text)/2
	vars, r := w.aboutChunk(middle, middle)
	if r != nil {
		return "", r, nil
	}
	w.addWording(vars)
	v, r, err := ask(ctx, w, question[written]{prompt: w.prompt, vars: vars, parse: w.parseWritten})
	if r != nil || err != nil {
		return "", r, err
	}
	w.check("parsed", true, 1)
	if query, err = queryOf(v); err != nil {
		return "", refuse(ReasonUnreadable, "%v", err), nil
	}
	return query, w.locate(v.Quotes), nil
}

// locate turns quotes into evidence, each with its own offsets.
func (w *writing) locate(quotes []string) *refusal {
	chunk := w.u.Chunks[0]
	for _, q := range quotes {
		start, end, ok := locateIn(&chunk, q)
		if len(words(q)) < minQuoteWords || !ok {
			w.check("located", false, float64(len(w.evidence)))
			return refuse(ReasonNoEvidence, "not found in chunk %s: %q", chunk.ID, shorten(q, 120))
		}
		w.evidence = append(w.evidence, datasets.Evidence{
			DocID: chunk.DocID, ChunkID: chunk.ID,
			Start: chunk.Start + start, End: chunk.Start + end, Quote: chunk.Text[start:end],
		})
	}
	w.check("located", true, float64(len(w.evidence)))
	return nil
}

// locateIn finds a quote in a chunk: as it stands there, else, in code, as one of
// its comments says it.
func locateIn(chunk *corpus.Chunk, quote string) (start, end int, ok bool) {
	if start, end, ok = Locate(chunk.Text, quote); ok || !isCode(chunk) {
		return start, end, ok
	}
	for _, c := range commentsOf(chunk) {
		if start, end, ok = Locate(c.text, quote); ok && start < end {
			start, end = c.span(start, end)
			return start, end, true
		}
	}
	return 0, 0, false
}

// Locate finds a quote in a text, whatever the two make of white space, case,
// Unicode forms, quotation marks and dashes. start and end are byte offsets in
// text as it is; they never cut a character with its marks. The first
// occurrence that stands on word boundaries counts.
func Locate(text, quote string) (start, end int, ok bool) { return quotes.Locate(text, quote) }

func (w *writing) parseWritten(reply llm.Reply) (written, error) {
	v, err := llm.ParseWith[written](reply, w.prompt.schema)
	if err == nil && len(v.Quotes) == 0 {
		err = &llm.Error{Kind: llm.KindSchemaNotEnforced, Detail: "no quote"}
	}
	return v, err
}
