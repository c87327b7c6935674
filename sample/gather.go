package sample

import (
	"container/heap"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// Bounds of what is kept of a corpus, whatever its size: bundles of a planner,
// members of a bundle, and bytes of the table of counts.
const (
	minBundles  = 512
	perCase     = 8 // bundles for each case asked for, reserves included
	maxMembers  = 24
	minCounters = 1 << 16
	maxCounters = 1 << 26
)

// counters count keys in little memory: a counting Bloom filter of two counters
// a key that stay at 255 (Fan, Cao, Almeida, Broder 2000). A count is never too
// low, so that what it calls rare is rare; in a corpus with more keys than
// counters some rare keys are missed.
type counters struct {
	cells []uint8
	mask  uint64
}

func newCounters(chunks int) *counters {
	size := uint64(minCounters)
	if want := uint64(chunks) * 64; want > size {
		size = min(uint64(1)<<bits.Len64(want-1), maxCounters)
	}
	return &counters{cells: make([]uint8, size), mask: size - 1}
}

func (c *counters) at(hash uint64) (a, b *uint8) {
	second := (hash>>32 | hash<<32) * fnvPrime
	return &c.cells[hash&c.mask], &c.cells[(second>>7)&c.mask]
}

func (c *counters) add(hash uint64) {
	a, b := c.at(hash)
	least := min(*a, *b)
	if least == 255 {
		return
	}
	for _, cell := range []*uint8{a, b} {
		if *cell == least { // conservative update
			*cell = least + 1
		}
	}
}

func (c *counters) count(hash uint64) int {
	a, b := c.at(hash)
	return int(min(*a, *b))
}

// gathering keeps, of the bundles of one planner that fit, those with the least
// priority: a uniform sample that does not depend on the order of the corpus, in
// which every bundle has all its first members.
type gathering struct {
	planner planner
	salt    uint64
	seed    int64
	limit   int
	byKey   map[string]*bundle
	heap    bundleHeap
}

func newGathering(p planner, queryType string, n int, o *Options) *gathering {
	salt := hashString(hashString(fnvOffset, queryType)*fnvPrime, fmt.Sprintf("%T", p))
	return &gathering{planner: p, salt: salt, seed: o.Seed, limit: n, byKey: map[string]*bundle{}}
}

func (g *gathering) hash(key string) uint64 { return hashString(g.salt, key) }

func (g *gathering) count(c *view, n *counters) {
	g.planner.keys(c, func(key string, counts bool) {
		if counts {
			n.add(g.hash(key))
		}
	})
}

// gather adds the chunk to the bundles of its keys that fit.
func (g *gathering) gather(c *view, n *counters, keep func() *member) {
	least, most := g.planner.bounds()
	g.planner.keys(c, func(key string, _ bool) {
		if count := n.count(g.hash(key)); count < least || count > most {
			return
		}
		if b := g.bundle(key); b != nil && len(b.members) < maxMembers {
			b.members = append(b.members, keep())
		}
	})
}

// bundle gives the bundle of a key, nil for one that is not in the sample.
func (g *gathering) bundle(key string) *bundle {
	if b, ok := g.byKey[key]; ok {
		return b
	}
	b := &bundle{key: strings.Clone(key), priority: draw(g.seed, "bundle", g.hash(key))}
	if len(g.heap) == g.limit {
		if b.priority >= g.heap[0].priority {
			return nil
		}
		delete(g.byKey, heap.Pop(&g.heap).(*bundle).key)
	}
	heap.Push(&g.heap, b)
	g.byKey[b.key] = b
	return b
}

// candidates gives those of all bundles, bundles in the order of the draw: the
// first of each before the second of any.
func (g *gathering) candidates() []candidate {
	slices.SortFunc(g.heap, func(a, b *bundle) int { return compareDraws(a.priority, b.priority, a.key, b.key) })
	lists := make([][]candidate, len(g.heap))
	for i, b := range g.heap {
		lists[i] = g.planner.candidates(b)
		for n := range lists[i] {
			lists[i][n].priority = b.priority
		}
	}
	return interleave(lists)
}

// bundleHeap has the bundle with the greatest priority on top.
type bundleHeap []*bundle

func (h bundleHeap) Len() int           { return len(h) }
func (h bundleHeap) Less(i, j int) bool { return h[i].priority > h[j].priority }
func (h bundleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *bundleHeap) Push(x any) { *h = append(*h, x.(*bundle)) }

// Pop implements heap.Interface.
func (h *bundleHeap) Pop() any {
	last := len(*h) - 1
	b := (*h)[last]
	*h = (*h)[:last]
	return b
}

// gatherAll reads the corpus twice for all gatherings together.
func (s *scanner) gatherAll(ctx context.Context, chunks iter.Seq2[corpus.Chunk, error], all []*gathering) error {
	n := newCounters(s.f.chunks)
	err := s.eachChunk(ctx, chunks, func(c *view, _, _ uint32) {
		for _, g := range all {
			g.count(c, n)
		}
	})
	if err != nil {
		return err
	}
	return s.eachChunk(ctx, chunks, func(c *view, row, doc uint32) {
		var kept *member
		keep := func() *member {
			if kept == nil {
				kept = s.member(c.Chunk, row, doc)
			}
			return kept
		}
		for _, g := range all {
			g.gather(c, n, keep)
		}
	})
}

// eachChunk calls f with every chunk, its row and the number of its document, as
// scan counts them.
func (s *scanner) eachChunk(ctx context.Context, chunks iter.Seq2[corpus.Chunk, error], f func(c *view, row, doc uint32)) error {
	doc, docID, n := uint32(0), "", 0
	for c, err := range chunks {
		if err != nil {
			return fmt.Errorf("chunks: %w", err)
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if n == 0 || c.DocID != docID {
			doc++
			docID = strings.Clone(c.DocID)
		}
		f(&view{Chunk: &c}, uint32(n), doc)
		n++
	}
	if n != s.f.chunks {
		return fmt.Errorf("chunks: %d of %d were read", n, s.f.chunks)
	}
	return nil
}

// member keeps what is needed of a chunk, with no memory of the rows around it.
func (s *scanner) member(c *corpus.Chunk, row, doc uint32) *member {
	m := &member{Chunk: *c, row: row, doc: doc, stratum: s.name(infoOfChunk(c, row))}
	for _, text := range []*string{&m.ID, &m.DocID, &m.Text, &m.TextDigest, &m.ExactGroup, &m.NearGroup, &m.Category, &m.Language} {
		*text = strings.Clone(*text)
	}
	m.HeadingPath = make([]string, len(c.HeadingPath))
	for i, h := range c.HeadingPath {
		m.HeadingPath[i] = strings.Clone(h)
	}
	m.Metadata = nil
	return m
}

func infoOfChunk(c *corpus.Chunk, row uint32) *Info {
	return &Info{
		Row: int(row), ChunkID: c.ID, DocID: c.DocID, TextDigest: c.TextDigest, Category: c.Category,
		Language: c.Language, Unit: c.Unit, Path: c.DocID, Tokens: c.Tokens, Flags: c.Flags, Metadata: c.Metadata,
	}
}
