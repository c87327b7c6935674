package eval

import "slices"

// drawPieces is into how many pieces cases are cut at most, to be summed up side
// by side. It does not depend on the machine, nor do the sums.
const drawPieces = 16

// drawFamily is one way to divide the cases: all together, a dimension, or the
// kinds of scope.
type drawFamily struct {
	values int
	of     func(i int32) []int32 // values of a case, none twice
}

// drawFamilies lists them as drawnGroups reads them.
func (s *scores) drawFamilies() []drawFamily {
	all := []int32{0}
	out := []drawFamily{{1, func(int32) []int32 { return all }}}
	for d := range s.in.Dimensions {
		dim := &s.in.Dimensions[d]
		out = append(out, drawFamily{len(dim.values), func(i int32) []int32 { return distinctCodes(dim.of(int(i))) }})
	}
	if len(s.memoryOf) == 0 {
		return out
	}
	member := make([][]int32, len(s.in.Cases))
	for g := range s.memoryOf {
		for _, i := range s.memoryOf[g].cases {
			member[i] = append(member[i], int32(g))
		}
	}
	return append(out, drawFamily{len(s.memoryOf), func(i int32) []int32 { return member[i] }})
}

func distinctCodes(codes []int32) []int32 {
	for n, c := range codes {
		if slices.Contains(codes[:n], c) {
			return slices.Compact(slices.Sorted(slices.Values(codes)))
		}
	}
	return codes
}

// drawPass adds up cases under every draw, family by family.
type drawPass struct {
	*scores
	families []drawFamily
	width    int // of the cases
	summed   int // the steps that are summed up: the first ones
	ties     *tieMoves
	score    func() func(i int, out *drawnCase) // made for each goroutine
}

// run scores every case that is not about abstention once, and returns the sums
// of each family.
func (d *drawPass) run() []*drawSums {
	pieces := d.cut(d.groups[0].cases)
	sums := make([][]*drawSums, len(pieces))
	parallel(len(pieces), func(n int) { sums[n] = d.sum(pieces[n]) })
	parallel(len(d.families), func(f int) {
		for _, more := range sums[1:] {
			sums[0][f].merge(more[f])
		}
	})
	return sums[0]
}

// cut gives pieces of whole clusters.
func (d *drawPass) cut(cases []int32) [][]int32 {
	size := max(blockSize, (len(cases)+drawPieces-1)/drawPieces)
	var out [][]int32
	for len(cases) > 0 {
		n := min(size, len(cases))
		for n < len(cases) && d.clusters.of[cases[n]] == d.clusters.of[cases[n-1]] {
			n++
		}
		out = append(out, cases[:n])
		cases = cases[n:]
	}
	if out == nil {
		return [][]int32{nil}
	}
	return out
}

func (d *drawPass) sum(cases []int32) []*drawSums {
	sums := make([]*drawSums, len(d.families))
	for f := range sums {
		sums[f] = newDrawSums(d.families[f].values, d.summed, d.ties)
	}
	score, one, parts := d.score(), newDrawnCase(d.width), make([]clusterParts, d.summed)
	eachCluster(cases, d.clusters.of, func(members []int32) {
		for f, t := range sums {
			for _, i := range members {
				for _, value := range d.families[f].of(i) {
					t.expect(value)
				}
			}
		}
		for _, i := range members {
			score(int(i), one)
			partsOf(one, parts)
			for f, t := range sums {
				for _, value := range d.families[f].of(i) {
					t.add(value, one, parts)
				}
			}
		}
		for _, t := range sums {
			t.close()
		}
	})
	return sums
}

// eachCluster calls f with the cases of each cluster. Cases are sorted by it.
func eachCluster(cases, cluster []int32, f func(members []int32)) {
	for from := 0; from < len(cases); {
		to := from + 1
		for to < len(cases) && cluster[cases[to]] == cluster[cases[from]] {
			to++
		}
		f(cases[from:to])
		from = to
	}
}

// at finds the sums of a group: g is the index among groups.
func (d *drawPass) at(sums []*drawSums, g int) (*drawSums, int32) {
	group := &d.groups[g]
	if group.dimension < 0 {
		return sums[0], 0
	}
	return sums[1+group.dimension], int32(group.value)
}

// blank makes values those of cases that no pass reaches.
func (s *scores) blank() {
	fillNaN(s.values.values)
	for i := range s.values.states {
		s.values.states[i] = s.prepared.facts[i].state
	}
}

