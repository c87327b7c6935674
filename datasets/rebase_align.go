package datasets

import (
	"slices"
	"sort"

	"github.com/goldgen/goldgen/internal/quotes"
)

// block is a run of bytes that two texts share: length bytes at from in the old
// one and at to in the new one.
type block struct{ from, to, length int }

// alignment says which bytes of an old text stand where in a new one. Its blocks
// are in the order of both texts and do not touch on both sides.
type alignment struct {
	blocks   []block
	old, now int // lengths of the texts in bytes
}

// anchorPieces is how many pieces in a row make an anchor of whole texts: some
// four words.
const anchorPieces = 8

// align finds what two texts have in common by anchors, after the patience diff
// (Bram Cohen): runs of anchorPieces pieces that each text has just once, as many
// of them as stand in the same order, each grown both ways as far as the texts
// agree; and the same between them by pieces that are there once. It takes
// O(n log n) steps, and nothing of it depends on a clock.
func align(old, now string) *alignment {
	a := aligner{old: quotes.Pieces(old), now: quotes.Pieces(now)}
	whole := gap{0, len(a.old), 0, len(a.now)}
	a.grow(whole, anchorPieces, func(between gap) {
		a.grow(between, 1, func(gap) {})
	})
	return a.result(len(old), len(now))
}

// gap is a part of both texts that is not aligned yet, in pieces.
type gap struct{ old, oldEnd, now, nowEnd int }

func (g gap) empty() bool { return g.old >= g.oldEnd || g.now >= g.nowEnd }

// aligner collects runs of pieces that are equal, in order.
type aligner struct {
	old, now []string
	runs     []block // in pieces
}

// grow aligns a gap by anchors of the given length and calls between with what is
// left, in order.
func (a *aligner) grow(g gap, length int, between func(gap)) {
	head := a.same(g, 1)
	a.add(block{g.old, g.now, head})
	g.old, g.now = g.old+head, g.now+head
	tail := a.same(g, -1)
	rest := gap{g.old, g.oldEnd - tail, g.now, g.nowEnd - tail}
	for _, anchor := range a.anchors(rest, length) {
		if anchor.from < rest.old || anchor.to < rest.now {
			continue // grown over
		}
		back := a.same(gap{rest.old, anchor.from, rest.now, anchor.to}, -1)
		ahead := a.same(gap{anchor.from, rest.oldEnd, anchor.to, rest.nowEnd}, 1)
		if left := (gap{rest.old, anchor.from - back, rest.now, anchor.to - back}); !left.empty() {
			between(left)
		}
		a.add(block{anchor.from - back, anchor.to - back, back + ahead})
		rest.old, rest.now = anchor.from+ahead, anchor.to+ahead
	}
	if !rest.empty() {
		between(rest)
	}
	a.add(block{g.oldEnd - tail, g.nowEnd - tail, tail})
}

func (a *aligner) add(b block) {
	if b.length > 0 {
		a.runs = append(a.runs, b)
	}
}

// same counts the equal pieces at a gap's beginning (step 1) or end (step -1).
func (a *aligner) same(g gap, step int) int {
	n, most := 0, min(g.oldEnd-g.old, g.nowEnd-g.now)
	for n < most {
		i, j := g.old+n, g.now+n
		if step < 0 {
			i, j = g.oldEnd-1-n, g.nowEnd-1-n
		}
		if a.old[i] != a.now[j] {
			break
		}
		n++
	}
	return n
}

// once is where a run of pieces begins in each text, and how often it does.
type once struct{ at, times [2]int }

// mostAnchors is about how many runs of a text are looked at; of a longer one some
// are, by their hashes, which is the same in both texts. It bounds the memory, and
// what is between the anchors is found by growing them.
const mostAnchors = 50_000

// anchors are the runs of length pieces that both sides of a gap have once, the
// longest list of them that is in order on both sides.
func (a *aligner) anchors(g gap, length int) []block {
	seen := map[uint64]once{}
	one := uint64(1 + max(g.oldEnd-g.old, g.nowEnd-g.now)/mostAnchors)
	count := func(side int, pieces []string, from, to int) {
		rolling(pieces[from:to], length, func(i int, hash uint64) {
			if hash>>32%one != 0 {
				return
			}
			o := seen[hash]
			o.at[side], o.times[side] = from+i, o.times[side]+1
			seen[hash] = o
		})
	}
	count(0, a.old, g.old, g.oldEnd)
	count(1, a.now, g.now, g.nowEnd)
	var found []block
	for _, o := range seen {
		if o.times == [2]int{1, 1} && slices.Equal(a.old[o.at[0]:o.at[0]+length], a.now[o.at[1]:o.at[1]+length]) {
			found = append(found, block{o.at[0], o.at[1], length})
		}
	}
	slices.SortFunc(found, func(x, y block) int { return x.from - y.from })
	return inOrder(found)
}

