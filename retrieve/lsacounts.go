package retrieve

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// termCount is a term and how often a text has it.
type termCount struct {
	term  uint32
	count uint16 // at most 65,535
}

// termCounts are the terms of all chunks in order, row after row; within a row
// the terms ascend.
type termCounts struct {
	terms map[string]uint32
	df    []uint32
	words map[string][]uint32 // memo of stems; nil once read
	start []int
	cells []termCount
}

func newTermCounts() *termCounts {
	return &termCounts{terms: map[string]uint32{}, words: map[string][]uint32{}, start: []int{0}}
}

func (t *termCounts) len() int { return len(t.start) - 1 }

func (t *termCounts) row(i int) []termCount { return t.cells[t.start[i]:t.start[i+1]] }

// add takes in the next chunk's text.
func (t *termCounts) add(text string) {
	row := countTerms(text, t.ids)
	for _, c := range row {
		t.df[c.term]++
	}
	t.cells = append(t.cells, row...)
	t.start = append(t.start, len(t.cells))
}

// ids numbers the terms of a word.
func (t *termCounts) ids(word []byte, joined bool) []uint32 {
	if ids, ok := t.words[string(word)]; ok {
		return ids
	}
	ids := []uint32{}
	for _, term := range stemmed(string(word), joined) {
		id, ok := t.terms[term]
		if !ok {
			id = uint32(len(t.df))
			t.terms[term] = id
			t.df = append(t.df, 0)
		}
		ids = append(ids, id)
	}
	t.words[string(word)] = ids
	return ids
}

// countTerms counts what ids gives for each word, by ascending term.
func countTerms(text string, ids func(word []byte, joined bool) []uint32) []termCount {
	counts := map[uint32]uint16{}
	eachWord(text, func(word []byte, joined bool) {
		for _, id := range ids(word, joined) {
			if counts[id] < math.MaxUint16 {
				counts[id]++
			}
		}
	})
	row := make([]termCount, 0, len(counts))
	for term, n := range counts {
		row = append(row, termCount{term, n})
	}
	slices.SortFunc(row, func(a, b termCount) int { return cmp.Compare(a.term, b.term) })
	return row
}

// eachRow calls f for 0 to n-1, shared among a few goroutines: calls must not
// depend on each other.
func eachRow(n int, f func(i int)) {
	const workers = 8
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				f(i)
			}
		})
	}
	all.Wait()
}
