package datasets

import (
	"maps"
	"slices"

	"github.com/goldgen/goldgen/internal/quotes"
)

// mostPlaces is in how many places a text may stand and still be evidence: what
// stands in more of them answers nothing by itself.
const mostPlaces = 5

// site is where a text stands: a span of a document.
type site struct {
	doc   string
	span  Span
	quote string // the document's bytes there
}

// longWords is from how many words on a text is looked for without its first and last
// word too: another tool may have cut it inside of a word.
const longWords = 10

// locate looks for texts in all documents of a corpus, up to white space, case and
// typography, on word boundaries. Texts of fewer than leastWords words, which stand
// anywhere, are not looked for; of one that stands in more than mostPlaces places,
// mostPlaces+1 are given. Sites are in the order of the documents.
func locate(texts []string, view RebaseView) (map[string][]site, error) {
	sites, err := locateWhole(texts, view)
	if err != nil {
		return nil, err
	}
	inner := map[string]string{}
	for _, text := range texts {
		if words := wordsOf(quotes.Fold(text)); len(sites[text]) == 0 && len(words) >= longWords {
			inner[text] = innerWords(text)
		}
	}
	cut, err := locateWhole(slices.Sorted(maps.Values(inner)), view)
	for text, part := range inner {
		sites[text] = cut[part]
	}
	return sites, err
}

// innerWords is a text without its first and last word.
func innerWords(text string) string {
	folded := quotes.Fold(text)
	words := wordsOf(folded)
	start, end := folded.Original(words[1].from, words[len(words)-2].to)
	return text[start:end]
}

// locateWhole looks for the whole of texts.
func locateWhole(texts []string, view RebaseView) (map[string][]site, error) {
	wanted := map[string][]string{} // first words of texts -> texts
	for _, text := range slices.Compact(texts) {
		folded := quotes.Fold(text)
		if words := wordsOf(folded); len(words) >= leastWords {
			key := firstWords(folded, words)
			wanted[key] = append(wanted[key], text)
		}
	}
	sites := map[string][]site{}
	if len(wanted) == 0 {
		return sites, nil
	}
	for doc, err := range view.Documents() {
		if err != nil {
			return nil, err
		}
		folded := quotes.Fold(doc.Text)
		for text := range candidates(folded, wanted) {
			for start, end := range folded.Occurrences(text) {
				if len(sites[text]) > mostPlaces {
					break
				}
				sites[text] = append(sites[text], site{doc.ID, Span{start, end}, doc.Text[start:end]})
			}
		}
	}
	return sites, nil
}

// firstWords are the first words of a folded text, with what stands between them.
func firstWords(folded *quotes.Text, words []wordAt) string {
	return folded.Folded()[words[0].from:words[leastWords-1].to]
}

// candidates are the texts whose first words stand somewhere in a folded text.
func candidates(folded *quotes.Text, wanted map[string][]string) map[string]bool {
	out := map[string]bool{}
	words := wordsOf(folded)
	for i := 0; i+leastWords <= len(words); i++ {
		for _, text := range wanted[firstWords(folded, words[i:])] {
			out[text] = true
		}
	}
	return out
}
