package retrieve

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
	"github.com/blevesearch/segment"
)

// Terms returns the index terms of a text in order, repeated as they occur:
// words by Unicode's rules (UAX #29), lower case, without English possessives
// and Lucene's 33 English stop words, ASCII words Porter-stemmed. Runs of Han,
// Kana and other scripts written without spaces give overlapping pairs of
// characters, a run of one the character alone.
func Terms(text string) []string {
	return analyse(text, stem)
}

// ContentWords returns what Terms does, unstemmed.
func ContentWords(text string) []string {
	return analyse(text, func(word string) string { return word })
}

func analyse(text string, finish func(string) string) []string {
	var terms []string
	var run ideographs
	for seg := range segments(text) {
		if seg.kind == segment.Ideo || seg.kind == segment.Kana {
			terms = run.add(terms, seg)
			continue
		}
		terms = run.flush(terms)
		if seg.kind == segment.None {
			continue
		}
		if word := normalise(seg.text); word != "" && !isStopWord(word) {
			terms = append(terms, finish(word))
		}
	}
	return run.flush(terms)
}

// normalise lowers a word and cuts an English possessive.
func normalise(word string) string {
	word = strings.ToLower(word)
	for _, suffix := range [...]string{"'s", "\u2019s"} {
		word = strings.TrimSuffix(word, suffix)
	}
	return word
}

// stem applies Porter's rules to words of ASCII letters only; others, and
// those with digits, are names or another language.
func stem(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := 0; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(word)))
}

type segmentOf struct {
	text  string
	kind  int
	start int
}

// segments yields the segments of a text with their byte offsets.
func segments(text string) func(yield func(segmentOf) bool) {
	return func(yield func(segmentOf) bool) {
		seg := segment.NewSegmenterDirect([]byte(text))
		at := 0
		for seg.Segment() {
			b := seg.Bytes()
			if !yield(segmentOf{text: string(b), kind: seg.Type(), start: at}) {
				return
			}
			at += len(b)
		}
	}
}

// ideographs gathers neighbouring characters of scripts without spaces.
type ideographs struct {
	runes []rune
	end   int // byte offset after the last
}

func (g *ideographs) add(terms []string, seg segmentOf) []string {
	if len(g.runes) > 0 && seg.start != g.end {
		terms = g.flush(terms)
	}
	for _, r := range seg.text {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			g.runes = append(g.runes, r)
		}
	}
	g.end = seg.start + len(seg.text)
	return terms
}

func (g *ideographs) flush(terms []string) []string {
	if len(g.runes) == 1 {
		terms = append(terms, string(g.runes))
	}
	for i := 1; i < len(g.runes); i++ {
		terms = append(terms, string(g.runes[i-1:i+1]))
	}
	g.runes = g.runes[:0]
	return terms
}

// isStopWord knows the 33 words of Lucene's English stop set.
func isStopWord(word string) bool {
	if len(word) > 5 || utf8.RuneCountInString(word) != len(word) {
		return false
	}
	switch word {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if",
		"in", "into", "is", "it", "no", "not", "of", "on", "or", "such", "that",
		"the", "their", "then", "there", "these", "they", "this", "to", "was",
		"will", "with":
		return true
	}
	return false
}
