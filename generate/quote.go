package generate

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
)

// minQuoteWords is the least that a quote must hold: shorter ones are found
// anywhere and answer nothing.
const minQuoteWords = 3

// quote has the model write a query and quote what answers it, and finds the
// quotes in the chunk.
func (w *writing) quote(ctx context.Context) (*refusal, error) {
	chunk := w.u.Chunks[0]
	middle := chunk.Start + len(chunk.Text)/2
	vars, r := w.aboutChunk(middle, middle)
	if r != nil {
		return r, nil
	}
	v, r, err := ask(ctx, w, question[written]{prompt: w.prompt, vars: vars, parse: w.parseWritten})
	if r != nil || err != nil {
		return r, err
	}
	w.check("parsed", true, 1)
	if w.query, err = queryOf(v); err != nil {
		return refuse(ReasonUnreadable, "%v", err), nil
	}
	w.query = Worded(w.query, w.u.Row, w.m.options.Seed)
	return w.locate(v.Quotes), nil
}

// locate turns quotes into evidence, each with its own offsets.
func (w *writing) locate(quotes []string) *refusal {
	chunk := w.u.Chunks[0]
	for _, q := range quotes {
		start, end, ok := Locate(chunk.Text, q)
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

// Locate finds a quote in a text, whatever the two make of white space, case,
// Unicode forms, quotation marks and dashes. start and end are byte offsets in
// text as it is; they never cut a character with its marks. The first
// occurrence that stands on word boundaries counts.
func Locate(text, quote string) (start, end int, ok bool) {
	hay, needle := normalise(text), strings.TrimSpace(normalise(quote).text)
	if needle == "" {
		return 0, 0, false
	}
	for from := 0; ; {
		i := strings.Index(hay.text[from:], needle)
		if i < 0 {
			return 0, 0, false
		}
		i += from
		if onBoundary(hay.text, i) && onBoundary(hay.text, i+len(needle)) {
			return hay.start[i], hay.end[i+len(needle)-1], true
		}
		_, size := utf8.DecodeRuneInString(hay.text[i:])
		from = i + size
	}
}

// onBoundary reports whether a word may begin or end at a byte offset.
func onBoundary(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	return !spaced(before) || !spaced(after)
}

// spaced reports whether r belongs to words of a script written with spaces.
func spaced(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		return false
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// normalised is a text brought into one form, with the bytes of the original
// that each of its bytes came from.
type normalised struct {
	text       string
	start, end []int
}

// normalise applies NFKC, folds case, and makes one space of each run of white
// space. It works segment by segment, so that offsets can be mapped back.
func normalise(text string) normalised {
	var n normalised
	var b strings.Builder
	fold := cases.Fold()
	var it norm.Iter
	it.InitString(norm.NFKC, text)
	for !it.Done() {
		from := it.Pos()
		piece := fold.String(string(it.Next()))
		for _, r := range piece {
			n.add(&b, canonical(r), from, it.Pos())
		}
	}
	n.text = b.String()
	return n
}

func (n *normalised) add(b *strings.Builder, r rune, from, to int) {
	switch {
	case r < 0:
		return
	case r == ' ' && b.Len() > 0 && strings.HasSuffix(b.String(), " "):
		n.end[len(n.end)-1] = to
		return
	}
	before := b.Len()
	b.WriteRune(r)
	for range b.Len() - before {
		n.start, n.end = append(n.start, from), append(n.end, to)
	}
}

// canonical maps variants of one character to it; -1 drops what cannot be seen.
func canonical(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '´':
		return '\''
	case '“', '”', '„', '‟', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '−':
		return '-'
	case '*', '`', '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff':
		return -1
	}
	if unicode.IsSpace(r) {
		return ' '
	}
	return r
}

func (w *writing) parseWritten(reply llm.Reply) (written, error) {
	v, err := llm.ParseWith[written](reply, w.prompt.schema)
	if err == nil && len(v.Quotes) == 0 {
		err = &llm.Error{Kind: llm.KindSchemaNotEnforced, Detail: "no quote"}
	}
	return v, err
}
