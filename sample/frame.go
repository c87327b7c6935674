package sample

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
)

// frame is the sampling frame: every eligible chunk in compact form, by
// stratum.
type frame struct {
	strata    []*stratum // by name
	chunks    int
	eligible  int
	documents int // that hold an eligible chunk
	topics    int // likewise
	excluded  map[string]int
}

// stratum holds its chunks in blocks, so that growing copies little.
type stratum struct {
	name   string
	size   int
	blocks [][]entry
}

// entry is one eligible chunk. doc counts documents in the order of the stream.
type entry struct {
	priority uint64 // uniform; lower is drawn earlier
	row      uint32
	doc      uint32
}

const (
	firstBlock = 4
	largeBlock = 1 << 16
)

func (s *stratum) add(e entry) {
	last := len(s.blocks) - 1
	if last < 0 || len(s.blocks[last]) == cap(s.blocks[last]) {
		s.blocks = append(s.blocks, make([]entry, 0, min(largeBlock, max(firstBlock, s.size))))
		last++
	}
	s.blocks[last] = append(s.blocks[last], e)
	s.size++
}

// scanner reads the stream of infos into a frame.
type scanner struct {
	o        Options
	in       Input
	f        *frame
	byKey    map[string]*stratum
	topics   map[int]bool
	key      []byte
	docID    []byte // of the document that the stream is in
	doc      uint32
	docKnown bool // it has an eligible chunk
}

// scan reads all infos once, into the scanner's frame.
func scan(ctx context.Context, in Input, o Options) (*scanner, error) {
	s := &scanner{
		o: o, in: in, f: &frame{excluded: map[string]int{}},
		byKey: map[string]*stratum{}, topics: map[int]bool{},
	}
	for info, err := range in.Infos {
		if err != nil {
			return nil, fmt.Errorf("chunk facts: %w", err)
		}
		if s.f.chunks%largeBlock == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := s.add(&info); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.f.strata, func(a, b *stratum) int { return cmp.Compare(a.name, b.name) })
	s.f.topics = len(s.topics)
	return s, nil
}

func (s *scanner) add(info *Info) error {
	if info.Row < 0 || uint64(info.Row) > math.MaxUint32 {
		return fmt.Errorf("chunk %s: row %d is not between 0 and %d", info.ChunkID, info.Row, uint32(math.MaxUint32))
	}
	s.f.chunks++
	if string(s.docID) != info.DocID || s.f.chunks == 1 {
		s.docID = append(s.docID[:0], info.DocID...)
		s.doc++
		s.docKnown = false
	}
	if len(info.Flags) > 0 {
		for _, flag := range info.Flags {
			s.f.excluded[flag]++
		}
		return nil
	}
	s.f.eligible++
	if !s.docKnown {
		s.f.documents++
		s.docKnown = true
	}
	if t := s.topic(info); t >= 0 {
		s.topics[t] = true
	}
	s.stratum(info).add(entry{priority: priority(s.o.Seed, info), row: uint32(info.Row), doc: s.doc})
	return nil
}

func (s *scanner) topic(info *Info) int {
	if info.Row < len(s.in.Topics) {
		return s.in.Topics[info.Row]
	}
	return -1
}

// stratum finds the info's stratum; the key avoids building a name for each
// chunk.
func (s *scanner) stratum(info *Info) *stratum {
	s.key = s.key[:0]
	for _, field := range s.o.Strata {
		s.key = append(s.key, s.value(field, info)...)
		s.key = append(s.key, 0)
	}
	if found, ok := s.byKey[string(s.key)]; ok {
		return found
	}
	made := &stratum{name: s.name(info)}
	s.byKey[string(s.key)] = made
	s.f.strata = append(s.f.strata, made)
	return made
}

// name is such as "category=billing,language=en"; "all" without fields.
func (s *scanner) name(info *Info) string {
	if len(s.o.Strata) == 0 {
		return "all"
	}
	parts := make([]string, len(s.o.Strata))
	for i, field := range s.o.Strata {
		value := s.value(field, info)
		switch {
		case value == "":
			value = "(none)"
		case strings.ContainsAny(value, `,="`):
			value = strconv.Quote(value)
		}
		parts[i] = field + "=" + value
	}
	return strings.Join(parts, ",")
}

func (s *scanner) value(field string, info *Info) string {
	switch field {
	case ByCategory:
		return info.Category
	case ByDocument:
		return info.DocID
	case ByPath:
		return folder(cmp.Or(info.Path, info.DocID), s.o.PathDepth)
	case ByLanguage:
		return info.Language
	case ByLength:
		return lengthBand(info.Tokens)
	case ByUnit:
		return info.Unit
	case ByTopic:
		if t := s.topic(info); t >= 0 {
			return strconv.Itoa(t)
		}
		return ""
	}
	return info.Metadata[strings.TrimPrefix(field, metadataPrefix)]
}

// folder gives the first depth folders of a document's path, "" at the top.
func folder(id string, depth int) string {
	end := 0
	for ; depth > 0; depth-- {
		slash := strings.IndexByte(id[end:], '/')
		if slash < 0 {
			break
		}
		end += slash + 1
	}
	if end == 0 {
		return ""
	}
	return path.Clean(id[:end])
}

// lengthBand names the doubling band that a number of tokens falls in.
func lengthBand(tokens int) string {
	switch {
	case tokens < 64:
		return "0-63"
	case tokens < 128:
		return "64-127"
	case tokens < 256:
		return "128-255"
	case tokens < 512:
		return "256-511"
	}
	return "512+"
}

// priority is the unit's place in the draw. It depends on the seed, the
// document and the chunk's text, not on the chunk's number in its document: an
// edit elsewhere in the document moves nothing.
func priority(seed int64, info *Info) uint64 {
	return draw(seed, "sample", hashString(hashString(fnvOffset, info.DocID)*fnvPrime, info.TextDigest))
}

// draw gives the first number of the generator for (seed, stage, unit).
func draw(seed int64, stage string, unit uint64) uint64 {
	var g rand.PCG
	g.Seed(uint64(seed)^hashString(fnvOffset, stage), unit)
	return g.Uint64()
}

// uniform is a drawn number as one from 0 to below 1.
func uniform(drawn uint64) float64 { return float64(drawn>>11) / (1 << 53) }

// FNV-1a, 64 bits: stable over machines and versions of Go, which maphash is
// not.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hashString(h uint64, s string) uint64 {
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}
