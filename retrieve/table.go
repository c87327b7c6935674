package retrieve

import (
	"slices"

	"github.com/goldgen/goldgen/internal/distinct"
	"github.com/goldgen/goldgen/internal/packed"
)

// Table is a run file's rows, each query's in order, as compact as they can be
// for who needs one query at a time: a row costs the bytes of its id and 16
// more. An id that a query has twice is still there twice.
type Table struct {
	Tag string // a TREC run's, of its first row

	names  distinct.Names // of queries
	starts []int          // of each query, where its rows begin; and the end of the last
	ids    packed.Strings
	id     []uint32 // of each row, its number in ids
	scores []float64
}

// Queries are in order of first appearance. The slice must not be changed.
func (t *Table) Queries() []string { return t.names.List() }

// Rows is how many rows there are.
func (t *Table) Rows() int { return len(t.id) }

// Index is a query's place in Queries; false means that the run lacks it. It
// takes least where the query before was number last, -1 for none.
func (t *Table) Index(query string, last int) (int, bool) { return t.names.IndexAfter(last, query) }

// Scores are those of query number i, best result first. The slice must not be
// changed.
func (t *Table) Scores(i int) []float64 {
	return t.scores[t.starts[i]:t.starts[i+1]:t.starts[i+1]]
}

// IDs appends the ids of query number i's results, best first, to to.
func (t *Table) IDs(i int, to []string) []string {
	return t.ids.Append(to, t.id[t.starts[i]:t.starts[i+1]])
}

// Run drops repeated ids. It takes over the table, which must not be used any
// more.
func (t *Table) Run() *Run {
	run := &Run{Tag: t.Tag, Queries: t.Queries(), Rankings: make([]Ranking, len(t.Queries())), Rows: t.Rows(), names: t.names}
	all := make([]string, t.Rows())
	var dropped [2]int
	eachHalf(len(run.Rankings), func(half, first, end int) {
		d := deduper{seen: map[string]struct{}{}}
		for i := first; i < end; i++ {
			from, to := t.starts[i], t.starts[i+1]
			run.Rankings[i] = d.ranking(t.IDs(i, all[from:from:to]), t.Scores(i))
		}
		dropped[half] = d.dropped
	})
	run.Duplicates = dropped[0] + dropped[1]
	return run
}

// deduper drops the ids that repeat an earlier one of their query, in place.
type deduper struct {
	seen    map[string]struct{}
	dropped int
}

func (d *deduper) ranking(ids []string, scores []float64) Ranking {
	clear(d.seen)
	kept, long := 0, len(ids) > shortRanking
	for i, id := range ids {
		if d.repeats(ids[:kept], id, long) {
			d.dropped++
			continue
		}
		ids[kept], scores[kept] = id, scores[i]
		kept++
	}
	return Ranking{IDs: ids[:kept:kept], Scores: scores[:kept:kept]}
}

// shortRanking is up to where looking through a ranking is quicker than a map.
const shortRanking = 16

// repeats reports whether the query at hand has the id already, in ids.
func (d *deduper) repeats(ids []string, id string, long bool) bool {
	if !long {
		return slices.Contains(ids, id)
	}
	_, known := d.seen[id]
	d.seen[id] = struct{}{}
	return known
}
