// Package quotes finds quotes in texts, whatever the two make of white space,
// case, Unicode forms, quotation marks and dashes.
package quotes

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Text is a text brought into one form: NFKC, case folded, one space for each
// run of white space, one mark for each kind of quotation mark and dash, and
// nothing that cannot be seen. It knows which bytes of the original each of its
// bytes came from, and takes some 17 times the original's memory.
type Text struct {
	folded     string
	start, end []int
}

// Fold brings a text into the form in which quotes are compared. It works
// segment by segment, so that offsets can be mapped back.
func Fold(text string) *Text {
	var t Text
	var b strings.Builder
	fold := cases.Fold()
	var it norm.Iter
	it.InitString(norm.NFKC, text)
	for !it.Done() {
		from := it.Pos()
		piece := fold.String(string(it.Next()))
		for _, r := range piece {
			t.add(&b, canonical(r), from, it.Pos())
		}
	}
	t.folded = b.String()
	return &t
}

// Folded is the text in its one form.
func (t *Text) Folded() string { return t.folded }

// Original gives the bytes of the original that the bytes [from, to) of Folded
// came from, where to > from.
func (t *Text) Original(from, to int) (start, end int) { return t.start[from], t.end[to-1] }

// Locate finds the first occurrence of a quote that stands on word boundaries;
// see Occurrences.
func Locate(text, quote string) (start, end int, ok bool) {
	for start, end := range Fold(text).Occurrences(quote) {
		return start, end, true
	}
	return 0, 0, false
}

// Occurrences yields where a quote stands on word boundaries, as byte offsets in
// the original. They never cut a character with its marks.
func (t *Text) Occurrences(quote string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		needle := strings.TrimSpace(Fold(quote).folded)
		if needle == "" {
			return
		}
		for from := 0; ; {
			i := strings.Index(t.folded[from:], needle)
			if i < 0 {
				return
			}
			i += from
			if onBoundary(t.folded, i) && onBoundary(t.folded, i+len(needle)) && !yield(t.Original(i, i+len(needle))) {
				return
			}
			_, size := utf8.DecodeRuneInString(t.folded[i:])
			from = i + size
		}
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
	return r != utf8.RuneError && IsWord(r)
}

// IsWord reports whether r belongs to a word: a letter, a digit or a mark.
func IsWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func (t *Text) add(b *strings.Builder, r rune, from, to int) {
	switch {
	case r < 0:
		return
	case r == ' ' && b.Len() > 0 && strings.HasSuffix(b.String(), " "):
		t.end[len(t.end)-1] = to
		return
	}
	before := b.Len()
	b.WriteRune(r)
	for range b.Len() - before {
		t.start, t.end = append(t.start, from), append(t.end, to)
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

// Pieces cuts a text into words, ideographs, runs of white space and single
// other characters, none of which is empty; joined they are the text.
func Pieces(text string) []string {
	pieces := make([]string, 0, len(text)/4+1)
	for len(text) > 0 {
		n := pieceLength(text)
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

func pieceLength(text string) int {
	first, size := utf8.DecodeRuneInString(text)
	kind := pieceKind(first)
	if kind == other {
		return size
	}
	for i, r := range text[size:] {
		if pieceKind(r) != kind {
			return size + i
		}
	}
	return len(text)
}

type piece int

const (
	other piece = iota
	space
	word
)

func pieceKind(r rune) piece {
	switch {
	case unicode.IsSpace(r):
		return space
	case spaced(r):
		return word
	}
	return other
}
