package generate

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/sample"
)

// addWording gives a writing prompt the variables by which a query is worded, as
// far as it has them: the row's style, and what kind of text it is about.
func (w *writing) addWording(vars map[string]string) {
	if slices.Contains(w.prompt.Vars, "style") {
		vars["style"] = styleText(w.u.Row)
	}
	if slices.Contains(w.prompt.Data, "examples") {
		vars["examples"] = strings.Join(w.u.Row.Examples, "\n")
	}
	for name, value := range unitWords(&w.u.Chunks[0]) {
		if slices.Contains(w.prompt.Vars, name) {
			vars[name] = value
		}
	}
}

// unitWords are the variables that tell prompts what a chunk is, where it is no
// passage of a text: one of them is not empty.
func unitWords(chunk *corpus.Chunk) map[string]string {
	vars := map[string]string{"code": "", "memory": "", "tool": ""}
	switch chunk.Unit {
	case corpus.UnitCodeSymbol:
		vars["code"] = codeWords(chunk.Metadata)
	case corpus.UnitMemoryRecord:
		vars["memory"] = "memory record"
	case corpus.UnitToolResult:
		vars["tool"] = cmp.Or(shorten(chunk.Metadata["source"], 60), "a tool")
	}
	return vars
}

// codeWords names a symbol by its language and kind: Python function.
func codeWords(metadata map[string]string) string {
	language, kind := metadata[corpus.MetaCodeLanguage], metadata[corpus.MetaSymbolKind]
	if language == "" || kind == "" {
		return "piece of code"
	}
	return strings.ToUpper(language[:1]) + language[1:] + " " + kind
}

// tellsStyle reports whether a model is told form and length of a type's queries.
// Types whose wording is their own have neither.
func tellsStyle(queryType string) bool {
	return queryType != datasets.Keyword && queryType != datasets.Ambiguous
}

// styleText tells a model how a query is worded; "" where nothing is asked for.
func styleText(row sample.Row) string {
	var parts []string
	for _, value := range styleValues(row.Style) {
		if text := styleWords(value); text != "" && tellsStyle(row.QueryType) {
			parts = append(parts, text)
		}
	}
	if row.Persona != "" {
		parts = append(parts, "Whoever asks is: "+row.Persona+". Word it as they would.")
	}
	return strings.Join(parts, " ")
}

func styleWords(value string) string {
	switch value {
	case sample.FormKeywords:
		return "Give no sentence but 4 to 6 words as typed into a search box."
	case sample.FormProblem:
		return "Put it as a report of what goes wrong, by somebody who is stuck, and not as a question."
	case sample.FormCommand:
		return "Put it as a command to an assistant that begins with a verb, and not as a question."
	case sample.LengthShort:
		return fmt.Sprintf("At most %d words.", maxShortWords)
	case sample.LengthMedium:
		return fmt.Sprintf("Between %d and %d words.", maxShortWords+1, minLongWords-1)
	case sample.LengthLong:
		return fmt.Sprintf("Between %d and 22 words, with the circumstances of whoever asks.", minLongWords)
	}
	return ""
}

// Worded is a query as it is kept: as it was written, or, in a noisy style, as
// somebody in a hurry would type it. The same row gives the same wording.
func Worded(query string, row sample.Row, seed int64) string {
	if !slices.Contains(styleValues(row.Style), sample.NoiseNoisy) {
		return query
	}
	return noisy(query, row, seeded.Rand(seed, "noise", row.Wording()))
}

// noisy takes off capitals and the mark at the end, leaves out every second word
// that has only a function, and puts a slip of the keys into one or two long
// words. The row's term stays, and so does every word with a digit or with a
// capital behind its first letter: they are names.
func noisy(query string, row sample.Row, rng *rand.Rand) string {
	keep := map[string]bool{}
	for _, word := range words(row.Term) {
		keep[word] = true
	}
	var out []string
	var slips []int // words that may get one
	for _, word := range strings.Fields(strings.TrimRight(query, " ?.!？。")) {
		bare := strings.ToLower(strings.Trim(word, `,;:"'()`))
		switch {
		case keep[bare] || isName(word):
			out = append(out, word)
			continue
		case articleWord[bare] && rng.IntN(2) == 0:
			continue
		case len([]rune(bare)) >= 5:
			slips = append(slips, len(out))
		}
		out = append(out, strings.ToLower(word))
	}
	rng.Shuffle(len(slips), func(i, j int) { slips[i], slips[j] = slips[j], slips[i] })
	for _, n := range slips[:min(len(slips), 1+rng.IntN(2))] {
		out[n] = slip(out[n], rng)
	}
	return strings.Join(out, " ")
}

func isName(word string) bool {
	for i, r := range word {
		if unicode.IsDigit(r) || i > 0 && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// slip swaps two letters in the middle of a word, leaves one out, or types one
// twice.
func slip(word string, rng *rand.Rand) string {
	letters := []rune(word)
	at := 1 + rng.IntN(len(letters)-3)
	switch rng.IntN(3) {
	case 0:
		letters[at], letters[at+1] = letters[at+1], letters[at]
	case 1:
		letters = slices.Delete(letters, at, at+1)
	default:
		letters = slices.Insert(letters, at, letters[at])
	}
	return string(letters)
}

// articleWord are words that people leave out when they type in a hurry.
var articleWord = wordSet(`the a an is are do does of for my our der die das ein eine ist le la les un une est el los una es`)
