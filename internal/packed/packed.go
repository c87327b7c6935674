// Package packed holds long columns of short strings, such as the ids of a
// run's rows, in a few large blocks: a string costs its bytes and 4 more, and
// nothing that the garbage collector has to look at.
package packed

import (
	"cmp"
	"slices"
	"strings"
)

// Strings is a list of strings. The zero value is ready.
type Strings struct {
	blocks []block
	n      uint32
	text   strings.Builder // of the block that Add fills
	ends   []uint32
}

// block holds the strings text[offsets[i]:offsets[i+1]], the first of which is
// number first of the list.
type block struct {
	first   uint32
	text    string
	offsets []uint32
}

// blockSize is how many bytes Add puts into a block.
const blockSize = 1 << 20

// Add appends a copy of b and returns its number.
func (s *Strings) Add(b []byte) uint32 {
	if s.text.Len()+len(b) > s.text.Cap() || len(s.ends) == 0 {
		s.Settle()
		s.text.Grow(max(blockSize, len(b)))
		s.ends = append(make([]uint32, 0, blockSize/16), 0)
	}
	s.text.Write(b)
	s.ends = append(s.ends, uint32(s.text.Len()))
	s.n++
	return s.n - 1
}

// Settle ends a row of calls of Add, before the first call of At.
func (s *Strings) Settle() {
	if len(s.ends) > 1 {
		s.blocks = append(s.blocks, block{s.n - uint32(len(s.ends)-1), s.text.String(), s.ends})
	}
	s.text, s.ends = strings.Builder{}, nil
}

// AddBlock appends the strings text[offsets[i]:offsets[i+1]] and returns the
// number of the first. It keeps both.
func (s *Strings) AddBlock(text string, offsets []uint32) uint32 {
	s.Settle()
	first := s.n
	if n := len(offsets) - 1; n > 0 {
		s.blocks = append(s.blocks, block{first, text, offsets})
		s.n += uint32(n)
	}
	return first
}

// At is string number i. It shares the memory of its block.
func (s *Strings) At(i uint32) string { return s.blockOf(i).at(i) }

// Append appends the strings of these numbers to to, quicker than At where
// neighbours stand in one block.
func (s *Strings) Append(to []string, numbers []uint32) []string {
	var b *block
	for _, i := range numbers {
		if b == nil || !b.has(i) {
			b = s.blockOf(i)
		}
		to = append(to, b.at(i))
	}
	return to
}

// blockOf is the block that string number i stands in.
func (s *Strings) blockOf(i uint32) *block {
	at, exact := slices.BinarySearchFunc(s.blocks, i, func(b block, i uint32) int { return cmp.Compare(b.first, i) })
	if !exact {
		at--
	}
	return &s.blocks[at]
}

func (b *block) has(i uint32) bool { return i >= b.first && i-b.first < uint32(len(b.offsets)-1) }

func (b *block) at(i uint32) string {
	i -= b.first
	return b.text[b.offsets[i]:b.offsets[i+1]]
}
