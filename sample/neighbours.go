package sample

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/goldgen/goldgen/datasets"
)

// Neighbour is a chunk with the one that is nearest to it by vector, of another
// document and not nearly the same.
type Neighbour struct{ ChunkID, Nearest string }

// Neighbours finds the neighbours of the chunks of rows, in the snapshot's order;
// a chunk without one is left out.
type Neighbours func(ctx context.Context, rows []int) ([]Neighbour, error)

// maxComparisons bounds the pairs of chunks whose vectors are compared, and
// minLooked how few chunks' neighbours are looked for in the largest corpus.
const (
	maxComparisons = 1 << 26
	minLooked      = 16
)

// addNeighbours has multi_hop queries join chunks that are near each other, of a
// uniform sample of the frame.
func (s *scanner) addNeighbours(ctx context.Context, quotas []*typeQuota) error {
	for _, q := range quotas {
		if q.queryType != datasets.MultiHop || s.in.Neighbours == nil {
			continue
		}
		n := min(q.bundles(&s.o), max(minLooked, maxComparisons/max(s.f.chunks, 1)))
		pairs, err := s.in.Neighbours(ctx, s.f.least(n))
		if err != nil {
			return fmt.Errorf("neighbours by vector: %w", err)
		}
		q.planners = append(q.planners, newNeighbourHops(pairs))
	}
	return nil
}

// least gives the rows of the chunks that are drawn first, n of them or all,
// ascending.
func (f *frame) least(n int) []int {
	limit := uint64(math.MaxUint64)
	if enough := 2*n + 1000; enough < f.eligible { // of the priorities, which are uniform
		limit = uint64(float64(limit) * (float64(enough) / float64(f.eligible)))
	}
	var drawn []entry
	for _, s := range f.strata {
		for _, block := range s.blocks {
			for _, e := range block {
				if e.priority <= limit {
					drawn = append(drawn, e)
				}
			}
		}
	}
	slices.SortFunc(drawn, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.row, b.row))
	})
	var rows []int
	for _, e := range drawn[:min(n, len(drawn))] {
		rows = append(rows, int(e.row))
	}
	slices.Sort(rows)
	return rows
}

// neighbourHops finds two chunks that are near each other by vector.
type neighbourHops struct{ of map[string][]string } // chunk id -> keys of its pairs

func newNeighbourHops(pairs []Neighbour) neighbourHops {
	p := neighbourHops{of: map[string][]string{}}
	for _, n := range pairs {
		key := min(n.ChunkID, n.Nearest) + "\x00" + max(n.ChunkID, n.Nearest)
		if n.ChunkID == n.Nearest || slices.Contains(p.of[n.ChunkID], key) {
			continue // each is the other's
		}
		p.of[n.ChunkID], p.of[n.Nearest] = append(p.of[n.ChunkID], key), append(p.of[n.Nearest], key)
	}
	return p
}

func (p neighbourHops) keys(c *view, join func(string, bool)) {
	for _, key := range p.of[c.ID] {
		join(key, true)
	}
}

func (neighbourHops) bounds() (least, most int) { return 2, 2 }

func (neighbourHops) candidates(b *bundle) []candidate {
	if len(b.members) != 2 {
		return nil
	}
	m, o := b.members[0], b.members[1]
	if !m.eligible() || !o.eligible() || m.DocID == o.DocID || alike(m, o) {
		return nil
	}
	return []candidate{{about: []*member{m, o}, link: LinkNeighbour}}
}

func (neighbourHops) lacking() string {
	return "chunks of two documents that are near each other by vector"
}
