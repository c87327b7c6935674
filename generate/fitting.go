package generate

import (
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/sample"
)

// tally counts cases by band, in the order of datasets.Bands.
type tally [3]int

// fitting chooses between a plan's accepted cases so that bands of difficulty get
// what they want: in a cell, one that is accepted takes the place of another, so
// that strata and query types keep their numbers. Cases without a band, and those
// that ask the same under several scopes, stay as the plan has them.
type fitting struct {
	wanted, got, written tally
	cells                []fittingCell
}

// fittingCell counts a cell's cases that may change places.
type fittingCell struct{ kept, left tally }

// Steer sets the shares of difficulty that the set is to have.
func (s *Selection) Steer(shares map[string]float64) { s.shares = shares }

// fit begins with the cases that come first in the plan and gives bands that are
// short what others have too many of.
func (s *Selection) fit() *fitting {
	f := &fitting{cells: make([]fittingCell, len(s.cells))}
	ranked := 0
	for i, first := range s.first() {
		if !s.banded(i) {
			continue
		}
		b := s.fates[i].band
		f.written[b]++
		if first {
			f.got[b]++
			ranked++
		}
		cell := &f.cells[s.cellOf[i]]
		switch {
		case !s.movable(i):
		case first:
			cell.kept[b]++
		default:
			cell.left[b]++
		}
	}
	copy(f.wanted[:], sample.Apportion(ranked, s.shares, datasets.Bands()))
	for b := range f.wanted {
		for f.got[b] < f.wanted[b] && f.gain(b, &[3]bool{}) {
		}
	}
	return f
}

// banded reports whether a row has a case with a band of difficulty.
func (s *Selection) banded(row int) bool {
	return s.fates[row].outcome.Case != nil && s.fates[row].band >= 0
}

// movable reports whether a row's case may give way or stand in.
func (s *Selection) movable(row int) bool { return s.banded(row) && s.rows[row].Group == "" }

// first tells for each row whether its case is among its cell's first in plan
// order, as many as the cell wants.
func (s *Selection) first() []bool {
	first, taken := make([]bool, len(s.rows)), make([]int, len(s.cells))
	for i := range s.rows {
		if n := s.cellOf[i]; s.fates[i].outcome.Case != nil {
			first[i] = taken[n] < s.cells[n].main
			taken[n]++
		}
	}
	return first
}

// gain puts one more case of band b into the set, in the place of one of a band
// that has too many, or of one that gains a case in another cell in its turn: an
// augmenting path, which has each band at most once.
func (f *fitting) gain(b int, seen *[3]bool) bool {
	seen[b] = true
	for c := range f.cells {
		cell := &f.cells[c]
		for x := range cell.kept {
			if cell.left[b] == 0 || cell.kept[x] == 0 || seen[x] {
				continue
			}
			if f.got[x] > f.wanted[x] || f.gain(x, seen) {
				f.swap(cell, x, b)
				return true
			}
		}
	}
	return false
}

func (f *fitting) swap(c *fittingCell, out, in int) {
	c.kept[out]--
	c.left[out]++
	f.got[out]--
	c.left[in]--
	c.kept[in]++
	f.got[in]++
}

// missing is how many cases all bands together are short of.
func (f *fitting) missing() int {
	n := 0
	for b := range f.wanted {
		n += max(0, f.wanted[b]-f.got[b])
	}
	return n
}

// inSet tells for each row whether its case is one of the set's: with shares of
// difficulty, the first of each band in plan order, as many as it was given.
func (s *Selection) inSet() []bool {
	in := s.first()
	if s.shares == nil {
		return in
	}
	f := s.fit()
	for i := range in {
		if !s.movable(i) {
			continue
		}
		room := &f.cells[s.cellOf[i]].kept[s.fates[i].band]
		in[i] = *room > 0
		*room = max(0, *room-1)
	}
	return in
}

// forBands gives reserves that may be what a band is short of, as many as are
// missing: of the cells with a case that could give way, those first of which
// fewer were tried.
func (s *Selection) forBands() []int {
	if s.shares == nil {
		return nil
	}
	var asked []int
	f := s.fit()
	for range f.missing() {
		c := s.triedLeast(f)
		if c == nil {
			break
		}
		asked = append(asked, c.reserves[0])
		c.reserves = c.reserves[1:]
		c.tried++
	}
	return asked
}

func (s *Selection) triedLeast(f *fitting) *cell {
	var least *cell
	for n, c := range s.cells {
		if len(c.reserves) > 0 && f.mayGive(n) && (least == nil || c.tried < least.tried) {
			least = c
		}
	}
	return least
}

// mayGive reports whether a cell has a case of a band that is not short.
func (f *fitting) mayGive(cell int) bool {
	for b, n := range f.cells[cell].kept {
		if n > 0 && f.got[b] >= f.wanted[b] {
			return true
		}
	}
	return false
}

// bandShares says what each band was to have and has, and what is short.
func (s *Selection) bandShares() (shares []datasets.BandShare, short []datasets.Shortfall) {
	if s.shares == nil {
		return nil, nil
	}
	f := s.fit()
	for b, band := range datasets.Bands() {
		shares = append(shares, datasets.BandShare{Band: band, Wanted: f.wanted[b], Got: f.got[b]})
		if f.got[b] < f.wanted[b] {
			short = append(short, datasets.Shortfall{Stratum: "difficulty=" + band, Wanted: f.wanted[b], Got: f.got[b], Reason: s.whyShort(f)})
		}
	}
	return shares, short
}

func (s *Selection) whyShort(f *fitting) string {
	tried := 0
	for _, c := range s.cells {
		tried += c.tried
	}
	var written []string
	for b, band := range datasets.Bands() {
		written = append(written, fmt.Sprintf("%s %d", band, f.written[b]))
	}
	return fmt.Sprintf("%s tried for missing bands, and none is left that could stand in; of all that was written: %s",
		wording.Count(tried, "reserve"), strings.Join(written, ", "))
}
