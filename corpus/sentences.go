package corpus

import (
	"bytes"
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
	closeQuotes(joined)
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

// Abbreviations after which a sentence goes on: of English, German, French and
// Spanish. titles and numbered are looked for in the last word alone: to try so
// many at each word of a sentence takes longer than to find where it ends.
var (
	titles = regexp.MustCompile(`(?i)^(?:` +
		`dr|mr|mrs|ms|prof|st|vs|e\.g|i\.e|cf|approx|gen|col|sgt|rev|hon|resp|incl|` +
		`bzw|ca|vgl|ggf|evtl|inkl|exkl|zzgl|sog|geb|hr|frau|z\.b|d\.h|u\.a|z\.t|s\.o|s\.u|` +
		`mme|mlle|mgr|p\.ex|c\.-à-d|env|av|` +
		`sr|sra|srta|dra|ud|uds|vd|ee|p\.ej|aprox|lic|ing)\.$`)
	numbered = regexp.MustCompile(`(?i)^(?:fig|figs|no|nos|eq|sec|ch|vol|pp|p|art|par|tab|` +
		`jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|` +
		`nr|abs|abb|kap|bd|s|ziff|núm|pág|págs|cap|chap|éd)\.$`)
	// spaced are those of two words.
	spaced    = regexp.MustCompile(`(?i)(?:^|[\s("'\[])p\.\s(?:ex|ej)\.$`)
	initials  = regexp.MustCompile(`(?:^|[\s("'\[])(?:\p{Lu}\.)+$`)
	bareCount = regexp.MustCompile(`^\s*\(?(?:\d+|[a-zA-Z]|[ivxIVX]+)[.)]$`)
	// halved is the first letter of an abbreviation of two: "z. B.".
	halved = regexp.MustCompile(`[\s("'\[]\p{Ll}\.$`)
	half   = regexp.MustCompile(`^\p{L}\.`)
	// ordinal is a German number that counts what follows: "am 3. Mai".
	ordinal = regexp.MustCompile(`(?i)(?:^|[\s("'\[])(?:am|im|vom|zum|zur|beim|bis|ab|seit|der|die|das|dem|den|des|ein|eine[mnr]?|jede[mnrs]?)\s+\d{1,3}\.$`)
	dayOf   = regexp.MustCompile(`(?:^|\s)\d{1,2}\.$`)
	month   = regexp.MustCompile(`^\s*(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)(?:\P{L}|$)`)
	// quoted is the end of a quotation that may be a part of its sentence.
	quoted = regexp.MustCompile(`[.!?。！？](?:\s?[»«]|["'”’“」』)）])+$`)
	// particle begins what a Japanese sentence says of a quotation before it.
	particle = regexp.MustCompile(`^(?:と|って|という|など|の|を|は|が|に|で|も|から|まで)`)
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

// spacedQuote is a French quotation's end, set apart by a space of one, two or
// three bytes.
var spacedQuote = regexp.MustCompile("[.!?]([ \u00a0\u202f]»)")

// closeQuotes makes marks of as many bytes, without the space, of the French ones
// that end a quotation: the segmenter would end the sentence before them.
func closeQuotes(block []byte) {
	if !bytes.Contains(block, []byte("»")) {
		return
	}
	for _, m := range spacedQuote.FindAllSubmatchIndex(block, -1) {
		mark := block[m[2]:m[3]]
		copy(mark, map[int]string{3: "”", 4: "»»", 5: "”»"}[len(mark)])
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
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if next == "" {
		return false
	}
	end := strings.TrimRightFunc(sentence, unicode.IsSpace)
	tail := end[runeFloor(end, max(0, len(end)-24)):]
	first, _ := utf8.DecodeRuneInString(next)
	stop := strings.HasSuffix(end, ".")
	if !stop && quoted.MatchString(tail) {
		return unicode.IsLower(first) || particle.MatchString(next)
	}
	if !stop && !strings.HasSuffix(end, ")") {
		return false
	}
	word := end[strings.LastIndexAny(end, " \t\n\f\r(\"'[")+1:]
	switch {
	case bareCount.MatchString(end), titles.MatchString(word), spaced.MatchString(tail), initials.MatchString(tail):
		return true
	case numbered.MatchString(word):
		return unicode.IsDigit(first)
	case ordinal.MatchString(tail):
		return unicode.IsUpper(first)
	case halved.MatchString(tail):
		return half.MatchString(next)
	}
	return dayOf.MatchString(tail) && month.MatchString(next)
}
