package corpus

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// ruler measures spans of one text in tokens or characters. The text is read
// once; every question after that is a binary search.
type ruler struct {
	text   string
	starts []int // offset of each unit
}

func newRuler(text, unit string, tokens *tokenCounter) *ruler {
	if unit == "characters" {
		starts := make([]int, 0, len(text))
		for i := range text {
			starts = append(starts, i)
		}
		return &ruler{text, starts}
	}
	return &ruler{text, tokens.starts(text)}
}

// index is the number of units that start before offset.
func (r *ruler) index(offset int) int {
	i, _ := slices.BinarySearch(r.starts, offset)
	return i
}

func (r *ruler) count(s Span) int { return r.index(s.End) - r.index(s.Start) }

// offset is where unit i starts, moved back to the start of its rune.
func (r *ruler) offset(i int) int {
	if i >= len(r.starts) {
		return len(r.text)
	}
	return runeFloor(r.text, r.starts[max(i, 0)])
}

// reach is the end of the longest span from start with at most n units; it
// holds at least one rune.
func (r *ruler) reach(start, n int) int {
	end := r.offset(r.index(start) + n)
	if end <= start {
		_, w := utf8.DecodeRuneInString(r.text[start:])
		end = start + w
	}
	return end
}

// trim narrows a span to its text without white space around it.
func trim(text string, s Span) Span {
	for s.Start < s.End {
		c, w := utf8.DecodeRuneInString(text[s.Start:s.End])
		if !unicode.IsSpace(c) {
			break
		}
		s.Start += w
	}
	for s.Start < s.End {
		c, w := utf8.DecodeLastRuneInString(text[s.Start:s.End])
		if !unicode.IsSpace(c) {
			break
		}
		s.End -= w
	}
	return s
}