// scoreDraws fills values with means over draws, and the groups' moments.
func (s *scores) scoreDraws(pl *plan) {
	s.blank()
	masks := drawLabels(&s.in, s.prepared)
	pass := &drawPass{scores: s, families: s.drawFamilies(), width: len(s.measures), summed: s.shown(), ties: s.ties}
	pass.score = func() func(i int, out *drawnCase) {
		scorer := newDrawScorer(pl, s.prepared, masks)
		return func(i int, out *drawnCase) {
			scorer.score(i, out)
			out.fillMeans(s.values.row(i))
			s.values.states[i] = out.state
		}
	}
	sums := pass.run()
	for g := range s.groups {
		of, value := pass.at(sums, g)
		s.groups[g].takeDraws(of, value)
	}
	for g := range s.memoryOf {
		s.memoryOf[g].takeDraws(sums[len(sums)-1], int32(g))
	}
}

// takeDraws sets the group's moments and what ties do to them.
func (g *group) takeDraws(sums *drawSums, value int32) {
	g.moments = make([]moments, sums.width)
	for j := range g.moments {
		g.moments[j] = sums.cell(value, j).pooled().moments()
	}
	if sums.ties == nil {
		return
	}
	g.ties = make([][]tieMean, sums.steps)
	for j := range g.ties {
		g.ties[j] = sums.tieMeans(value, j)
	}
}

// moments stand for all draws.
func (p pooled) moments() moments {
	return moments{n: p.n, clusters: p.clusters, total: float64(p.mean * float64(p.n)), mean: p.mean, variance: p.within, over: &p}
}

// addDraws scores both sides under every draw.
func (p *pairing) addDraws() {
	a, b, w := p.base, p.candidate, len(p.base.in.Measures)
	a.blank()
	b.blank()
	pass := &drawPass{scores: a.scores, families: a.drawFamilies(), width: 3 * w, summed: 3 * w}
	pass.score = func() func(i int, out *drawnCase) {
		of, with := a.drawScorer(), b.drawScorer()
		x, y := newDrawnCase(len(a.measures)), newDrawnCase(len(b.measures))
		return func(i int, out *drawnCase) {
			of.score(i, x)
			with.score(i, y)
			a.take(i, x)
			b.take(i, y)
			out.pair(x, y, w)
			if p.onDrawn != nil {
				p.onDrawn(i, out)
			}
		}
	}
	sums := pass.run()
	for g := range p.moments {
		of, value := pass.at(sums, g)
		b.groups[g].moments = make([]moments, w)
		for j := range w {
			diff, base := of.cell(value, j).pooled(), of.cell(value, w+j).pooled()
			p.moments[g][j] = pairMoments{moments: diff.moments(), base: base.mean, candidate: base.mean + diff.mean}
			b.groups[g].moments[j] = of.cell(value, 2*w+j).pooled().moments()
		}
	}
}

func (d *side) drawScorer() *drawScorer { return newDrawScorer(d.plan, d.prepared, d.masks) }

// take keeps a case's means over draws.
func (d *side) take(i int, c *drawnCase) {
	c.fillMeans(d.values.row(i))
	d.values.states[i] = c.state
}

// pair makes d the w differences of y less x, the values of x where there is a
// difference, and those of y.
func (d *drawnCase) pair(x, y *drawnCase, w int) {
	for j := range w {
		both := x.valid[j] & y.valid[j]
		d.valid[j], d.valid[w+j], d.valid[2*w+j] = both, both, y.valid[j]
		from, to, diff := x.of(j), y.of(j), d.of(j)
		for t := range diff {
			diff[t] = to[t] - from[t]
		}
		copy(d.of(w+j), from)
		copy(d.of(2*w+j), to)
	}
}

// swapped are pooled differences of cases, by step, after the sides of those
// with sign -1 were swapped.
func swapped(cases, cluster []int32, width int, sign []float64, of func(i int32) *drawnCase) []pooled {
	sums := newDrawSums(1, width, nil)
	one, parts := newDrawnCase(width), make([]clusterParts, width)
	eachCluster(cases, cluster, func(members []int32) {
		for range members {
			sums.expect(0)
		}
		for _, i := range members {
			c := of(i)
			copy(one.valid, c.valid)
			for n := range one.values {
				one.values[n] = float64(sign[i] * c.values[n])
			}
			partsOf(one, parts)
			sums.add(0, one, parts)
		}
		sums.close()
	})
	out := make([]pooled, width)
	for j := range out {
		out[j] = sums.cell(0, j).pooled()
	}
	return out
}
