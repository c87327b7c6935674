package sample

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// nearPlanner finds groups of near-duplicates, and for each member what it has
// and the others lack.
type nearPlanner struct{}

func (nearPlanner) keys(c *view, join func(string, bool)) {
	if c.NearGroup != "" {
		join(c.NearGroup, true)
	}
}

// bounds leave out groups of which not all members are kept: one that is not known
// could hold the term that is to tell a member apart.
func (nearPlanner) bounds() (least, most int) { return 2, maxMembers }

func (nearPlanner) candidates(b *bundle) []candidate {
	var out []candidate
	for _, m := range b.members {
		var rivals []*member
		for _, o := range b.members {
			if o.ExactGroup != m.ExactGroup && !validityDiffers(m, o) {
				rivals = append(rivals, o)
			}
		}
		if !m.eligible() || len(rivals) == 0 {
			continue
		}
		if term := difference(m, rivals); term != "" {
			out = append(out, candidate{about: []*member{m}, rivals: rivals, term: term})
		}
	}
	return out
}

func (nearPlanner) lacking() string {
	return "groups of near-duplicates in which a version, a region or a product tells one from the others"
}

// validityDiffers reports whether two chunks hold at different times: their
// difference is the date, which is a query type of its own.
func validityDiffers(a, b *member) bool {
	return !sameTime(a.ValidFrom, b.ValidFrom) || !sameTime(a.ValidTo, b.ValidTo)
}

func sameTime(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

var version = regexp.MustCompile(`^v?\d+(?:\.\d+)+$|^v\d+$`)

// difference gives a term that the member has and no rival does: from where it
// stands (document and headings) before its text, since a difference in the text
// may be the answer itself. "" where nothing fit to be named differs.
func difference(m *member, rivals []*member) string {
	for _, term := range append(NamesOf(&m.Chunk), nameable(m.Text)...) {
		if !slices.ContainsFunc(rivals, func(r *member) bool { return hasTerm(Setting(&r.Chunk), term) }) {
			return term
		}
	}
	return ""
}

var fileExtension = regexp.MustCompile(`\.[A-Za-z]{1,5}$`)

// NamesOf gives the words by which a chunk can be told from others without its
// text: those of its headings, then those of its document's id.
func NamesOf(c *corpus.Chunk) []string {
	document := strings.NewReplacer("/", " ", "_", " ").Replace(fileExtension.ReplaceAllString(c.DocID, ""))
	return append(nameable(strings.Join(c.HeadingPath, "\n")), nameable(document)...)
}

// nameable gives the words of a text that can tell a thing from another: terms
// first, then versions.
func nameable(text string) []string {
	out := termsOf(text)
	for _, w := range wordsOf(text) {
		if version.MatchString(w.text) && !slices.Contains(out, w.text) {
			out = append(out, w.text)
		}
	}
	return out
}

// timePlanner finds versions of one text that hold at different times.
type timePlanner struct{ at *time.Time } // the moment that all are asked at; nil is one within each version's time

// keys are the near-duplicates' group, and the section of the document with the
// figures taken out of their names: policy-2023 and policy-2024.
func (timePlanner) keys(c *view, join func(string, bool)) {
	if c.ValidFrom == nil && c.ValidTo == nil {
		return
	}
	join("near\x00"+c.NearGroup, true)
	join("name\x00"+withoutFigures(c.DocID)+"\x00"+withoutFigures(strings.Join(c.HeadingPath, "\x00")), true)
}

func withoutFigures(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

func (timePlanner) bounds() (least, most int) { return 2, maxMembers }

func (p timePlanner) candidates(b *bundle) []candidate {
	var out []candidate
	for _, m := range b.members {
		at := p.at
		if at == nil {
			at = within(m)
		}
		if !m.eligible() || !corpus.ValidAt(m.ValidFrom, m.ValidTo, *at) {
			continue
		}
		if stale, ok := staleAt(*at, m, b.members); ok {
			out = append(out, candidate{about: []*member{m}, rivals: stale, asOf: at})
		}
	}
	return out
}

// staleAt gives the members that do not hold at a moment; false where there is
// none, or where another text than m's holds as well.
func staleAt(at time.Time, m *member, members []*member) (stale []*member, ok bool) {
	for _, o := range members {
		switch {
		case o.ExactGroup == m.ExactGroup, !sameMatter(m, o):
		case corpus.ValidAt(o.ValidFrom, o.ValidTo, at):
			return nil, false
		default:
			stale = append(stale, o)
		}
	}
	return stale, len(stale) > 0
}

// sameMatter reports whether at least half of a chunk's words are in the other:
// documents whose names differ in a figure may be chapters.
func sameMatter(m, o *member) bool {
	has, distinct, shared := map[string]bool{}, map[string]bool{}, 0
	for _, w := range wordsOf(o.Text) {
		has[strings.ToLower(w.text)] = true
	}
	for _, w := range wordsOf(m.Text) {
		if word := strings.ToLower(w.text); !distinct[word] {
			distinct[word] = true
			if has[word] {
				shared++
			}
		}
	}
	return 2*shared >= len(distinct)
}

// within is a moment at which the chunk holds: the middle of its time, or a day
// from its one bound.
func within(m *member) *time.Time {
	const day = 24 * time.Hour
	var at time.Time
	switch {
	case m.ValidFrom != nil && m.ValidTo != nil:
		at = m.ValidFrom.Add(m.ValidTo.Sub(*m.ValidFrom) / 2)
	case m.ValidFrom != nil:
		at = m.ValidFrom.Add(day)
	default:
		at = m.ValidTo.Add(-day)
	}
	at = at.UTC().Truncate(time.Second)
	return &at
}

func (p timePlanner) lacking() string {
	lack := "chunks with valid_from or valid_to of which another version is out of date"
	if p.at != nil {
		lack += " on " + p.at.Format(time.RFC3339) + ", sample.as_of"
	}
	return lack
}
