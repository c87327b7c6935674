package retrieve

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/goldgen/goldgen/internal/distinct"
	"github.com/goldgen/goldgen/internal/packed"
)

// rows are a run's rows as read, column by column.
type rows struct {
	names  distinct.Names // of queries
	runs   []int32        // how many rows in a row have a query, by the number that names gives first
	query  []int32        // once settled, the number of each of runs
	ids    packed.Strings
	id     []uint32 // of each, its number in ids
	scores []float64
	ranks  []int32 // nil where the file's ranks do not count
}

// entry is one row while its query is sorted.
type entry struct {
	score float64
	rank  int32
	id    uint32
}

// order compares two rows of a query.
type order func(ids *packed.Strings, a, b entry) int

// byScoreDescID is trec_eval's order: score descending, then id descending.
func byScoreDescID(ids *packed.Strings, a, b entry) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return strings.Compare(ids.At(b.id), ids.At(a.id))
}

// byScoreRankID is a Parquet run's order: score descending, then rank, then id.
func byScoreRankID(ids *packed.Strings, a, b entry) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	if c := cmp.Compare(a.rank, b.rank); c != 0 {
		return c
	}
	return strings.Compare(ids.At(a.id), ids.At(b.id))
}

// of counts a row of the query that names gave a number.
func (r *rows) of(query int32) {
	if int(query) == len(r.runs) {
		r.runs = append(r.runs, 0)
	}
	r.runs[query]++
}

// settle numbers the queries of runs for good.
func (r *rows) settle() {
	r.query = make([]int32, len(r.runs))
	for i := range r.query {
		r.query[i] = int32(i)
	}
	r.names.Settle(r.query)
}

// table groups the rows by query and orders each query's.
func (r *rows) table(by order) *Table {
	r.ids.Settle()
	r.settle()
	t := &Table{names: r.names, starts: r.group()}
	eachHalf(len(t.starts)-1, func(_, from, to int) {
		s := sorter{rows: r, order: by}
		for i := from; i < to; i++ {
			s.sort(t.starts[i], t.starts[i+1])
		}
	})
	t.ids, t.id, t.scores = r.ids, r.id, r.scores
	return t
}

// eachHalf calls f for each half of n items, at once.
func eachHalf(n int, f func(half, from, to int)) {
	var workers sync.WaitGroup
	for half, part := range [2][2]int{{0, n / 2}, {n / 2, n}} {
		workers.Go(func() { f(half, part[0], part[1]) })
	}
	workers.Wait()
}

// group brings each query's rows together, in file order, and returns where
// each begins, with the end of the last.
func (r *rows) group() []int {
	starts := make([]int, len(r.names.List())+1)
	for i, q := range r.query {
		starts[q+1] += int(r.runs[i])
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
	id, scores := make([]uint32, len(r.id)), make([]float64, len(r.scores))
	ranks := make([]int32, len(r.ranks))
	from := 0
	for i, q := range r.query {
		at, to := next[q], from+int(r.runs[i])
		next[q] += copy(id[at:], r.id[from:to])
		copy(scores[at:], r.scores[from:to])
		if r.ranks != nil {
			copy(ranks[at:], r.ranks[from:to])
		}
		from = to
	}
	r.id, r.scores = id, scores
	if r.ranks != nil {
		r.ranks = ranks
	}
}

// sorter orders the rows of one query at a time, in place.
type sorter struct {
	rows    *rows
	order   order
	entries []entry
}

func (s *sorter) sort(from, to int) {
	if s.descends(from, to) {
		return
	}
	r := s.rows
	s.entries = s.entries[:0]
	for i := from; i < to; i++ {
		e := entry{id: r.id[i], score: r.scores[i]}
		if r.ranks != nil {
			e.rank = r.ranks[i]
		}
		s.entries = append(s.entries, e)
	}
	slices.SortStableFunc(s.entries, func(a, b entry) int { return s.order(&r.ids, a, b) })
	for i, e := range s.entries {
		r.id[from+i], r.scores[from+i] = e.id, e.score
	}
}

// descends reports whether every score is below the one before: then the rows
// are in order.
func (s *sorter) descends(from, to int) bool {
	scores := s.rows.scores[from:to]
	for i := 1; i < len(scores); i++ {
		if scores[i] >= scores[i-1] {
			return false
		}
	}
	return true
}
