package sample

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// How the chunks of a multi_hop row hang together.
const (
	LinkTerm      = "shared_term" // a term that hardly any other chunk holds
	LinkHyperlink = "hyperlink"   // the first points at the document of the second
	LinkSection   = "section"     // sections under one heading
	LinkNeighbour = "neighbour"   // of all chunks of other documents, one is nearest to the other by vector
)

// termHops finds two chunks that share a rare term.
type termHops struct{}

func (termHops) keys(c *view, join func(string, bool)) { rarePlanner{}.keys(c, join) }

func (termHops) bounds() (least, most int) { return 2, rareChunks }

func (termHops) candidates(b *bundle) []candidate {
	for i, m := range b.members {
		for _, o := range b.members[i+1:] {
			if m.eligible() && o.eligible() && m.DocID != o.DocID && !alike(m, o) {
				return []candidate{{about: []*member{m, o}, term: b.key, link: LinkTerm}}
			}
		}
	}
	return nil
}

func (termHops) lacking() string { return "two documents that share a rare term" }

// linkHops finds a chunk and the document that it links to.
type linkHops struct{}

var markdownTarget = regexp.MustCompile(`\[[^\]\n]+\]\(([^)\s]+)[^)]*\)`)

// linkTarget is the document and the section that a link means.
type linkTarget struct{ doc, section string }

// targets gives what a chunk's links into other documents mean.
func targets(c *corpus.Chunk) []linkTarget {
	var out []linkTarget
	for _, m := range markdownTarget.FindAllStringSubmatch(c.Text, -1) {
		u, err := url.Parse(m[1])
		if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
			continue
		}
		target := path.Join(path.Dir(c.DocID), u.Path)
		if strings.HasPrefix(u.Path, "/") {
			target = strings.TrimPrefix(path.Clean(u.Path), "/")
		}
		if target != c.DocID {
			out = append(out, linkTarget{target, u.Fragment})
		}
	}
	return out
}

func (linkHops) keys(c *view, join func(string, bool)) {
	join(c.DocID, false)
	seen := map[string]bool{}
	for _, target := range targets(c.Chunk) {
		if !seen[target.doc] {
			seen[target.doc] = true
			join(target.doc, true)
		}
	}
}

func (linkHops) bounds() (least, most int) { return 1, 250 }

func (linkHops) candidates(b *bundle) []candidate {
	var out []candidate
	for _, from := range b.members {
		if from.DocID == b.key || !from.eligible() {
			continue
		}
		if to := linked(from, b); to != nil {
			out = append(out, candidate{about: []*member{from, to}, link: LinkHyperlink})
		}
	}
	return out
}

// linked gives the section of the bundle's document that a chunk points at, else
// the first; nil where none may be asked about.
func linked(from *member, b *bundle) *member {
	section := ""
	for _, t := range targets(&from.Chunk) {
		if t.doc == b.key && section == "" {
			section = t.section
		}
	}
	var found *member
	for _, m := range b.members {
		if m.DocID != b.key || !m.eligible() || alike(from, m) {
			continue
		}
		if found == nil || section != "" && slug(heading(&m.Chunk)) == slug(section) {
			found = m
		}
	}
	return found
}

// slug is a heading as links name it.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case inWord(r) || r == '-' || r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

func (linkHops) lacking() string { return "links from one document to another" }

// sectionHops finds two sections under one heading of a document.
type sectionHops struct{}

func (sectionHops) keys(c *view, join func(string, bool)) {
	if n := len(c.HeadingPath); n > 1 {
		join(c.DocID+"\x00"+strings.Join(c.HeadingPath[:n-1], "\x00"), true)
	}
}

func (sectionHops) bounds() (least, most int) { return 2, maxMembers }

func (sectionHops) candidates(b *bundle) []candidate {
	var last *member
	for _, m := range b.members {
		if !m.eligible() {
			continue
		}
		if last != nil && heading(&last.Chunk) != heading(&m.Chunk) && !alike(last, m) {
			return []candidate{{about: []*member{last, m}, link: LinkSection}}
		}
		last = m
	}
	return nil
}

func (sectionHops) lacking() string { return "sections under one heading" }

// maxReadings is the most readings of one ambiguous query.
const maxReadings = 4

// headingReadings finds sections of one name in different documents.
type headingReadings struct{}

func (headingReadings) keys(c *view, join func(string, bool)) {
	if h := heading(c.Chunk); h != "" && len(strings.Fields(h)) <= 4 {
		join(h, true)
	}
}

func (headingReadings) bounds() (least, most int) { return 2, maxMembers }

func (headingReadings) candidates(b *bundle) []candidate {
	return readings(b, func(m *member) string { return m.DocID })
}

func (headingReadings) lacking() string { return "two documents with a section of the same name" }

// termReadings finds a term that chunks of different categories hold.
type termReadings struct{}

func (termReadings) keys(c *view, join func(string, bool)) {
	if c.Category != "" {
		rarePlanner{}.keys(c, join)
	}
}

func (termReadings) bounds() (least, most int) { return 2, 2 * maxReadings }

func (termReadings) candidates(b *bundle) []candidate {
	return readings(b, func(m *member) string { return m.Category })
}

func (termReadings) lacking() string { return "a term in two categories" }

// readings makes one candidate of a bundle: one chunk of each place, alike to
// none of the others. A bundle with more places than readings gives none: what
// is left out would be relevant too.
func readings(b *bundle, place func(*member) string) []candidate {
	var about []*member
	places := map[string]bool{}
	for _, m := range b.members {
		if !m.eligible() || places[place(m)] {
			continue
		}
		for _, o := range about {
			if alike(m, o) {
				return nil
			}
		}
		places[place(m)] = true
		about = append(about, m)
	}
	if len(about) < 2 || len(about) > maxReadings {
		return nil
	}
	return []candidate{{about: about, term: b.key}}
}
