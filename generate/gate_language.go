package generate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// Language refuses queries in another language than the chunk's, or than the one
// asked for. A language that cannot be told passes: queries are short, and
// detectors take short English for German. So a query is refused only if its
// script is another one, or if it has words that only another language has and
// none of the chunk's own. Value: 1 when the two are the same, .5 when that cannot
// be told, 0 when they differ.
func Language(c Candidate) Verdict {
	if c.Type == datasets.Keyword {
		return verdict("language", true, .5, "") // names and nouns: nothing can be told
	}
	crosses := c.Chunk.Language != "" && c.Language != "" && c.Chunk.Language != c.Language
	sameScript := script(c.Query) == script(c.Chunk.Text)
	if !crosses && !sameScript {
		return verdict("language", false, 0, "another script than the chunk's")
	}
	if crosses && sameScript && corpus.Language(c.Query) == c.Chunk.Language {
		return verdict("language", false, 0, "%s as the chunk, not %s", c.Chunk.Language, c.Language)
	}
	got := queryLanguage(c.Query, c.Language)
	switch {
	case got == "" || c.Language == "":
		return verdict("language", true, .5, "")
	case got == c.Language:
		return verdict("language", true, 1, "")
	}
	return verdict("language", false, 0, "%s, not %s", got, c.Language)
}

// minLanguageWords is the length from which a detector is asked about languages
// whose common words are not listed here.
const minLanguageWords = 8

// queryLanguage tells the language of a query that should be in want; "" is
// unsure.
func queryLanguage(query, want string) string {
	if script(query) == "cjk" {
		return cjkLanguage(query, want)
	}
	counts, theirs, ours := commonIn(query, want)
	own, best, name := counts[want], 0, ""
	apart := ""
	for _, lang := range listedLanguages() {
		if lang != want && counts[lang] > best {
			best, name = counts[lang], lang
		}
		if theirs[lang] >= 2 && ours[lang] == 0 && (apart == "" || theirs[lang] > theirs[apart]) {
			apart = lang
		}
	}
	switch {
	case apart != "" && counts[apart] == best:
		return apart
	case own > 0 && own >= best:
		return want
	case best >= 2 && best >= 2*own+2:
		return name
	case own == 0 && best == 0 && wordCount(query) >= minLanguageWords:
		return corpus.Language(query)
	}
	return ""
}

// commonIn counts a query's common words by language; theirs are those that the
// language has and want lacks, ours those that want has and the language lacks.
func commonIn(query, want string) (counts, theirs, ours map[string]int) {
	counts, theirs, ours = map[string]int{}, map[string]int{}, map[string]int{}
	joint := func(r rune) bool { return strings.ContainsRune("-'’", r) }
	for _, word := range words(query) {
		for _, w := range strings.FieldsFunc(word, joint) {
			in := commonWords[w]
			wanted := slices.Contains(in, want)
			for _, lang := range listedLanguages() {
				switch has := slices.Contains(in, lang); {
				case has && !wanted:
					theirs[lang]++
				case wanted && !has:
					ours[lang]++
				}
			}
			for _, lang := range in {
				counts[lang]++
			}
		}
	}
	return counts, theirs, ours
}

// listedLanguages are those of commonWords, in the order in which ties go.
func listedLanguages() [7]string { return [7]string{"en", "de", "fr", "es", "it", "pt", "nl"} }

// cjkLanguage tells Japanese by its Kana, and Chinese by characters that Japanese
// lacks; without either it is what is wanted, if that is one of them.
func cjkLanguage(query, want string) string {
	for _, r := range query {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
			return "ja"
		}
	}
	if strings.ContainsAny(query, "吗呢什怎哪谁为这个请们时么") {
		return "zh"
	}
	if want == "ja" || want == "zh" {
		return want
	}
	return ""
}

// commonWords are words that most sentences of a language have, with the
// languages that have them.
var commonWords = languagesOf(map[string]string{
	"en": "the of and to is are was were what how which when where why who whose does do did can should would for from with that this it by be has have after before each any or not if an",
	"de": "der die das und ist sind war was wie welche welcher welches welchem wann wo warum wer kann können für von mit dass ein eine einen einem einer nicht wird werden bei auf zu im den dem des sich nach oder wenn",
	"fr": "le la les des et est sont que quel quelle quels quelles comment quand où pourquoi qui peut pour de du avec une un dans par sur au aux il elle pas ou si faut ce se en ne à y",
	"es": "el la los las y es son qué cuál cuáles cómo cuándo dónde por quién puede para de del con una un en al se no que o si hay cuánto cuántos",
	"it": "il lo la gli le e è sono che quale quali come quando dove perché chi può per di del della con una un in al si non o se",
	"pt": "o os as e é são que qual quais como quando onde quem pode para de do da com uma um em ao se não ou dos das",
	"nl": "de het een en is zijn wat hoe welke wanneer waar waarom wie kan voor van met dat niet wordt worden bij op te of als naar",
})

func languagesOf(lists map[string]string) map[string][]string {
	index := map[string][]string{}
	for lang, list := range lists {
		for w := range wordSet(list) {
			index[w] = append(index[w], lang)
		}
	}
	return index
}

// script tells the scripts that most letters are of.
func script(text string) string {
	counts := map[string]int{}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			counts["cjk"] += 3 // a character says as much as some letters
		case unicode.In(r, unicode.Hangul):
			counts["hangul"] += 2
		case unicode.In(r, unicode.Cyrillic):
			counts["cyrillic"]++
		case unicode.In(r, unicode.Arabic):
			counts["arabic"]++
		case unicode.In(r, unicode.Greek):
			counts["greek"]++
		case unicode.IsLetter(r):
			counts["latin"]++
		}
	}
	best, name := 0, "latin"
	for _, s := range [...]string{"latin", "cjk", "hangul", "cyrillic", "arabic", "greek"} {
		if counts[s] > best {
			best, name = counts[s], s
		}
	}
	return name
}
