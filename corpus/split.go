package corpus

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Levels at which a piece that is too long is cut, coarse to fine.
const (
	levelParagraphs = iota
	levelLines
	levelSentences
	levelWords
	levelUnits
)

var (
	paragraphEnd = regexp.MustCompile(`\n[ \t\r]*\n\s*`)
	sentenceEnd  = regexp.MustCompile(`[.!?]["')\]]*\s+|[。！？]`)
	wordEnd      = regexp.MustCompile(`\s+`)
)

// split cuts a piece into pieces of at most Size units, at the coarsest level
// that does.
func (k *Chunker) split(r *ruler, p piece, level int) []piece {
	if r.count(p.Span) <= k.cfg.Size {
		return []piece{p}
	}
	if level >= levelUnits {
		return k.splitUnits(r, p)
	}
	var pieces []piece
	for _, part := range splitLevel(r.text, p, level) {
		pieces = append(pieces, k.split(r, part, level+1)...)
	}
	return pieces
}

// splitUnits cuts a piece without any white space.
func (k *Chunker) splitUnits(r *ruler, p piece) []piece {
	var pieces []piece
	for start := p.Start; start < p.End; {
		end := min(r.reach(start, k.cfg.Size), p.End)
		pieces = append(pieces, piece{Span{start, end}, p.solid})
		start = end
	}
	return pieces
}

// splitLevel cuts a piece after each separator of a level; the parts cover it.
func splitLevel(text string, p piece, level int) []piece {
	if level == levelLines {
		return splitLines(text, p)
	}
	re := wordEnd
	switch level {
	case levelParagraphs:
		re = paragraphEnd
	case levelSentences:
		re = sentenceEnd
	}
	var parts []piece
	start := p.Start
	for _, m := range re.FindAllStringIndex(text[p.Start:p.End], -1) {
		if end := p.Start + m[1]; end < p.End {
			parts = append(parts, piece{Span{start, end}, p.solid})
			start = end
		}
	}
	return append(parts, piece{Span{start, p.End}, p.solid})
}

func splitLines(text string, p piece) []piece {
	var parts []piece
	start := p.Start
	for line := range strings.Lines(text[p.Start:p.End]) {
		parts = append(parts, piece{Span{start, start + len(line)}, p.solid})
		start += len(line)
	}
	return parts
}

// boundary is the offset in text of the first line, sentence or word that
// starts there, in this order of preference; 0 when there is none.
func boundary(text string) int {
	for _, re := range []*regexp.Regexp{lineEnd, sentenceEnd, wordEnd} {
		if m := re.FindStringIndex(text); m != nil && strings.TrimSpace(text[m[1]:]) != "" {
			return m[1]
		}
	}
	return 0
}

var lineEnd = regexp.MustCompile(`\n\s*`)

// runeCeil is the first start of a rune at or after offset i.
func runeCeil(text string, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}
