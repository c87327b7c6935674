package retrieve

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/goldgen/goldgen/internal/distinct"
)

// rows are a run's rows as read, column by column.
type rows struct {
	names  distinct.Names // of queries
	query  []int32        // number of each
	ids    []string
	scores []float64
	ranks  []int32 // nil where the file's ranks do not count
}

// entry is one row while its query is sorted.
type entry struct {
	id    string
	score float64
	rank  int32
}

// byScoreDescID is trec_eval's order: score descending, then id descending.
func byScoreDescID(a, b entry) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return strings.Compare(b.id, a.id)
}

// byScoreRankID is a Parquet run's order: score descending, then rank, then id.
func byScoreRankID(a, b entry) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	if c := cmp.Compare(a.rank, b.rank); c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}

// run orders every query's rows and drops repeated ids.
func (r *rows) run(order func(a, b entry) int) *Run {
	r.names.Settle(r.query)
	starts, names := r.group(), r.names.List()
	run := &Run{Queries: names, Rankings: make([]Ranking, len(names)), Rows: len(r.ids), names: r.names}
	var dropped [2]int
	var workers sync.WaitGroup
	half := len(names) / 2
	for w, part := range [2][2]int{{0, half}, {half, len(names)}} {
		workers.Go(func() {
			s := sorter{rows: r, order: order, seen: map[string]struct{}{}}
			for i := part[0]; i < part[1]; i++ {
				run.Rankings[i] = s.rank(starts[i], starts[i+1])
			}
			dropped[w] = s.dropped
		})
	}
	workers.Wait()
	run.Duplicates = dropped[0] + dropped[1]
	return run
}

// group brings each query's rows together, in file order, and returns where
// each begins, with the end of the last.
func (r *rows) group() []int {
	starts := make([]int, len(r.names.List())+1)
	for _, q := range r.query {
		starts[q+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	if !slices.IsSorted(r.query) {
		r.permute(starts)
	}
	return starts
}

func (r *rows) permute(starts []int) {
	next := slices.Clone(starts)
	ids, scores := make([]string, len(r.ids)), make([]float64, len(r.scores))
	ranks := make([]int32, len(r.ranks))
	for i, q := range r.query {
		at := next[q]
		next[q]++
		ids[at], scores[at] = r.ids[i], r.scores[i]
		if r.ranks != nil {
			ranks[at] = r.ranks[i]
		}
	}
	r.ids, r.scores = ids, scores
	if r.ranks != nil {
		r.ranks = ranks
	}
}

// sorter orders the rows of one query at a time, in place.
type sorter struct {
	rows    *rows
	order   func(a, b entry) int
	entries []entry
	seen    map[string]struct{}
	dropped int
}

func (s *sorter) rank(from, to int) Ranking {
	s.load(from, to)
	if !slices.IsSortedFunc(s.entries, s.order) {
		slices.SortStableFunc(s.entries, s.order)
	}
	ids, scores := s.rows.ids[from:from:to], s.rows.scores[from:from:to]
	clear(s.seen)
	for _, e := range s.entries {
		if s.repeats(ids, e.id) {
			s.dropped++
			continue
		}
		ids, scores = append(ids, e.id), append(scores, e.score)
	}
	return Ranking{IDs: ids, Scores: scores}
}

// shortRanking is up to where looking through a ranking is quicker than a map.
const shortRanking = 16

// repeats reports whether the query at hand has the id already, in ids.
func (s *sorter) repeats(ids []string, id string) bool {
	if len(s.entries) <= shortRanking {
		return slices.Contains(ids, id)
	}
	_, known := s.seen[id]
	s.seen[id] = struct{}{}
	return known
}

func (s *sorter) load(from, to int) {
	s.entries = s.entries[:0]
	for i := from; i < to; i++ {
		e := entry{id: s.rows.ids[i], score: s.rows.scores[i]}
		if s.rows.ranks != nil {
			e.rank = s.rows.ranks[i]
		}
		s.entries = append(s.entries, e)
	}
}

// slab turns many short byte slices into strings that share a few large ones.
type slab struct {
	block []byte
	ends  []int
	made  []string
}

const slabBlock = 1 << 18

func (s *slab) add(b []byte) {
	if len(s.block)+len(b) > slabBlock {
		s.flush()
	}
	s.block = append(s.block, b...)
	s.ends = append(s.ends, len(s.block))
}

func (s *slab) flush() {
	text, from := string(s.block), 0
	for _, end := range s.ends {
		s.made = append(s.made, text[from:end])
		from = end
	}
	s.block, s.ends = s.block[:0], s.ends[:0]
}

// strings returns all that were added.
func (s *slab) strings() []string {
	s.flush()
	return s.made
}
