package eval

import (
	"math"
	"slices"
)

// side is one of the two results.
type side struct {
	*scores
	plan  *plan
	masks []uint32 // of the labels; nil where they are certain
}

func newSide(in Input) (*side, error) {
	s, err := newScores(in)
	if err != nil {
		return nil, err
	}
	d := &side{scores: s, plan: newPlan(&s.in, s.measures, s.prepared, s.drawn)}
	s.values = newMatrix(len(in.Cases), len(s.measures))
	if s.drawn {
		d.masks = drawLabels(&s.in, s.prepared)
	}
	return d, nil
}

// score scores the rankings under certain labels.
func (d *side) score() *matrix {
	d.plan.score(d.prepared, d.prepared.grades, d.values)
	d.addMoments(d.values)
	return d.values
}

// pairing is both sides under the same labels. A case counts in a measure if it
// has a value on both sides.
type pairing struct {
	base, candidate *side
	shown           int             // the first measures of both; the others are for rules
	moments         [][]pairMoments // by group and measure
	diff            *matrix         // candidate less base, where labels are certain
	onDrawn         func(i int, diff *drawnCase)
}

// pairMoments is one measure in one group.
type pairMoments struct {
	moments         // of candidate less base
	base, candidate float64
}

// newPairing scores both sides. The inputs have the same cases in the same
// order, and the same measures. onDrawn, if not nil, sees each case's differences
// where labels are drawn, from several goroutines; its first steps are the
// measures, and it does not hold for longer than the call.
func newPairing(base, candidate Input, onDrawn func(i int, diff *drawnCase)) (*pairing, error) {
	candidate.Seed, candidate.Dimensions, candidate.Slicing = base.Seed, base.Dimensions, base.Slicing
	p := &pairing{onDrawn: onDrawn}
	var err error
	if p.base, err = newSide(base); err != nil {
		return nil, err
	}
	if p.candidate, err = newSide(candidate); err != nil {
		return nil, err
	}
	p.candidate.clusters = p.base.clusters
	p.candidate.groups = slices.Clone(p.base.groups)
	p.moments = make([][]pairMoments, len(p.base.groups))
	for g := range p.moments {
		p.moments[g] = make([]pairMoments, len(base.Measures))
	}
	if p.base.drawn {
		p.addDraws()
	} else {
		p.addCertain(p.base.score(), p.candidate.score())
	}
	return p, nil
}

func (p *pairing) addCertain(a, b *matrix) {
	p.diff = newMatrix(len(p.base.in.Cases), len(p.base.in.Measures))
	eachBlock(len(p.base.in.Cases), func(_, from, to int) {
		for i := from; i < to; i++ {
			x, y, d := a.row(i), b.row(i), p.diff.row(i)
			for j := range d {
				d[j] = y[j] - x[j]
			}
		}
	})
	parallel(len(p.moments), func(g int) { p.addGroup(g, a, b) })
}

func (p *pairing) addGroup(g int, a, b *matrix) {
	cases := p.base.groups[g].cases
	sumA, sumB := make([]float64, p.diff.width), make([]float64, p.diff.width)
	for _, i := range cases {
		x, y, d := a.row(int(i)), b.row(int(i)), p.diff.row(int(i))
		for j, v := range d {
			if v == v {
				sumA[j] += x[j]
				sumB[j] += y[j]
			}
		}
	}
	for j, m := range momentsOf(p.diff, cases, p.base.clusters.of) {
		n := float64(m.n)
		p.moments[g][j] = pairMoments{moments: m, base: sumA[j] / n, candidate: sumB[j] / n}
	}
}

// pooled is one measure of one group.
func (p *pairing) pooled(g, j int) (difference pooled, base, candidate float64) {
	m := &p.moments[g][j]
	return pool(m.moments), m.base, m.candidate
}

// sameValue is how near two values of a case are the same: rounding differs.
const sameValue = 1e-12

// changes counts the cases of a group whose value rose, fell and stayed.
func (p *pairing) changes(g, j int) (better, worse, same int) {
	for _, i := range p.base.groups[g].cases {
		switch d := p.candidate.values.row(int(i))[j] - p.base.values.row(int(i))[j]; {
		case math.IsNaN(d):
		case d > sameValue:
			better++
		case d < -sameValue:
			worse++
		default:
			same++
		}
	}
	return better, worse, same
}

// changed counts the cases with a shown measure whose value differs. What is
// judged of the results is no change of theirs.
func (p *pairing) changed() int {
	n := 0
	for _, i := range p.base.groups[0].cases {
		a, b := p.base.values.row(int(i)), p.candidate.values.row(int(i))
		for j := range p.shown {
			if math.Abs(a[j]-b[j]) > sameValue && !p.base.in.Measures[j].aboutLabels() {
				n++
				break
			}
		}
	}
	return n
}

// sameRankings reports whether every case got the same ranking on both sides.
func (p *pairing) sameRankings() bool {
	for i := range p.base.in.Cases {
		if !slices.Equal(p.base.in.Cases[i].Ranking, p.candidate.in.Cases[i].Ranking) {
			return false
		}
	}
	return true
}
