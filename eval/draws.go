package eval

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// drawCount is how often uncertain labels are drawn. A draw is one bit of a
// uint32.
const drawCount = 20

// Draws are divided into blocks that share the random numbers of labels: within
// a block, what differs between draws are probabilities. Block k has the draws
// from k*drawsInBlock on.
const (
	drawBlocks   = 5
	drawsInBlock = drawCount / drawBlocks
)

// vectorOfDraw is the coefficient vector of each draw. Blocks are the symbols of a
// Latin square over the vectors, so that each spans all of them, and 5 or 10
// vectors are not twice in one.
var vectorOfDraw = [drawCount]int{0, 9, 13, 17, 1, 5, 14, 18, 2, 6, 10, 19, 3, 7, 11, 15, 4, 8, 12, 16}

// uncertain reports whether any label of the input is neither sure nor sure
// not to be relevant.
func uncertain(cases []Case) bool {
	for i := range cases {
		for j := range cases[i].Labels {
			if u := cases[i].Labels[j].Uncertain; u != nil && !u.certain() {
				return true
			}
		}
	}
	return false
}

func (u *Probability) certain() bool { return u.at(0) == u.P && (u.P == 0 || u.P == 1) && u.constant() }

func (u *Probability) constant() bool {
	for _, p := range u.Draws {
		if p != u.P {
			return false
		}
	}
	return true
}

// at is the probability in draw t.
func (u *Probability) at(t int) float64 {
	if len(u.Draws) == 0 {
		return u.P
	}
	v := vectorOfDraw[t]
	if v >= len(u.Draws) {
		v %= len(u.Draws)
	}
	return u.Draws[v]
}

// settle writes probabilities of 0 and 1 as grades where no label is
// uncertain.
func settle(in *Input, p *prepared) {
	for i := range in.Cases {
		grades := p.grades[p.labelStart[i]:p.labelStart[i+1]]
		for j := range in.Cases[i].Labels {
			u := in.Cases[i].Labels[j].Uncertain
			if u == nil || grades[j] == Unlabelled {
				continue
			}
			grades[j] = 0
			if u.P == 1 {
				grades[j] = int16(in.MinGrade)
			}
		}
	}
}

// drawLabels is the one place where labels are drawn: bit t of a label's mask
// says whether it is relevant in draw t. A label without a probability is the
// same in every draw. A draw depends on the seed, the case's id and the item's
// id alone, so two retrievers are compared under the same draws.
func drawLabels(in *Input, p *prepared) []uint32 {
	masks := make([]uint32, len(p.grades))
	seed := strconv.FormatInt(in.Seed, 10)
	eachBlock(len(in.Cases), func(_, from, to int) {
		d := newLabelDrawer()
		for i := from; i < to; i++ {
			c := &in.Cases[i]
			caseHash := hash(seed, "labels", c.ID)
			for j := range c.Labels {
				masks[p.labelStart[i]+j] = d.draw(in.MinGrade, caseHash, &c.Labels[j])
			}
		}
	})
	return masks
}

// labelDrawer draws labels. It belongs to one goroutine.
type labelDrawer struct {
	source *rand.PCG
	random *rand.Rand
}

func newLabelDrawer() *labelDrawer {
	source := rand.NewPCG(0, 0)
	return &labelDrawer{source, rand.New(source)}
}

// draw makes a label's mask. It is relevant in a draw where a number between 0
// and 1 is less than its probability there. There is one such number for each
// block of draws, each from another fifth of [0, 1) (a Latin hypercube), so that
// over the blocks little of the chance in a single label is left in a mean. In
// any one draw, labels are independent.
func (d *labelDrawer) draw(minGrade int, caseHash uint64, l *Label) uint32 {
	u := l.Uncertain
	switch {
	case u == nil && l.Grade >= minGrade, u != nil && u.P == 1 && u.constant():
		return everyDraw
	case u == nil, u.P == 0 && u.constant():
		return 0
	}
	d.source.Seed(caseHash, hash(l.ID))
	var below [drawBlocks]float64
	for k := range below {
		other := d.random.IntN(k + 1)
		below[k] = below[other]
		below[other] = (float64(k) + d.random.Float64()) / drawBlocks
	}
	return maskOf(u, &below)
}

// maskOf has the bits of the draws whose probability is above the number of
// their block.
func maskOf(u *Probability, below *[drawBlocks]float64) uint32 {
	mask := uint32(0)
	for t := range drawCount {
		mask |= uint32(btoi(below[t/drawsInBlock] < u.at(t))) << t
	}
	return mask
}

// hash is 64-bit FNV-1a over the parts, each behind its length, so that
// ("a", "bc") and ("ab", "c") differ.
func hash(parts ...string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, part := range parts {
		for n := len(part); n > 0; n >>= 8 {
			h = (h ^ uint64(n&0xff)) * prime
		}
		h *= prime
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * prime
		}
	}
	return h
}

// drawGrades appends a case's labels in draw t as grades 0 and 1; labels unknown
// or taken out stay so.
func drawGrades(read []int16, masks []uint32, t int, out []int16) []int16 {
	for j, g := range read {
		if g >= 0 {
			g = int16(masks[j] >> t & 1)
		}
		out = append(out, g)
	}
	return out
}

// checkDrawn refuses measures that labels of 0 and 1 cannot give.
func checkDrawn(measures []Measure, minGrade int) error {
	for _, m := range measures {
		switch {
		case m.gains != "" || m.kind == ndcgExp || m.kind == gain || m.kind == ndcgR || m.kind == ndcgRel:
			return m.fail(0, "it needs grades, but labels of this set are probabilities")
		case m.level > 0 && m.level != minGrade:
			return m.fail(max(0, strings.Index(m.Name, "grade")), fmt.Sprintf("labels of this set are probabilities of grade >= %d, no other threshold can be read", minGrade))
		}
	}
	return nil
}
