package retrieve

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
	"github.com/blevesearch/segment"
)

// AnalysisVersion names the rules of Terms; it changes when they do, and with
// them what bm25 and ngram return.
const AnalysisVersion = "uax29-porter-lucene33/1"

// Terms returns the index terms of a text in order, repeated as they occur:
// words by Unicode's rules (UAX #29), lower case, without English possessives
// and Lucene's 33 English stop words, ASCII words Porter-stemmed. Runs of Han,
// Kana and other scripts written without spaces give overlapping pairs of
// characters, a run of one the character alone.
func Terms(text string) []string {
	var terms []string
	eachWord(text, func(word []byte, joined bool) {
		terms = append(terms, stemmed(string(word), joined)...)
	})
	return terms
}

// ContentWords returns what Terms does, unstemmed.
func ContentWords(text string) []string {
	var words []string
	eachWord(text, func(word []byte, _ bool) {
		if !isStopWord(string(word)) {
			words = append(words, string(word))
		}
	})
	return words
}

// stemmed is the index term of a word, or none for a stop word.
func stemmed(word string, joined bool) []string {
	switch {
	case isStopWord(word):
		return nil
	case joined:
		return []string{word}
	}
	return []string{stem(word)}
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

// eachWord calls f with each word of a text, lower case and without an English
// possessive; joined says that it is a piece of a script written without
// spaces. The bytes are only good until f returns.
func eachWord(text string, f func(word []byte, joined bool)) {
	var run joinedRun
	var word []byte
	segments := segment.NewSegmenterDirect([]byte(text))
	for segments.Segment() {
		piece := segments.Bytes()
		if isJoined(piece, segments.Type()) {
			run.runes = append(run.runes, []rune(string(piece))...)
			continue
		}
		run.flush(f)
		if segments.Type() == segment.None {
			continue
		}
		if word = normalise(word[:0], piece); len(word) > 0 {
			f(word, false)
		}
	}
	run.flush(f)
}

// isJoined reports whether a segment belongs to a script without spaces, which
// the segmenter cuts into characters: Han, Kana, Thai, Lao, Khmer, Burmese.
func isJoined(piece []byte, kind int) bool {
	if kind == segment.Ideo || kind == segment.Kana {
		return true
	}
	if kind != segment.None || len(piece) < 3 {
		return false
	}
	for _, r := range string(piece) {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	}
	return false
}

// joinedRun gathers neighbouring characters of a script without spaces.
type joinedRun struct {
	runes []rune
	pair  []byte
}

// flush gives the run's pairs of characters, or its only character.
func (g *joinedRun) flush(f func(word []byte, joined bool)) {
	if len(g.runes) == 1 {
		f([]byte(string(g.runes)), true)
	}
	for i := 1; i < len(g.runes); i++ {
		g.pair = utf8.AppendRune(utf8.AppendRune(g.pair[:0], g.runes[i-1]), g.runes[i])
		f(g.pair, true)
	}
	g.runes = g.runes[:0]
}

// normalise appends a word in lower case, without an English possessive.
func normalise(dst, word []byte) []byte {
	ascii := true
	for _, b := range word {
		ascii = ascii && b < utf8.RuneSelf
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	if !ascii {
		dst = append(dst[:len(dst)-len(word)], strings.ToLower(string(word))...)
		dst = bytes.TrimSuffix(dst, []byte("\u2019s"))
	}
	return bytes.TrimSuffix(dst, []byte("'s"))
}

// isStopWord knows the 33 words of Lucene's English stop set.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if",
		"in", "into", "is", "it", "no", "not", "of", "on", "or", "such", "that",
		"the", "their", "then", "there", "these", "they", "this", "to", "was",
		"will", "with":
		return true
	}
	return false
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
