package judge

import (
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/clip"
)

// CutPassage shortens a text to at most limit bytes, at the end of a sentence
// where there is one in the second half of what fits, else between words, else
// between characters. cut says whether anything was left out.
func CutPassage(text string, limit int) (passage string, cut bool) {
	if len(text) <= limit {
		return text, false
	}
	head := clip.Bytes(text, limit)
	for _, end := range []int{sentenceEnd(text, len(head)), strings.LastIndexAny(head, " \t\r\n")} {
		if end > 0 && end >= len(head)/2 {
			return strings.TrimRight(head[:end], " \t\r\n"), true
		}
	}
	return head, true
}

// sentenceEnd is the last offset up to limit at which a sentence of text ends.
func sentenceEnd(text string, limit int) int {
	end := 0
	for _, s := range corpus.Sentences(text) {
		if s.End <= limit {
			end = max(end, s.End)
		}
	}
	return end
}
