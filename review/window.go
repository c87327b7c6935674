package review

import (
	"unicode/utf8"

	"github.com/goldgen/goldgen/corpus"
)

// windowOf is the part of a document that is shown around a passage: all of it
// where that is no more than MaxWindow bytes; else the passage in the middle, or
// its beginning where it is longer.
func windowOf(doc *corpus.Document, passage [2]int) Text {
	start := 0
	if len(doc.Text) > MaxWindow {
		beside := max(0, MaxWindow-(passage[1]-passage[0]))
		start = min(max(0, passage[0]-beside/2), len(doc.Text)-MaxWindow)
	}
	return textOf(doc, start, start+MaxWindow)
}

// textOf is bytes [start, end) of a document, both moved inwards to where a
// character begins, and cut to what it has and to MaxWindow.
func textOf(doc *corpus.Document, start, end int) Text {
	n := len(doc.Text)
	start = min(max(0, start), n)
	end = min(max(start, end), n, start+MaxWindow)
	for start < end && !utf8.RuneStart(doc.Text[start]) {
		start++
	}
	for end > start && end < n && !utf8.RuneStart(doc.Text[end]) {
		end--
	}
	return Text{Text: doc.Text[start:end], TextStart: start, DocumentBytes: n}
}
