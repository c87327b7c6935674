package sample

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goldgen/goldgen/corpus"
)

// word is a word of a text as it is spelled there.
type word struct {
	text  string
	opens bool // the first of a sentence or a line: a capital says nothing
}

// wordsOf gives the words of a text: letters and digits with what joins them
// (- _ . /) in between. Words of scripts written without spaces are left out:
// where they end cannot be seen.
func wordsOf(text string) []word {
	var out []word
	opens := true
	for len(text) > 0 {
		n := strings.IndexFunc(text, inWord)
		if n < 0 {
			break
		}
		opens = opens || strings.ContainsAny(text[:n], ".!?:;\n#|")
		text = text[n:]
		end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) && !strings.ContainsRune("-_./'’", r) })
		if end < 0 {
			end = len(text)
		}
		w := strings.TrimRight(text[:end], "-_./'’")
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
		if !strings.ContainsFunc(w, unspaced) {
			out = append(out, word{w, opens})
		}
		opens = len(w) < end && strings.HasSuffix(text[:end], ".")
		text = text[end:]
	}
	return out
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Kinds of term, the most telling first.
const (
	termAcronym = iota + 1 // MTBF
	termCode               // P-20, max_retries, ERR4012
	termName               // Lyon, in the middle of a sentence
)

// kindOf tells what a word names by its look; 0 for an ordinary word.
func (w word) kindOf() int {
	upper, lower, digits, joints, inner := 0, 0, 0, 0, false
	for i, r := range w.text {
		switch {
		case unicode.IsUpper(r):
			upper++
			inner = inner || i > 0 && lower > 0
		case unicode.IsLower(r):
			lower++
		case unicode.IsDigit(r):
			digits++
		default:
			joints++
		}
	}
	switch {
	case upper+lower == 0 || utf8.RuneCountInString(w.text) > 40:
		return 0
	case upper >= 2 && lower == 0 && digits == 0 && joints == 0 && upper <= 6:
		return termAcronym
	case digits > 0 && upper+digits >= 2, strings.Contains(w.text, "_"), inner && joints == 0:
		return termCode
	case upper == 1 && lower >= 3 && joints == 0 && !w.opens && startsUpper(w.text):
		return termName
	}
	return 0
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// termsOf gives the distinct terms of a text with their kinds, the most telling
// kind first, then in the order of the text.
func termsOf(text string) []string {
	kinds := map[string]int{}
	var out []string
	for _, w := range wordsOf(text) {
		if k := w.kindOf(); k > 0 && kinds[w.text] == 0 {
			kinds[w.text] = k
			out = append(out, w.text)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return kinds[a] - kinds[b] })
	return out
}

// hasTerm reports whether a text has a term as a word or words of its own, in any
// case.
func hasTerm(text, term string) bool {
	text, term = strings.ToLower(text), strings.ToLower(term)
	for at := 0; term != ""; {
		n := strings.Index(text[at:], term)
		if n < 0 {
			return false
		}
		start, end := at+n, at+n+len(term)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if (start == 0 || !inWord(before)) && (end == len(text) || !inWord(after)) {
			return true
		}
		at = start + 1
	}
	return false
}

var (
	expansionFirst = regexp.MustCompile(`((?:[\p{L}][\p{L}’'-]*[ -]){1,8}[\p{L}][\p{L}’'-]*) \((\p{Lu}{2,6})s?\)`)
	acronymFirst   = regexp.MustCompile(`\b(\p{Lu}{2,6})s? \(((?:[\p{L}][\p{L}’'-]*[ -]){1,8}[\p{L}][\p{L}’'-]*)\)`)
)

// definition is an acronym with what it stands for.
type definition struct{ acronym, expansion string }

// definitions finds the acronyms that a text expands: "mean time between
// failures (MTBF)" and "MTBF (mean time between failures)". The initials must
// fit (after Schwartz and Hearst, PSB 2003).
func definitions(text string) []definition {
	var out []definition
	for _, m := range expansionFirst.FindAllStringSubmatch(text, -1) {
		if e := expansionOf(m[2], m[1]); e != "" {
			out = append(out, definition{m[2], e})
		}
	}
	for _, m := range acronymFirst.FindAllStringSubmatch(text, -1) {
		if e := expansionOf(m[1], m[2]); e == m[2] {
			out = append(out, definition{m[1], e})
		}
	}
	return out
}

// expansionOf gives the shortest tail of a phrase whose words' initials are the
// acronym's letters; little words between them may be passed over.
func expansionOf(acronym, phrase string) string {
	starts := wordStarts(phrase)
	for i := len(starts) - 1; i >= 0; i-- {
		if spells(phrase, starts[i:], []rune(strings.ToLower(acronym))) {
			return phrase[starts[i]:]
		}
	}
	return ""
}

func wordStarts(phrase string) []int {
	var starts []int
	for i := range phrase {
		if i == 0 || phrase[i-1] == ' ' || phrase[i-1] == '-' {
			starts = append(starts, i)
		}
	}
	return starts
}

func spells(phrase string, starts []int, letters []rune) bool {
	for _, at := range starts {
		r, _ := utf8.DecodeRuneInString(phrase[at:])
		if len(letters) > 0 && unicode.ToLower(r) == letters[0] {
			letters = letters[1:]
			continue
		}
		if end := strings.IndexAny(phrase[at:]+" ", " -"); end > 3 || at == starts[0] {
			return false
		}
	}
	return len(letters) == 0
}

// heading is the last heading that a chunk stands under, as one compares it.
func heading(c *corpus.Chunk) string {
	if len(c.HeadingPath) == 0 {
		return ""
	}
	return foldSpace(c.HeadingPath[len(c.HeadingPath)-1])
}

func foldSpace(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// Setting is where a chunk stands and what it says: its document, its headings
// and its text.
func Setting(c *corpus.Chunk) string {
	return c.DocID + "\n" + strings.Join(c.HeadingPath, "\n") + "\n" + c.Text
}

// alike reports whether two chunks say the same, or nearly so.
func alike(a, b *member) bool {
	return a.ID == b.ID || a.ExactGroup != "" && a.ExactGroup == b.ExactGroup || a.NearGroup != "" && a.NearGroup == b.NearGroup
}
