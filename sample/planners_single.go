package sample

import (
	"regexp"
	"slices"
)

// rareChunks is the most chunks that hold a term that is called rare.
const rareChunks = 3

var headingLine = regexp.MustCompile(`(?m)^#{1,6} .*$`)

// termsPerChunk bounds how many terms of one chunk are looked at.
const termsPerChunk = 12

// firstTerms gives the terms of a text's sentences. What stands in headings alone
// is said of nothing.
func firstTerms(text string) []string {
	terms := termsOf(headingLine.ReplaceAllString(text, ""))
	return terms[:min(len(terms), termsPerChunk)]
}

// rarePlanner finds terms that few chunks hold.
type rarePlanner struct{}

func (rarePlanner) keys(c *view, join func(string, bool)) {
	for _, t := range c.firstTerms() {
		join(t, true)
	}
}

func (rarePlanner) bounds() (least, most int) { return 1, rareChunks }

func (rarePlanner) candidates(b *bundle) []candidate {
	for _, m := range b.members {
		if m.eligible() {
			return []candidate{{about: []*member{m}, term: b.key}}
		}
	}
	return nil
}

func (rarePlanner) lacking() string { return "terms that stand in three chunks at most" }

// acronymPlanner finds acronyms that the corpus expands somewhere, and the
// chunks that use them: what says only one form is asked for in the other.
type acronymPlanner struct{ seed int64 }

func (acronymPlanner) keys(c *view, join func(string, bool)) {
	var defined []string
	for _, d := range definitions(c.Text) {
		if !slices.Contains(defined, d.acronym) {
			defined = append(defined, d.acronym)
			join(d.acronym, true)
		}
	}
	for _, t := range c.firstTerms() {
		if (word{text: t}).kindOf() == termAcronym && !slices.Contains(defined, t) {
			join(t, false)
		}
	}
}

func (acronymPlanner) bounds() (least, most int) { return 1, 2 * rareChunks }

func (p acronymPlanner) candidates(b *bundle) []candidate {
	expansion := ""
	for _, m := range b.members {
		for _, d := range definitions(m.Text) {
			if d.acronym == b.key && expansion == "" {
				expansion = d.expansion
			}
		}
	}
	var short, long []candidate
	for _, m := range b.members {
		switch {
		case !m.eligible() || expansion == "":
		case hasTerm(m.Text, expansion):
			short = append(short, candidate{about: []*member{m}, term: b.key, otherForm: expansion})
		default:
			long = append(long, candidate{about: []*member{m}, term: expansion, otherForm: b.key})
		}
	}
	if draw(p.seed, "form", b.priority)%2 == 1 {
		short, long = long, short
	}
	out := interleave([][]candidate{short, long})
	return out[:min(len(out), 2)]
}

func (acronymPlanner) lacking() string { return "acronyms that it expands" }

// subjectPlanner takes any chunk as the subject that a query without an answer
// is to sound like.
type subjectPlanner struct{}

func (subjectPlanner) keys(c *view, join func(string, bool)) {
	if len(c.Flags) == 0 {
		join(c.ID, true)
	}
}

func (subjectPlanner) bounds() (least, most int) { return 1, 255 }

func (subjectPlanner) candidates(b *bundle) []candidate {
	return []candidate{{about: b.members[:1]}}
}

func (subjectPlanner) lacking() string { return "chunks to take a subject from" }
