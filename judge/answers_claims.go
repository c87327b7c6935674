package judge

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goldgen/goldgen/corpus"
)

// bracketed is what a citation marker looks like: [2], [1, 3], [^4] or
// [billing/plans.md#2]. What follows tells it from a link.
var bracketed = regexp.MustCompile(`\s*\[\^?([^\[\]\n]{1,300})\]`)

// longestNumber is how many digits a marker's number has at most: [2024] is a
// year.
const longestNumber = 3

// citing resolves what an answer cites.
type citing struct {
	answer *Answer
	lookup func(chunkID string) (text string, ok bool)
	listed []string // the list that numbers count in, nil for the contexts
}

func newCiting(a *Answer, lookup func(string) (string, bool)) *citing {
	c := &citing{answer: a, lookup: lookup}
	if len(a.Citations) > 0 && !slices.ContainsFunc(a.Citations, func(ref string) bool { _, ok := number(ref); return ok }) {
		c.listed = a.Citations
	}
	return c
}

// number reads "3", "[3]" and "[^3]".
func number(ref string) (int, bool) {
	bare := strings.TrimPrefix(strings.Trim(strings.TrimSpace(ref), "[]"), "^")
	n, err := strconv.Atoi(bare)
	return n, err == nil && n >= 0 && len(bare) <= longestNumber
}

// resolve finds what a reference names: a chunk by its id, else the n-th of the
// citations where these are ids, else the n-th passage of the context.
func (c *citing) resolve(ref string) Citation {
	id := strings.TrimSpace(ref)
	if found, ok := c.chunk(id); ok {
		return found.as(ref)
	}
	n, ok := number(ref)
	switch {
	case ok && c.listed != nil && n >= 1 && n <= len(c.listed):
		found, _ := c.chunk(strings.TrimSpace(c.listed[n-1]))
		return found.as(ref)
	case ok && c.listed == nil && n >= 1 && n <= len(c.answer.Contexts):
		p := c.answer.Contexts[n-1]
		target := cmp.Or(p.ChunkID, "passage "+strconv.Itoa(n))
		return Citation{Ref: ref, ChunkID: p.ChunkID, InContext: true, text: p.Text, target: target}
	}
	return Citation{Ref: ref, target: id, Missing: true}
}

func (c Citation) as(ref string) Citation {
	c.Ref = ref
	return c
}

// chunk finds a chunk by its id, in the context first: the system saw that
// text. Not found is a citation that is missing.
func (c *citing) chunk(id string) (Citation, bool) {
	for _, p := range c.answer.Contexts {
		if p.ChunkID == id && id != "" {
			return Citation{ChunkID: id, InContext: true, text: p.Text, target: id}, true
		}
	}
	if text, ok := c.lookup(id); ok && id != "" {
		return Citation{ChunkID: id, text: text, target: id}, true
	}
	return Citation{Missing: true, target: id}, false
}

// isRef reports whether a bracketed text is a citation at all.
func (c *citing) isRef(s string) bool {
	if _, ok := number(s); ok {
		return true
	}
	_, ok := c.chunk(s)
	return ok || slices.Contains(c.answer.Citations, s)
}

// marker is a citation marker taken out of a text: where it stood, and what it
// names.
type marker struct {
	at   int // in the text without markers
	refs []string
}

// withoutMarkers takes citation markers out of the answer.
func (c *citing) withoutMarkers() (string, []marker) {
	text := c.answer.Text
	var out strings.Builder
	var marks []marker
	last := 0
	for _, m := range bracketed.FindAllStringSubmatchIndex(text, -1) {
		refs := c.refs(text[m[2]:m[3]])
		if refs == nil || strings.HasPrefix(text[m[1]:], "(") {
			continue
		}
		out.WriteString(text[last:m[0]])
		marks = append(marks, marker{at: out.Len(), refs: refs})
		last = m[1]
	}
	out.WriteString(text[last:])
	return out.String(), marks
}

// refs are the references in one pair of brackets, nil if not all are.
func (c *citing) refs(inside string) []string {
	if c.isRef(inside) { // an id may hold a comma
		return []string{inside}
	}
	var refs []string
	for _, piece := range strings.FieldsFunc(inside, isSeparator) {
		piece = strings.TrimSpace(piece)
		if !c.isRef(piece) {
			return nil
		}
		refs = append(refs, piece)
	}
	return refs
}

// claims splits an answer into claims with their citations. Every sentence is a
// claim but questions, lead-ins that end with a colon, and what has neither
// letter nor digit. A marker belongs to the sentence in which it stands or that
// it follows; citations that no marker names are for the answer as a whole.
func (c *citing) claims() ([]Claim, []Citation) {
	text, marks := c.withoutMarkers()
	var claims []Claim
	var starts []int
	for _, s := range corpus.Sentences(text) {
		if sentence := strings.Join(strings.Fields(text[s.Start:s.End]), " "); isClaim(sentence) {
			claims = append(claims, Claim{Text: sentence, Citations: []int{}})
			starts = append(starts, s.Start)
		}
	}
	citations := []Citation{}
	named := map[string]bool{}
	for _, m := range marks {
		at := max(0, sentenceBefore(starts, m.at))
		for _, ref := range m.refs {
			found := c.resolve(ref)
			named[found.target] = true
			if len(claims) > 0 && !citedAlready(claims[at], citations, found) {
				claims[at].Citations = append(claims[at].Citations, len(citations))
				citations = append(citations, found)
			}
		}
	}
	return claims, c.addWhole(claims, citations, named)
}

// sentenceBefore is the last sentence that begins before an offset, or -1.
func sentenceBefore(starts []int, at int) int {
	n, _ := slices.BinarySearch(starts, at)
	return n - 1
}

func citedAlready(c Claim, citations []Citation, other Citation) bool {
	return slices.ContainsFunc(c.Citations, func(i int) bool { return citations[i].target == other.target })
}

// addWhole adds the listed citations that no marker names, once each, to every
// claim.
func (c *citing) addWhole(claims []Claim, citations []Citation, named map[string]bool) []Citation {
	for _, ref := range c.answer.Citations {
		found := c.resolve(ref)
		if named[found.target] {
			continue
		}
		named[found.target], found.Whole = true, true
		for i := range claims {
			claims[i].Citations = append(claims[i].Citations, len(citations))
		}
		citations = append(citations, found)
	}
	return citations
}

func isClaim(sentence string) bool {
	bare := strings.TrimRight(sentence, " ,;\"'*_)”’")
	if strings.HasSuffix(bare, "?") || strings.HasSuffix(bare, ":") {
		return false
	}
	return strings.ContainsFunc(bare, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// Bracketed lists what stands in square brackets in an answer, cut at commas:
// every chunk id that a marker can name is among it.
func Bracketed(answer string) []string {
	var out []string
	for _, m := range bracketed.FindAllStringSubmatch(answer, -1) {
		out = append(out, m[1])
		for _, piece := range strings.FieldsFunc(m[1], isSeparator) {
			out = append(out, strings.TrimSpace(piece))
		}
	}
	return out
}

func isSeparator(r rune) bool { return r == ',' || r == ';' }
