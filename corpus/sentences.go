package corpus

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Span is a byte range [Start, End) of a text.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Sentences returns the spans of the sentences of a Markdown or plain text, in
// order and without white space around them. Sentences run over the line ends
// of a paragraph, never over the end of a block. Markers of headings, lists and
// quotes are left out; a heading, a row of a table and a block of code are one
// span each. Boundaries are those of Unicode Standard Annex 29, but for common
// abbreviations, initials and bare numbers, after which a sentence goes on.
func Sentences(text string) []Span {
	var spans []Span
	for _, b := range textBlocks(text) {
		if b.prose {
			spans = appendSentences(spans, text, b)
		} else if s := trim(text, b.span); s.Start < s.End {
			spans = append(spans, s)
		}
	}
	return spans
}

// appendSentences cuts one block of prose. Line ends and the markers of
// continued lines are blanked byte by byte, so that offsets stay true.
func appendSentences(spans []Span, text string, b textBlock) []Span {
	joined := []byte(text[b.span.Start:b.span.End])
	for _, m := range b.blank {
		for i := m.Start; i < m.End; i++ {
			joined[i-b.span.Start] = ' '
		}
	}
	raiseBeginnings(joined)
	rest, offset, state, open := string(joined), b.span.Start, -1, -1
	for rest != "" {
		var sentence string
		sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
		start := offset
		if open >= 0 {
			start = open
		}
		offset += len(sentence)
		if goesOn(string(joined[start-b.span.Start:offset-b.span.Start]), rest) {
			open = start
			continue
		}
		open = -1
		if s := trim(text, Span{start, offset}); s.Start < s.End {
			spans = append(spans, s)
		}
	}
	return spans
}

var (
	titles    = regexp.MustCompile(`(?i)(?:^|[\s("'\[])(?:dr|mr|mrs|ms|prof|st|vs|e\.g|i\.e|cf|approx|gen|col|sgt|rev|hon|resp|incl)\.$`)
	numbered  = regexp.MustCompile(`(?i)(?:^|[\s("'\[])(?:fig|figs|no|nos|eq|sec|ch|vol|pp|p|art|par|tab)\.$`)
	initials  = regexp.MustCompile(`(?:^|[\s("'\[])(?:\p{Lu}\.)+$`)
	bareCount = regexp.MustCompile(`^\s*\(?(?:\d+|[a-zA-Z]|[ivxIVX]+)[.)]$`)
)

var (
	// loneEnd is a sentence's end that stands alone, as in tokenised text.
	loneEnd = regexp.MustCompile(`\s[.!?]\s+["'(]?[a-z]`)
	lowEnd  = regexp.MustCompile(`[.!?]["')]?\s+["'(]?[a-z]`)
)

// raiseBeginnings makes capitals of the letters that begin sentences in text
// that is written without capitals or with its punctuation set apart: the
// segmenter takes a small letter after a full stop for the same sentence. Only
// ASCII letters change, so offsets stay true.
func raiseBeginnings(block []byte) {
	ends := loneEnd
	if isLower(block) {
		ends = lowEnd
	}
	for _, m := range ends.FindAllIndex(block, -1) {
		block[m[1]-1] -= 'a' - 'A'
	}
}

// isLower reports text with letters and no capital among them.
func isLower(text []byte) bool {
	letters := false
	for _, r := range string(text) {
		if unicode.IsUpper(r) {
			return false
		}
		letters = letters || unicode.IsLower(r)
	}
	return letters
}

// goesOn reports whether a sentence that the segmenter ended goes on in rest.
func goesOn(sentence, rest string) bool {
	if strings.TrimSpace(rest) == "" {
		return false
	}
	end := strings.TrimRightFunc(sentence, unicode.IsSpace)
	if !strings.HasSuffix(end, ".") && !strings.HasSuffix(end, ")") {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	tail := end[runeFloor(end, max(0, len(end)-16)):]
	switch {
	case bareCount.MatchString(end), titles.MatchString(tail), initials.MatchString(tail):
		return true
	case numbered.MatchString(tail):
		return unicode.IsDigit(next)
	}
	return false
}
