package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/retrieve"
)

// rankDepth is how deep the embedded retrievers are asked, whatever their depth
// in the pool: a source below the pool still gets its rank, and a chunk that
// one member pooled gets its rank in the others.
const rankDepth = 100

func deepRank(member string) bool {
	return slices.Contains([]string{"bm25", "ngram", "dense", "lsa"}, member)
}

// maxScopes bounds how many scopes' lists of visible chunks a Pooler keeps.
const maxScopes = 64

// Pooler makes the pools of many cases over one corpus. It may be used
// concurrently.
type Pooler struct {
	options PoolOptions
	members map[string]retrieve.Retriever
	names   []string // of the members, sorted
	view    CorpusView

	mu       sync.Mutex
	eligible map[string][]int32 // by scope and filters
}

// NewPooler prepares pools of the members' hits over view.
func NewPooler(o PoolOptions, members map[string]retrieve.Retriever, view CorpusView) *Pooler {
	return &Pooler{options: o, members: members, names: sortedKeys(members), view: view, eligible: map[string][]int32{}}
}

// Pool returns the chunks worth grading for one case: each member's top hits
// under the case's scope, filters and as_of, its sources, their neighbours and
// near-duplicates, and a few random chunks that the asker may see. Sources come
// first, then the rest by best rank and id, random ones last. A member's error
// ends it; a hit that names no chunk of the corpus is left out.
func (p *Pooler) Pool(ctx context.Context, c datasets.Case) ([]Item, error) {
	return p.PoolWith(ctx, c, nil)
}

// PoolWith is Pool with further chunks, known to be worth a look: those that the
// asker may see join the pool. The random ones are drawn as without them.
func (p *Pooler) PoolWith(ctx context.Context, c datasets.Case, extra []string) ([]Item, error) {
	b := builder{p: p, c: &c, items: map[int]*Item{}, ranks: map[int]map[string]Rank{}}
	if err := b.addSources(); err != nil {
		return nil, err
	}
	hits, err := b.search(ctx)
	if err != nil {
		return nil, err
	}
	b.limit = p.limit(len(b.items))
	b.addHits(hits)
	b.addNear()
	b.addNeighbours()
	b.addRandom()
	b.limit = p.view.Len()
	for _, id := range extra {
		if pos, ok := p.view.Position(id); ok {
			b.add(pos)
		}
	}
	return b.finish(), nil
}

// limit is the number of items before the random ones.
func (p *Pooler) limit(sources int) int {
	most := p.options.Depth[DepthMax]
	if most == 0 {
		return p.view.Len()
	}
	return max(sources, most-p.options.Depth[DepthRandom])
}

func (p *Pooler) depth(member string) int {
	if d, ok := p.options.Depth[member]; ok {
		return d
	}
	return DefaultDepth
}

// builder is the pool of one case in the making.
type builder struct {
	p     *Pooler
	c     *datasets.Case
	limit int
	items map[int]*Item // by position
	ranks map[int]map[string]Rank
}

func (b *builder) addSources() error {
	for _, id := range b.c.Source {
		pos, ok := b.p.view.Position(id)
		if !ok {
			return fmt.Errorf("case %s: source chunk %s is not in the corpus", b.c.ID, id)
		}
		b.newItem(pos).Source = true
	}
	return nil
}

func (b *builder) newItem(pos int) *Item {
	if item, ok := b.items[pos]; ok {
		return item
	}
	c := b.p.view.Chunk(pos)
	item := &Item{ChunkID: c.ID, DocID: c.DocID, ExactGroup: c.ExactGroup, Inclusion: 1}
	b.items[pos] = item
	return item
}

// add returns the item of a position that the asker may see, nil when it may
// not be seen or the pool is full.
func (b *builder) add(pos int) *Item {
	if item, ok := b.items[pos]; ok {
		return item
	}
	if len(b.items) >= b.limit || !b.visible(pos) {
		return nil
	}
	return b.newItem(pos)
}

func (b *builder) visible(pos int) bool {
	return corpus.Match(b.p.view.Chunk(pos), b.c.Scope, b.c.Filters, b.c.AsOf)
}

// search asks each member and returns the positions that it pools, by member.
func (b *builder) search(ctx context.Context) (map[string][]int, error) {
	pooled := make(map[string][]int, len(b.p.names))
	for _, name := range b.p.names {
		depth := b.p.depth(name)
		if depth == 0 {
			continue
		}
		k := depth
		if deepRank(name) {
			k = max(k, rankDepth)
		}
		q := retrieve.Query{ID: b.c.ID, Text: b.c.Query, K: k, Scope: b.c.Scope, Filters: b.c.Filters, AsOf: b.c.AsOf}
		result, err := b.p.members[name].Retrieve(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("case %s: pool member %s: %w", b.c.ID, name, err)
		}
		pooled[name] = b.rank(name, depth, result.Hits)
	}
	return pooled, nil
}

// rank records the ranks of a member's hits and returns the positions within
// its depth, best first.
func (b *builder) rank(name string, depth int, hits []retrieve.Hit) []int {
	var pooled []int
	for i, hit := range hits {
		for _, pos := range positions(b.p.view, hit) {
			if b.ranks[pos] == nil {
				b.ranks[pos] = map[string]Rank{}
			}
			if _, ok := b.ranks[pos][name]; ok {
				continue // returned again: the first counts
			}
			b.ranks[pos][name] = Rank{Rank: i + 1, Score: hit.Score}
			if i < depth {
				pooled = append(pooled, pos)
			}
		}
	}
	return pooled
}

