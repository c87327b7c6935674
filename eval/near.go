package eval

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// pointed says what is wrong with a text at a byte of it, counted in characters.
func pointed(text string, at int, why string, near []string) string {
	s := fmt.Sprintf("%q: character %d: %s", text, utf8.RuneCountInString(text[:at])+1, why)
	if len(near) > 0 {
		s += "; near it: " + strings.Join(near, ", ")
	}
	return s
}

// caret shows a text with a mark under a byte of it.
func caret(text string, at int) string {
	return text + "\n" + strings.Repeat(" ", utf8.RuneCountInString(text[:at])) + "^"
}

// distance is how many letters of two names differ, in any case.
func distance(a, b string) int {
	return levenshtein.ComputeDistance(strings.ToLower(a), strings.ToLower(b))
}

// looksLike reports whether something at that distance from name may have been
// meant as it. Two neighbours that changed places are a distance of 2, and may
// be where a name has three letters.
func looksLike(distance int, name string) bool { return distance <= 1+(len(name)+1)/4 }

// nearest lists up to three of the names, those most like the one given first.
func nearest(name string, names []string) []string {
	out := slices.Clone(names)
	slices.SortStableFunc(out, func(a, b string) int { return distance(name, a) - distance(name, b) })
	return out[:min(3, len(out))]
}

// nearWords lists up to three of the words that look like word, nearest first;
// up to five words at all where none does.
func nearWords(word string, words []string) []string {
	near := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !looksLike(distance(word, w), w) })
	if len(near) == 0 {
		return words[:min(5, len(words))]
	}
	return nearest(word, near)
}