// rolling hashes each run of length pieces (FNV-1a over pieces, then a polynomial
// over the run).
func rolling(pieces []string, length int, f func(i int, hash uint64)) {
	const prime = 0x9e3779b97f4a7c15
	hash, first := uint64(0), uint64(1)
	for range length - 1 {
		first *= prime
	}
	for i := range pieces {
		if i >= length {
			hash -= pieceHash(pieces[i-length]) * first
		}
		hash = hash*prime + pieceHash(pieces[i])
		if i >= length-1 {
			f(i-length+1, hash)
		}
	}
}

func pieceHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// inOrder is the longest part of a list ordered by from whose to ascends.
func inOrder(list []block) []block {
	ends, before := []int{}, make([]int, len(list)) // last of the best chain of each length
	for i, b := range list {
		n := sort.Search(len(ends), func(k int) bool { return list[ends[k]].to >= b.to })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, n)
		}
		ends[n] = i
	}
	out := make([]block, len(ends))
	for n, i := len(ends)-1, last(ends); n >= 0; n, i = n-1, before[i] {
		out[n] = list[i]
	}
	return out
}

func last(list []int) int {
	if len(list) == 0 {
		return -1
	}
	return list[len(list)-1]
}

// result turns runs of pieces into bytes, and joins those that touch.
func (a *aligner) result(old, now int) *alignment {
	out := &alignment{old: old, now: now}
	oldAt, nowAt := byteStarts(a.old), byteStarts(a.now)
	for _, r := range a.runs {
		b := block{oldAt[r.from], nowAt[r.to], oldAt[r.from+r.length] - oldAt[r.from]}
		if n := len(out.blocks); n > 0 {
			if p := &out.blocks[n-1]; p.from+p.length == b.from && p.to+p.length == b.to {
				p.length += b.length
				continue
			}
		}
		out.blocks = append(out.blocks, b)
	}
	return out
}

func byteStarts(pieces []string) []int {
	starts := make([]int, len(pieces)+1)
	for i, p := range pieces {
		starts[i+1] = starts[i] + len(p)
	}
	return starts
}

// within are the blocks that share bytes with a span of the old text.
func (a *alignment) within(s Span) []block {
	first := sort.Search(len(a.blocks), func(i int) bool { return a.blocks[i].from+a.blocks[i].length > s.Start })
	end := first
	for end < len(a.blocks) && a.blocks[end].from < s.End {
		end++
	}
	return a.blocks[first:end]
}

// exact gives where a span stands whose every byte is in one block.
func (a *alignment) exact(s Span) (Span, bool) {
	blocks := a.within(s)
	if len(blocks) != 1 || s.Start < blocks[0].from || s.End > blocks[0].from+blocks[0].length {
		return Span{}, false
	}
	shift := blocks[0].to - blocks[0].from
	return Span{s.Start + shift, s.End + shift}, true
}

// inner is the least span of the new text that holds all bytes of s that are
// still there, and the share of s that those are.
func (a *alignment) inner(s Span) (moved Span, share float64) {
	blocks := a.within(s)
	if len(blocks) == 0 || s.End <= s.Start {
		return Span{}, 0
	}
	kept := 0
	for _, b := range blocks {
		kept += min(s.End, b.from+b.length) - max(s.Start, b.from)
	}
	first, end := blocks[0], blocks[len(blocks)-1]
	moved.Start = first.to + max(0, s.Start-first.from)
	moved.End = end.to + min(end.length, s.End-end.from)
	return moved, float64(kept) / float64(s.End-s.Start)
}

// outer is the span of the new text in which whatever became of s stands: from
// what still stands before it to what still stands after it.
func (a *alignment) outer(s Span) Span { return Span{a.after(s.Start), a.before(s.End)} }

// after is where the new text ends that stood before a byte of the old one.
func (a *alignment) after(at int) int {
	i := sort.Search(len(a.blocks), func(i int) bool { return a.blocks[i].from >= at })
	if i == 0 {
		return 0
	}
	b := a.blocks[i-1]
	return b.to + min(b.length, at-b.from)
}

// before is where the new text begins that stood from a byte of the old one on.
func (a *alignment) before(at int) int {
	i := sort.Search(len(a.blocks), func(i int) bool { return a.blocks[i].from+a.blocks[i].length > at })
	if i == len(a.blocks) {
		return a.now
	}
	return a.blocks[i].to + max(0, at-a.blocks[i].from)
}

// kept is the share of the smaller text's bytes that stand in both.
func (a *alignment) kept() float64 {
	n := 0
	for _, b := range a.blocks {
		n += b.length
	}
	return float64(n) / float64(max(1, min(a.old, a.now)))
}
