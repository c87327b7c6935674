package generate

import "strings"

// NamesTerm refuses queries without the term that was planned for them, and
// queries with its other form: an acronym is asked for without its expansion, or
// the reverse. Value: 1 when the term is there, 0 when it is not, -1 when the
// other form is.
func NamesTerm(c Candidate) Verdict {
	switch {
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

// readingsOf gives the text of each of the unit's chunks with its headings.
func readingsOf(u Unit) []string {
	list := make([]string, len(u.Chunks))
	for i := range u.Chunks {
		list[i] = strings.Join(u.Chunks[i].HeadingPath, "\n") + "\n" + u.Chunks[i].Text
	}
	return list
}
