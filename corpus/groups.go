package corpus

import (
	"regexp"
	"strings"
	"unicode"
)

// Thresholds of the flags.
const (
	shortWords     = 5   // fewer words are short
	repeatedDocs   = 5   // a text in so many documents ...
	repeatedShare  = 0.1 // ... and in this share of all is boilerplate
	linkShare      = 0.6 // of the letters inside links: navigation
	legalMaxLength = 600 // bytes: a legal phrase in a longer text does not make it boilerplate
)

// chunkTraits are what grouping and flags need of one chunk's text.
type chunkTraits struct {
	exact       uint64
	signature   signature
	empty       bool
	short       bool
	boilerplate bool
}

// traitsOf reads a chunk's text once. It may be called concurrently.
func traitsOf(m *minhasher, text string) chunkTraits {
	t := chunkTraits{}
	t.exact, t.empty = exactHash(text)
	if t.empty {
		return t
	}
	t.signature = m.signature(text)
	t.short = wordCount(text, shortWords) < shortWords
	t.boilerplate = looksBoilerplate(text)
	return t
}

// wordCount counts words up to a limit; two ideographs count as one word.
func wordCount(text string, limit int) int {
	halves, inside := 0, false
	for _, r := range text {
		switch {
		case r >= 0x2e80 && unicode.IsLetter(r):
			halves, inside = halves+1, false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !inside {
				halves += 2
			}
			inside = true
		case r != '\'' && r != '-' && r != '_':
			inside = false
		}
		if halves >= 2*limit {
			return limit
		}
	}
	return halves / 2
}

var (
	markdownLink = regexp.MustCompile(`\[([^\]\n]*)\]\([^)\n]*\)`)
	legalPhrase  = regexp.MustCompile(`(?i)all rights reserved|©|\(c\) \d{4}|cookie (?:policy|settings)|we use cookies|privacy policy|terms of (?:use|service)|skip to (?:main )?content|edit this page|was this page helpful|table of contents`)
)

// looksBoilerplate tells navigation (mostly links) and legal notices by their
// text alone.
func looksBoilerplate(text string) bool {
	if len(text) <= legalMaxLength && legalPhrase.MatchString(text) {
		return true
	}
	links := markdownLink.FindAllStringSubmatch(text, -1)
	if len(links) < 3 {
		return false
	}
	inLinks := 0
	for _, m := range links {
		inLinks += letters(m[1])
	}
	total := letters(markdownLink.ReplaceAllString(text, "")) + inLinks
	return total > 0 && float64(inLinks) >= linkShare*float64(total)
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// exactSet is what is known of the chunks of one exact group.
type exactSet struct {
	signature int32 // index of its signature, -1 for an empty text
	documents int32
	lastDoc   int32
	chunks    int32
	seen      bool // its first chunk was flagged already
}

// grouper gathers chunks in order and then knows their groups and flags. It
// holds 8 bytes a chunk and some 220 bytes a distinct text: a signature of 128,
// an entry of a map, and 16 for sorting candidates.
type grouper struct {
	exact  []uint64
	sets   map[uint64]*exactSet
	sigs   []signature
	owners []uint64 // exact group of each signature
	traits []uint8  // short and boilerplate, by chunk
	docs   int32
	near   map[uint64]uint64
	nearN  int
}

func newGrouper() *grouper { return &grouper{sets: map[uint64]*exactSet{}} }

const (
	traitEmpty = 1 << iota
	traitShort
	traitBoilerplate
)

// nextDocument tells that the chunks that follow are another document's.
func (g *grouper) nextDocument() { g.docs++ }

func (g *grouper) add(t chunkTraits) {
	set, known := g.sets[t.exact]
	if !known {
		set = &exactSet{signature: -1}
		g.sets[t.exact] = set
		if !t.empty {
			set.signature = int32(len(g.sigs))
			g.sigs = append(g.sigs, t.signature)
			g.owners = append(g.owners, t.exact)
		}
	}
	set.chunks++
	if set.lastDoc != g.docs {
		set.documents, set.lastDoc = set.documents+1, g.docs
	}
	g.exact = append(g.exact, t.exact)
	g.traits = append(g.traits, t.bits())
}

func (t chunkTraits) bits() (b uint8) {
	if t.empty {
		b |= traitEmpty
	}
	if t.short {
		b |= traitShort
	}
	if t.boilerplate {
		b |= traitBoilerplate
	}
	return b
}

// finish finds the near groups; each is named by the smallest exact group in it.
func (g *grouper) finish() {
	firsts := nearGroups(g.sigs)
	g.sigs = nil
	smallest := make([]uint64, len(firsts))
	sizes := make([]int32, len(firsts))
	for i, f := range firsts {
		if sizes[f] == 0 || g.owners[i] < smallest[f] {
			smallest[f] = g.owners[i]
		}
		sizes[f] += g.sets[g.owners[i]].chunks
	}
	g.near = map[uint64]uint64{}
	for i, f := range firsts {
		if name := smallest[f]; name != g.owners[i] {
			g.near[g.owners[i]] = name
		}
		if int(f) == i && sizes[f] > 1 {
			g.nearN++
		}
	}
	g.owners = nil
}

// exactSets counts the exact groups with more than one member.
func (g *grouper) exactSets() int {
	n := 0
	for _, s := range g.sets {
		if s.chunks > 1 {
			n++
		}
	}
	return n
}

// fill sets the groups and flags of chunk i. It must be called once a chunk, in
// order, after finish.
func (g *grouper) fill(i int, r *chunkRow) {
	r.ExactGroup, r.NearGroup = g.exact[i], g.exact[i]
	if name, ok := g.near[r.ExactGroup]; ok {
		r.NearGroup = name
	}
	set := g.sets[r.ExactGroup]
	var flags []string
	if g.traits[i]&traitEmpty != 0 {
		flags = append(flags, FlagEmpty)
	}
	if g.traits[i]&traitShort != 0 {
		flags = append(flags, FlagShort)
	}
	if g.traits[i]&traitBoilerplate != 0 || g.repeated(set) {
		flags = append(flags, FlagBoilerplate)
	}
	if set.seen {
		flags = append(flags, FlagDuplicate)
	}
	set.seen = true
	r.Flags = strings.Join(flags, ",")
}

func (g *grouper) repeated(s *exactSet) bool {
	return s.documents >= repeatedDocs && float64(s.documents) >= repeatedShare*float64(g.docs)
}
