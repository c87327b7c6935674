package sample

import (
	"cmp"
	"math"
	"slices"
)

// pick is one row to be: a chunk, for the use-th time (from 0).
type pick struct {
	entry
	use int
}

// quota is a stratum in the course of a draw.
type quota struct {
	*stratum
	queue    queue
	wanted   int // share of the cases before any stratum was found short
	main     []pick
	reserves []pick
	groups   map[uint32]*group // by row
	typed    []typedPick
	empty    bool // can give no more
	capped   bool // the limit per document kept a chunk out
}

// patience is how many chunks in a row are passed over, because their documents
// have been asked about as often as the others, before a second chunk of such a
// document is taken.
const patience = 4096

// queue gives a stratum's picks one by one: chunks by priority, those of
// documents with fewer picks first, then chunks for another time.
type queue struct {
	fresh    stream
	pending  []entry // passed over at lower levels, by priority
	deferred []entry // passed over at this level
	least    int     // fewest picks of a document in deferred
	level    int     // picks that a document may have before one of its chunks is taken
	again    int     // next pick to repeat
	used     []pick
}

// newQueue starts with no document asked about.
func newQueue(s *stratum) queue {
	return queue{fresh: stream{stratum: s}, least: math.MaxInt}
}

// next gives the stratum's next pick. docs counts the picks of each document,
// over all strata; limit is the most that one may have (0: any), and uses how
// often a chunk may be picked.
func (q *quota) next(docs map[uint32]int, limit, uses int) (pick, bool) {
	e, ok := q.queue.chunk(docs, limit, &q.capped)
	p := pick{entry: e}
	if !ok {
		p, ok = q.queue.repeat(docs, limit, uses, &q.capped)
	}
	if !ok {
		q.empty = true
		return pick{}, false
	}
	docs[p.doc]++
	q.queue.used = append(q.queue.used, p)
	return p, true
}

// chunk gives the next chunk that has not been picked.
func (q *queue) chunk(docs map[uint32]int, limit int, capped *bool) (entry, bool) {
	for passed := 0; ; {
		if passed == patience {
			passed = 0
			q.raise()
		}
		e, ok := q.candidate()
		if !ok {
			if !q.raise() {
				return entry{}, false
			}
			continue
		}
		n := docs[e.doc]
		switch {
		case limit > 0 && n >= limit:
			*capped = true
		case n > q.level:
			q.deferred = append(q.deferred, e)
			q.least = min(q.least, n)
			passed++
		default:
			return e, true
		}
	}
}

// candidate gives the next chunk of this level's pass.
func (q *queue) candidate() (entry, bool) {
	if len(q.pending) > 0 {
		e := q.pending[0]
		q.pending = q.pending[1:]
		return e, true
	}
	return q.fresh.next()
}

// raise starts the next pass, at the level that the passed-over chunks need;
// false when none is left.
func (q *queue) raise() bool {
	if len(q.deferred) == 0 {
		return false
	}
	q.level = q.least
	q.pending = append(q.deferred, q.pending...)
	q.deferred, q.least = nil, math.MaxInt
	return true
}

// repeat gives the earliest pick again, for its next use.
func (q *queue) repeat(docs map[uint32]int, limit, uses int, capped *bool) (pick, bool) {
	for q.again < len(q.used) {
		p := q.used[q.again]
		q.again++
		if p.use+1 >= uses {
			continue
		}
		if limit > 0 && docs[p.doc] >= limit {
			*capped = true
			continue
		}
		return pick{entry: p.entry, use: p.use + 1}, true
	}
	return pick{}, false
}

// stream gives a stratum's entries by priority and sorts no more of them than
// are asked for: priorities are uniform, so the next few lie in a window whose
// width is known.
type stream struct {
	*stratum
	window []entry
	from   uint64 // start of the next window
	width  uint64
	done   bool
}

const windowEntries = 256

func (s *stream) next() (entry, bool) {
	for len(s.window) == 0 {
		if s.done {
			return entry{}, false
		}
		s.advance()
	}
	e := s.window[0]
	s.window = s.window[1:]
	return e, true
}

// advance sorts the next window, each twice as wide as the one before.
func (s *stream) advance() {
	switch {
	case s.width == 0 && s.size <= 2*windowEntries:
		s.width = math.MaxUint64
	case s.width == 0:
		s.width = math.MaxUint64 / uint64(s.size) * windowEntries
	case s.width <= math.MaxUint64/2:
		s.width *= 2
	default:
		s.width = math.MaxUint64
	}
	last := s.from + s.width
	if last < s.from || last == math.MaxUint64 {
		last, s.done = math.MaxUint64, true
	}
	s.window = s.window[:0:0]
	for _, block := range s.blocks {
		for _, e := range block {
			if e.priority >= s.from && e.priority <= last {
				s.window = append(s.window, e)
			}
		}
	}
	slices.SortFunc(s.window, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.row, b.row))
	})
	s.from = last + 1
}
