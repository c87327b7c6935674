package generate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// Bounds of a target sentence, in words. Shorter ones are labels and stubs,
// longer ones hold more than one fact.
const (
	minTargetWords = 8
	maxTargetWords = 45
)

// target is a sentence that a query may be about.
type target struct {
	start, end int    // byte offsets in the document
	text       string // these bytes
	said       string // text without the marks that a comment has within it
	kind       lineKind
	terms      map[string]bool
	idf        float64 // mean over its distinct terms
	words      int
	flaws      int // what makes it depend on its neighbours
	whole      bool
}

// targets returns the sentences of the chunk fit to be asked about, best first:
// whole prose sentences of 8 to 45 words that stand alone, by mean idf, ties by
// place. Source of the criteria: reading what small models make of other ones.
func targets(u Unit, stats Stats) []target {
	return slices.DeleteFunc(sentences(u, stats), func(t target) bool { return !t.good() })
}

// anyTargets returns every sentence that holds a term, best first: what
// a writer without a model falls back on.
func anyTargets(u Unit, stats Stats) []target {
	return slices.DeleteFunc(sentences(u, stats), func(t target) bool { return t.idf == 0 })
}

func (t target) good() bool {
	return t.whole && t.kind == prose && t.words >= minTargetWords && t.words <= maxTargetWords &&
		!opensWithDeictic(t.said) && mostlyLetters(t.said) && endsStatement(t.said)
}

// score orders good targets: what leans on its neighbours comes last.
func (t target) score() float64 { return t.idf - float64(1.5*float64(t.flaws)) }

// sentences returns all sentences of the unit's first chunk, best first. Those of
// code are what its comments say.
func sentences(u Unit, stats Stats) []target {
	chunk := &u.Chunks[0]
	list := proseSentences(u, stats)
	if isCode(chunk) {
		if spoken := commentSentences(chunk, stats); len(spoken) > 0 {
			list = spoken
		}
	}
	slices.SortStableFunc(list, func(a, b target) int { return cmp.Compare(b.score(), a.score()) })
	return list
}

// proseSentences are those of a chunk's text as it stands; of code they are no
// prose.
func proseSentences(u Unit, stats Stats) []target {
	chunk := &u.Chunks[0]
	kinds := lineKinds(u.Doc.Text, chunk.Start, chunk.End)
	var list []target
	for _, span := range corpus.Sentences(chunk.Text) {
		start, end := trimSpan(chunk.Text, span.Start, span.End)
		if start >= end {
			continue
		}
		t := newTarget(chunk, start, end, chunk.Text[start:end], stats)
		if t.kind = kinds.at(t.start); isCode(chunk) {
			t.kind = code
		}
		t.whole = start > 0 && strings.TrimSpace(chunk.Text[:start]) != "" || beginsSentence(u.Doc.Text, t.start)
		list = append(list, t)
	}
	return list
}

// commentSentences are those of the comments and doc strings of code.
func commentSentences(chunk *corpus.Chunk, stats Stats) []target {
	var list []target
	for _, c := range commentsOf(chunk) {
		kinds := lineKinds(c.text, 0, len(c.text))
		for _, span := range corpus.Sentences(c.text) {
			from, to := trimSpan(c.text, span.Start, span.End)
			if from >= to {
				continue
			}
			start, end := c.span(from, to)
			t := newTarget(chunk, start, end, strings.Join(strings.Fields(c.text[from:to]), " "), stats)
			t.kind, t.whole = kinds.at(from), beginsSentence(c.text, from)
			if !c.doc {
				t.flaws++
			}
			list = append(list, t)
		}
	}
	return list
}

// newTarget is the sentence at [start, end) of a chunk, which reads said.
func newTarget(chunk *corpus.Chunk, start, end int, said string, stats Stats) target {
	terms := termSet(said)
	return target{
		start: chunk.Start + start, end: chunk.Start + end, text: chunk.Text[start:end], said: said,
		terms: terms, idf: meanIDF(terms, stats), words: wordCount(said), flaws: countFlaws(said),
	}
}

// pickTarget returns the sentence of the row's slot: the best for the first
// slot, and another one for each further slot; query types start at different
// places, so that a chunk is not asked the same thing in two wordings.
func pickTarget(u Unit, stats Stats) (target, error) {
	list := targets(u, stats)
	if len(list) == 0 {
		return target{}, fmt.Errorf("chunk %s: no whole prose sentence of %d-%d words that stands alone",
			u.Chunks[0].ID, minTargetWords, maxTargetWords)
	}
	if u.Row.Slot >= len(list) {
		return target{}, fmt.Errorf("chunk %s: %d sentences fit to be asked about, slot %d has none left",
			u.Chunks[0].ID, len(list), u.Row.Slot)
	}
	return list[(u.Row.Slot+typeOffset(u.Row.QueryType))%len(list)], nil
}

func typeOffset(queryType string) int {
	switch queryType {
	case datasets.Keyword:
		return 1
	case datasets.Reformulated:
		return 2
	}
	return 0
}

func (t target) evidence(u Unit) datasets.Evidence {
	return datasets.Evidence{DocID: u.Chunks[0].DocID, ChunkID: u.Chunks[0].ID, Start: t.start, End: t.end, Quote: t.text}
}

func meanIDF(terms map[string]bool, stats Stats) float64 {
	if len(terms) == 0 {
		return 0
	}
	sum := 0.0
	for _, term := range slices.Sorted(maps.Keys(terms)) { // sums depend on the order
		sum += stats.IDF(term)
	}
	return sum / float64(len(terms))
}

// trimSpan drops white space and a list marker.
func trimSpan(text string, start, end int) (int, int) {
	s := text[start:end]
	end = start + len(strings.TrimRightFunc(s, unicode.IsSpace))
	s = text[start:end]
	start = end - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	s = text[start:end]
	if n := listMarker(s); n > 0 {
		start += n
	}
	return start, end
}

// beginsSentence reports whether what stands before at ends a sentence or a
// block: a chunk may have been cut within a sentence.
func beginsSentence(text string, at int) bool {
	before := text[max(0, at-200):at]
	trimmed := strings.TrimRightFunc(before, unicode.IsSpace)
	if trimmed == "" {
		return true
	}
	if strings.Count(before[len(trimmed):], "\n") >= 2 {
		return true
	}
	lastLine := trimmed[strings.LastIndexByte(trimmed, '\n')+1:]
	return strings.HasPrefix(lastLine, "#") || strings.ContainsAny(trimmed[len(trimmed)-1:], ".!?:;|>") || endsWithAny(trimmed, "。", "！", "？", "…", ".)", ".”", ".\"")
}

func endsWithAny(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}

// endsStatement reports whether the text ends as a statement does: not a
// question, not the opening of a list.
func endsStatement(text string) bool {
	text = strings.TrimRight(text, "\"'”’)*_`]")
	return endsWithAny(text, ".", "!", "。", "！") && !strings.HasSuffix(text, "...")
}

// mostlyLetters refuses formulas, paths and rows of figures.
func mostlyLetters(text string) bool {
	letters, all := 0, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return all > 0 && float64(letters) >= float64(0.75*float64(all)) && !strings.Contains(text, "://")
}
