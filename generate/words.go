package generate

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goldgen/goldgen/retrieve"
)

// words returns the words of a text in lower case, punctuation dropped. Han and
// Hiragana give a word a character, Katakana a word a run.
func words(text string) []string {
	var list []string
	var word strings.Builder
	inKatakana := false
	flush := func() {
		if w := strings.Trim(word.String(), "'-_."); w != "" {
			list = append(list, w)
		}
		word.Reset()
	}
	for _, r := range strings.ToLower(text) {
		if katakana := isKatakana(r); katakana != inKatakana {
			flush()
			inKatakana = katakana
		}
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana):
			flush()
			list = append(list, string(r))
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune("'’-_.", r):
			word.WriteRune(r)
		default:
			flush()
		}
	}
	flush()
	return list
}

// isKatakana reports letters of that script, with the mark that makes a vowel
// long, which belongs to no script.
func isKatakana(r rune) bool { return r == 'ー' || unicode.In(r, unicode.Katakana) }

// overlap returns the share of the query's distinct terms that the text holds;
// 0 for a query without terms.
func overlap(query, text string) float64 { return share(termSet(query), termSet(text)) }

// share returns the share of terms that are in the set.
func share(terms, set map[string]bool) float64 {
	if len(terms) == 0 {
		return 0
	}
	n := 0
	for term := range terms {
		if set[term] {
			n++
		}
	}
	return float64(n) / float64(len(terms))
}

func termSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, term := range retrieve.Terms(text) {
		set[term] = true
	}
	return set
}

// longestRun returns the length in words of the longest run of words that both
// texts hold. Two characters of Han or Hiragana count as a word.
func longestRun(a, b string) int {
	x, y := words(a), words(b)
	prev, best := make([]int, len(y)+1), 0 // in half words
	for i := range x {
		row := make([]int, len(y)+1)
		for j := range y {
			if x[i] == y[j] {
				row[j+1] = prev[j] + halves(x[i])
				best = max(best, row[j+1])
			}
		}
		prev = row
	}
	return (best + 1) / 2
}

// halves is what a word counts, in half words.
func halves(word string) int {
	if first, _ := utf8.DecodeRuneInString(word); unicode.In(first, unicode.Han, unicode.Hiragana) {
		return 1
	}
	return 2
}

var deicticOpener = regexp.MustCompile(`(?i)^[^\p{L}]*(?:` +
	`this|these|those|that|it|its|they|their|he|she|his|her|such|however|therefore|thus|hence|moreover|furthermore|also|then|instead|otherwise|additionally|consequently|here|there|both|either|neither|meanwhile|similarly|likewise|again|finally|first|second|third|next|but|and|or|so|yet|nor|` +
	`for (?:example|instance)|in (?:addition|contrast|turn|particular|this|these|that|such|both)|as (?:a result|such|above|before|shown|described)|if so|to do (?:this|so|that)|at this|on the other|the (?:above|following|latter|former|same|other|second|previous)|after (?:this|that)|when this|because of this|note that (?:this|it)|we|our|i|` +
	`dies|diese[rsmn]?|er|sie|es|dabei|jedoch|daher|außerdem|dort|hier|dann|cela|ce|cet|cette|ces|il|elle|ils|elles|cependant|donc|ainsi|esto|este|esta|estos|estas|ello|además|también|sin embargo)(?:[^\p{L}]|$)` +
	`|^\P{L}*(?:この|その|あの|これ|それ|あれ|こちら|ここで|そこで|そのため|しかし|また|さらに|ただし|したがって|なお|例えば|` +
	`这|那|该|此|其|它|他们|她们|因此|所以|但是|然而|而且|同时|另外|例如|上述|如上)`)

// opensWithDeictic reports whether a sentence begins by pointing at another.
func opensWithDeictic(text string) bool { return deicticOpener.MatchString(text) }

var flaw = regexp.MustCompile(`(?i)\b(?:this|these|those|it|its|they|them|their|above|below|following|aforementioned|previous(?:ly)?|earlier|figure|fig|table|here)\b|\bref\s*\d|\[\d+\]|equation`)

// countFlaws counts the words that point out of the sentence.
func countFlaws(text string) int { return len(flaw.FindAllString(text, 5)) }

// languageName says a language as a model reads it.
func languageName(code string) string {
	switch code {
	case "de":
		return "German"
	case "fr":
		return "French"
	case "es":
		return "Spanish"
	case "it":
		return "Italian"
	case "pt":
		return "Portuguese"
	case "nl":
		return "Dutch"
	case "zh":
		return "Chinese"
	case "ja":
		return "Japanese"
	case "en":
		return "English"
	}
	return "the language of the text"
}
