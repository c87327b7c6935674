package generate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/sample"
)

// NamesTerm refuses queries without the term that was planned for them, and
// queries with its other form: an acronym is asked for without its expansion, or
// the reverse. Without a term in the plan, as sets that kept none have it, all
// pass. Value: 1 when the term is there, 0 when it is not or there is none, -1 when
// the other form is.
func NamesTerm(c Candidate) Verdict {
	switch {
	case c.Term == "":
		return verdict("names_term", true, 0, "")
	case !mentions(c.Query, c.Term):
		return verdict("names_term", false, 0, "%q is not in it", c.Term)
	case c.OtherForm != "" && mentions(c.Query, c.OtherForm):
		return verdict("names_term", false, -1, "%q is in it, as well as %q", c.OtherForm, c.Term)
	}
	return verdict("names_term", true, 1, "")
}

// Undecided refuses queries with a word that only some of the readings have: it
// decides between them. Words that every question has decide nothing. Value: such
// words.
func Undecided(c Candidate) Verdict {
	term := termSet(c.Term)
	readings := make([]map[string]bool, len(c.Readings))
	for i, text := range c.Readings {
		readings[i] = termSet(text)
	}
	n, first := 0, ""
	for _, word := range distinctTerms(strings.Join(contentBefore(c.Query), " ")) {
		if term[word] {
			continue
		}
		having := 0
		for _, reading := range readings {
			if reading[word] {
				having++
			}
		}
		if having > 0 && having < len(readings) {
			n++
			if first == "" {
				first = word
			}
		}
	}
	v := verdict("undecided", n == 0, float64(n), "%q is said of some readings only", first)
	if !v.Check.Passed {
		v.Reason = "decided"
	}
	return v
}

// readingsOf gives the text of each chunk with its headings.
func readingsOf(chunks []corpus.Chunk) []string {
	list := make([]string, len(chunks))
	for i := range chunks {
		list[i] = strings.Join(chunks[i].HeadingPath, "\n") + "\n" + chunks[i].Text
	}
	return list
}

// NamesRival refuses queries that name a rival by what it stands under, its
// document or its headings: they ask for another near-duplicate or version than
// that of their evidence. Value: such names.
func NamesRival(c Candidate) Verdict {
	n, first := 0, ""
	for i := range c.Rivals {
		for _, name := range sample.NamesOf(&c.Rivals[i]) {
			if mentions(c.Query, name) && !mentions(sample.Setting(&c.Chunk), name) {
				n++
				if first == "" {
					first = name
				}
			}
		}
	}
	return verdict("names_rival", n == 0, float64(n), "%q is the name of a rival", first)
}

var year = regexp.MustCompile(`\b(?:19|20)\d\d\b`)

// OtherTime refuses queries about a year in which their version did not hold and
// of which it does not speak. The year in which a query is asked passes. Value:
// such years.
func OtherTime(c Candidate) Verdict {
	n, first := 0, ""
	said := year.FindAllString(sample.Setting(&c.Chunk), -1)
	for _, y := range year.FindAllString(c.Query, -1) {
		number, _ := strconv.Atoi(y) // four digits
		if c.AsOf == nil || slices.Contains(said, y) || c.AsOf.Year() == number || heldIn(&c.Chunk, number) {
			continue
		}
		n++
		if first == "" {
			first = y
		}
	}
	return verdict("other_time", n == 0, float64(n), "its evidence does not hold in %s", first)
}

// heldIn reports whether a chunk with a time held at some moment of a year.
func heldIn(c *corpus.Chunk, year int) bool {
	if c.ValidFrom == nil && c.ValidTo == nil {
		return false
	}
	began := c.ValidFrom == nil || c.ValidFrom.UTC().Year() <= year
	return began && (c.ValidTo == nil || c.ValidTo.UTC().Year() > year || c.ValidTo.UTC().Year() == year && c.ValidTo.UTC().YearDay() > 1)
}

// opensQuestion matches the first two words of a sentence that asks.
var opensQuestion = regexp.MustCompile(`(?i)^\W*(?:` +
	`(?:what|which|who|whom|whose|when|where|why|how) (?:is|are|was|were|do|does|did|can|could|should|would|will|may|must|has|have|to|i|we|you|much|many|long|often)|` +
	`(?:is|are|was|were|do|does|did|can|could|should|would|will|may|must|has|have) (?:i|we|you|it|they|there|the|an?|my|our|your)|` +
	`(?:was|wer|wann|wo|warum|wie|welche[rsmn]?) (?:ist|sind|war|kann|können|muss|müssen|darf|wird|werden|hat|haben|ich|wir|man|viele?|lange|oft)|` +
	`(?:qui|quand|où|pourquoi|comment|combien|quel(?:le)?s?) (?:est|sont|peut|faut|faire|de|sera)|est-ce que|` +
	`(?:qué|quién|cuándo|dónde|cómo|cuál(?:es)?|cuánt[oa]s?) (?:es|son|está|puede|hay|se|hacer))(?:\W|$)`)

// BareWords refuses keywords that are put as a question. Value: 1 for such, else 0.
func BareWords(c Candidate) Verdict {
	q := strings.TrimSpace(c.Query)
	if strings.HasSuffix(q, "?") || strings.HasSuffix(q, "？") || opensQuestion.MatchString(q) {
		return verdict("bare_words", false, 1, "it is a question and no keywords")
	}
	return verdict("bare_words", true, 0, "")
}
