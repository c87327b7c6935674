package eval

import (
	"math"
	"math/bits"
	"slices"
)

// everyDraw has the bits of all draws set.
const everyDraw = 1<<drawCount - 1

// drawnCase holds one case's values under every draw: step j owns
// values[j*drawCount:(j+1)*drawCount], and bit t of valid[j] says that draw t
// has one. Where ties can move them, moves holds by how much, in the same
// layout.
type drawnCase struct {
	values []float64
	valid  []uint32
	state  state
	moves  []tieMean // nil for a case without a tie
}

func newDrawnCase(width int) *drawnCase {
	return &drawnCase{values: make([]float64, width*drawCount), valid: make([]uint32, width)}
}

func (d *drawnCase) of(step int) []float64 {
	return d.values[step*drawCount : (step+1)*drawCount]
}

// mean is a step's mean over the draws that have a value, else NaN.
func (d *drawnCase) mean(step int) float64 {
	total := 0.0
	for t, x := range d.of(step) {
		if d.valid[step]>>t&1 == 1 {
			total += x
		}
	}
	return total / float64(bits.OnesCount32(d.valid[step]))
}

// drawScorer scores a case under every draw of its labels. It belongs to one
// goroutine.
type drawScorer struct {
	plan   *plan
	p      *prepared
	masks  []uint32
	view   view
	grades []int16 // of the draw at hand
	row    []float64
	alike  []uint32 // sets of draws under which the case's labels are the same
}

func newDrawScorer(pl *plan, p *prepared, masks []uint32) *drawScorer {
	return &drawScorer{plan: pl, p: p, masks: masks, row: make([]float64, len(pl.steps)),
		view: view{counts: make([]counts, len(pl.levels)), log2: pl.log2}}
}

// score fills out with case i. Draws that give the same labels are scored once.
func (s *drawScorer) score(i int, out *drawnCase) {
	clear(out.valid)
	out.state, out.moves = dropped, out.moves[:0]
	from, to := s.p.labelStart[i], s.p.labelStart[i+1]
	read, masks := s.p.grades[from:to], s.masks[from:to]
	s.findAlike(read, masks)
	for _, draws := range s.alike {
		s.grades = drawGrades(read, masks, bits.TrailingZeros32(draws), s.grades[:0])
		if st := s.plan.scoreCase(s.p, s.grades, i, &s.view, s.row); st != dropped {
			out.state = st
		}
		out.set(draws, s.row)
		s.keepMoves(i, draws, out)
	}
}

// findAlike splits the draws by the labels that they give.
func (s *drawScorer) findAlike(read []int16, masks []uint32) {
	s.alike = append(s.alike[:0], everyDraw)
	for j, mask := range masks {
		if read[j] < 0 || mask == 0 || mask == everyDraw {
			continue
		}
		for n := range len(s.alike) {
			if in := s.alike[n] & mask; in != 0 && in != s.alike[n] {
				s.alike[n] &^= mask
				s.alike = append(s.alike, in)
			}
		}
	}
}

// set writes one row of values for some of the draws.
func (d *drawnCase) set(draws uint32, row []float64) {
	for j, x := range row {
		if x != x {
			continue
		}
		d.valid[j] |= draws
		values := d.of(j)
		for left := draws; left != 0; left &= left - 1 {
			values[bits.TrailingZeros32(left)] = x
		}
	}
}

// keepMoves notes what ties can do to the values of some of the draws.
func (s *drawScorer) keepMoves(i int, draws uint32, out *drawnCase) {
	if !s.plan.ties.has(i) {
		return
	}
	steps := s.plan.ties.steps
	out.moves = slices.Grow(out.moves[:0], steps*drawCount)[:steps*drawCount]
	least, most, expected := s.plan.ties.of(i)
	for j := range steps {
		for left := draws; left != 0; left &= left - 1 {
			at := j*drawCount + bits.TrailingZeros32(left)
			if out.moves[at] = (tieMean{}); out.valid[j]&(left&-left) != 0 {
				out.moves[at] = tieMean{least[j], most[j], expected[j]}
			}
		}
	}
}

// fillMeans writes the means over draws.
func (d *drawnCase) fillMeans(row []float64) {
	for j := range row {
		row[j] = math.NaN()
		if d.valid[j] != 0 {
			row[j] = d.mean(j)
		}
	}
}