// positions resolves a hit: a chunk by its id, or the chunks of a document that
// a span touches.
func positions(view CorpusView, hit retrieve.Hit) []int {
	if hit.ChunkID != "" {
		if pos, ok := view.Position(hit.ChunkID); ok {
			return []int{pos}
		}
		return nil
	}
	var found []int
	for _, pos := range view.DocChunks(hit.DocID) {
		if c := view.Chunk(pos); c.Start < hit.End && hit.Start < c.End {
			found = append(found, pos)
		}
	}
	return found
}

// addHits admits the members' hits rank by rank, so that a limit cuts all
// members alike.
func (b *builder) addHits(hits map[string][]int) {
	deepest := 0
	for _, h := range hits {
		deepest = max(deepest, len(h))
	}
	for i := range deepest {
		for _, name := range b.p.names {
			if i >= len(hits[name]) {
				continue
			}
			if item := b.add(hits[name][i]); item != nil {
				item.Members++
			}
		}
	}
}

func (b *builder) addNear() {
	for _, source := range b.sources() {
		group, left := b.p.view.Chunk(source).NearGroup, b.p.options.Depth[DepthNear]
		if group == "" {
			continue
		}
		for _, pos := range b.p.view.NearChunks(group) {
			if left == 0 {
				break
			}
			if pos != source && b.add(pos) != nil {
				left--
			}
		}
	}
}

func (b *builder) addNeighbours() {
	reach := b.p.options.Depth[DepthNeighbours]
	for _, source := range b.sources() {
		doc := b.p.view.DocChunks(b.p.view.Chunk(source).DocID)
		at := slices.Index(doc, source)
		for i := max(0, at-reach); i <= min(len(doc)-1, at+reach); i++ {
			if item := b.add(doc[i]); item != nil && !item.Source {
				item.Neighbour = true
			}
		}
	}
}

// sources returns the positions of the case's sources in the case's order.
func (b *builder) sources() []int {
	found := make([]int, 0, len(b.c.Source))
	for _, id := range b.c.Source {
		if pos, ok := b.p.view.Position(id); ok {
			found = append(found, pos)
		}
	}
	return found
}

// addRandom draws from the chunks that the asker may see and the pool does not
// hold: uniformly, without putting back, so that the inclusion probability is
// drawn / outside.
func (b *builder) addRandom() {
	want := b.p.options.Depth[DepthRandom]
	if want == 0 {
		return
	}
	eligible := b.p.eligibleFor(b.c)
	outside := len(eligible)
	for pos := range b.items {
		if _, ok := slices.BinarySearch(eligible, int32(pos)); ok {
			outside--
		}
	}
	want = min(want, outside)
	rng := seeded.Rand(b.p.options.Seed, "pool", b.c.ID)
	for draw := 1; draw <= want; {
		pos := int(eligible[rng.IntN(len(eligible))])
		if _, ok := b.items[pos]; ok {
			continue
		}
		item := b.newItem(pos)
		item.Random, item.Draw, item.Inclusion = true, draw, float64(want)/float64(outside)
		draw++
	}
}

// eligibleFor returns the positions, ascending, of the chunks with text that
// the case's asker may see.
func (p *Pooler) eligibleFor(c *datasets.Case) []int32 {
	if c.AsOf != nil {
		return p.scan(c) // nearly every case has a date of its own
	}
	key, err := json.Marshal([]any{c.Scope, c.Filters})
	if err != nil {
		return p.scan(c)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if list, ok := p.eligible[string(key)]; ok {
		return list
	}
	list := p.scan(c)
	if len(p.eligible) < maxScopes {
		p.eligible[string(key)] = list
	}
	return list
}

func (p *Pooler) scan(c *datasets.Case) []int32 {
	var list []int32
	for pos := range p.view.Len() {
		chunk := p.view.Chunk(pos)
		if strings.TrimSpace(chunk.Text) != "" && corpus.Match(chunk, c.Scope, c.Filters, c.AsOf) {
			list = append(list, int32(pos))
		}
	}
	return list
}

// finish fills in how the items relate to the sources and orders them.
func (b *builder) finish() []Item {
	items := make([]Item, 0, len(b.items))
	for _, pos := range slices.Sorted(maps.Keys(b.items)) {
		item := b.items[pos]
		item.Ranks = b.ranks[pos]
		b.relate(item, b.p.view.Chunk(pos))
		items = append(items, *item)
	}
	slices.SortStableFunc(items, func(x, y Item) int { return b.order(&x, &y) })
	return items
}

func (b *builder) relate(item *Item, chunk *corpus.Chunk) {
	if item.Source {
		return
	}
	for _, pos := range b.sources() {
		source := b.p.view.Chunk(pos)
		item.Copy = item.Copy || (chunk.ExactGroup != "" && chunk.ExactGroup == source.ExactGroup)
		item.Near = item.Near || (chunk.NearGroup != "" && chunk.NearGroup == source.NearGroup)
	}
	item.Near = item.Near && !item.Copy
}

// order puts sources first in the case's order, drawn items last in the order
// of the draw, and the rest by best rank, then id.
func (b *builder) order(x, y *Item) int {
	class := func(i *Item) int {
		switch {
		case i.Source:
			return slices.Index(b.c.Source, i.ChunkID) - len(b.c.Source)
		case i.Random:
			return i.Draw
		}
		return 0
	}
	return cmp.Or(cmp.Compare(class(x), class(y)), cmp.Compare(x.BestRank(), y.BestRank()), strings.Compare(x.ChunkID, y.ChunkID))
}

// unranked is the rank of an item that no member returned.
const unranked = 1 << 30

// BestRank is the best rank that any member gave the item; a very large number
// when none did.
func (i *Item) BestRank() int {
	best := unranked
	for _, r := range i.Ranks {
		best = min(best, r.Rank)
	}
	return best
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
