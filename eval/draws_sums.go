package eval

import "math"

// drawSums add up values under every draw, for each value of a dimension, in
// one pass over cases that are sorted by cluster.
type drawSums struct {
	width   int
	cells   []drawCell // by value and step
	ties    []tieMean  // by value, step and draw; nil where no case has a tie
	steps   int        // of ties
	members []int32    // cases of the cluster at hand, by value
	touched []int32
	open    map[int32][]drawCell // of values with several cases in the cluster
}

// drawCell is one step of one value.
type drawCell struct {
	total [drawCount]float64
	n     [drawCount]float64 // of cases that have a value in some draws only
	some  int                // how many such cases
	whole float64            // cases that have a value in every draw
	clusterParts
}

// clusterParts are sums over clusters. Of one cluster, S is the sum of its
// values in a draw, N how many there are; sums over draws are in lower case.
type clusterParts struct {
	clusters   float64 // with a value: mean over draws
	ss, sn, nn float64 // of s*s, s*n and n*n
	tSS        float64 // of S*S over draws
	tSN        float64
	tNN        float64
	wSS        float64 // of S and N about their means over a block of draws
	wSN        float64
	wNN        float64
}

func newDrawSums(values, width int, ties *tieMoves) *drawSums {
	t := &drawSums{width: width, cells: make([]drawCell, values*width), members: make([]int32, values), open: map[int32][]drawCell{}}
	if ties != nil {
		t.steps = ties.steps
		t.ties = make([]tieMean, values*t.steps*drawCount)
	}
	return t
}

// expect says that one more case of the next cluster has the value.
func (t *drawSums) expect(value int32) {
	if t.members[value] == 0 {
		t.touched = append(t.touched, value)
	}
	t.members[value]++
}

// add counts a case of the cluster that was expected. parts are the case's own,
// by step.
func (t *drawSums) add(value int32, c *drawnCase, parts []clusterParts) {
	from := int(value) * t.width
	cells := t.cells[from : from+t.width]
	for j := range cells {
		cells[j].count(c.of(j), c.valid[j])
	}
	if t.ties != nil && len(c.moves) > 0 {
		t.addMoves(value, c.moves)
	}
	if t.members[value] == 1 {
		for j := range cells {
			cells[j].addParts(&parts[j])
		}
		return
	}
	open := t.open[value]
	if open == nil {
		open = make([]drawCell, t.width)
		t.open[value] = open
	}
	for j := range open {
		open[j].count(c.of(j), c.valid[j])
	}
}

func (t *drawSums) addMoves(value int32, moves []tieMean) {
	to := t.ties[int(value)*t.steps*drawCount:][:len(moves)]
	for j, m := range moves {
		to[j].least += m.least
		to[j].most += m.most
		to[j].expected += m.expected
	}
}

// count adds a case's values.
func (c *drawCell) count(values []float64, valid uint32) {
	switch {
	case valid == everyDraw:
		c.whole++
		for t, x := range values[:drawCount] {
			c.total[t] += x
		}
	case valid != 0:
		c.some++
		for t, x := range values[:drawCount] {
			if valid>>t&1 == 1 {
				c.total[t] += x
				c.n[t]++
			}
		}
	}
}

// close ends the cluster.
func (t *drawSums) close() {
	for _, value := range t.touched {
		if t.members[value] > 1 {
			open := t.open[value]
			for j := range open {
				parts := open[j].parts()
				t.cells[int(value)*t.width+j].addParts(&parts)
			}
			clear(open)
		}
		t.members[value] = 0
	}
	t.touched = t.touched[:0]
}

// parts are those of one cluster whose sums the cell holds.
func (c *drawCell) parts() clusterParts {
	if c.some == 0 {
		return wholeParts(&c.total, c.whole)
	}
	var p clusterParts
	var sums, counts [drawBlocks]float64
	s, n := 0.0, 0.0
	for t, x := range c.total {
		k := c.whole + c.n[t]
		if k > 0 {
			p.clusters += 1. / drawCount
		}
		sums[t/drawsInBlock] += x / drawsInBlock
		counts[t/drawsInBlock] += k / drawsInBlock
		s += x
		n += k
		p.tSS += float64(x * x)
		p.tSN += float64(x * k)
		p.tNN += float64(k * k)
	}
	p.ss, p.sn, p.nn = float64(s*s), float64(s*n), float64(n*n)
	for t, x := range c.total {
		block := t / drawsInBlock
		ds, dn := x-sums[block], c.whole+c.n[t]-counts[block]
		p.wSS += float64(ds * ds)
		p.wSN += float64(ds * dn)
		p.wNN += float64(dn * dn)
	}
	return p
}

// wholeParts are parts of a cluster that has n values in every draw.
func wholeParts(total *[drawCount]float64, n float64) clusterParts {
	if n == 0 {
		return clusterParts{}
	}
	s, p := 0.0, clusterParts{clusters: 1}
	for t := 0; t < drawCount; t += drawsInBlock {
		block := (*[drawsInBlock]float64)(total[t:])
		sum := 0.0
		for _, x := range block {
			sum += x
			p.tSS += float64(x * x)
		}
		for _, x := range block {
			d := x - sum/drawsInBlock
			p.wSS += float64(d * d)
		}
		s += sum
	}
	all := n * drawCount
	p.ss, p.sn, p.nn = float64(s*s), float64(s*all), float64(all*all)
	p.tSN, p.tNN = float64(s*n), float64(all*n)
	return p
}

// partsOf are a case's own parts, as of a cluster of one.
func partsOf(c *drawnCase, out []clusterParts) {
	for j := range out {
		if values := c.of(j); c.valid[j] == everyDraw {
			out[j] = wholeParts((*[drawCount]float64)(values), 1)
		} else {
			var cell drawCell
			cell.count(values, c.valid[j])
			out[j] = cell.parts()
		}
	}
}

func (p *clusterParts) addParts(q *clusterParts) {
	p.clusters += q.clusters
	p.ss += q.ss
	p.sn += q.sn
	p.nn += q.nn
	p.tSS += q.tSS
	p.tSN += q.tSN
	p.tNN += q.tNN
	p.wSS += q.wSS
	p.wSN += q.wSN
	p.wNN += q.wNN
}

// merge adds the sums of other clusters.
func (t *drawSums) merge(o *drawSums) {
	for i := range t.cells {
		c, d := &t.cells[i], &o.cells[i]
		for t := range c.total {
			c.total[t] += d.total[t]
			c.n[t] += d.n[t]
		}
		c.some += d.some
		c.whole += d.whole
		c.addParts(&d.clusterParts)
	}
	for i, m := range o.ties {
		t.ties[i].least += m.least
		t.ties[i].most += m.most
		t.ties[i].expected += m.expected
	}
}

func (t *drawSums) cell(value int32, step int) *drawCell { return &t.cells[int(value)*t.width+step] }

// tieMeans are the mean moves of a step in each draw that has a value.
func (t *drawSums) tieMeans(value int32, step int) []tieMean {
	var out []tieMean
	c := t.cell(value, step)
	for draw, m := range t.ties[(int(value)*t.steps+step)*drawCount:][:drawCount] {
		if n := c.whole + c.n[draw]; n > 0 {
			out = append(out, tieMean{m.least / n, m.most / n, m.expected / n})
		}
	}
	return out
}

// rounding is below what a sum of squares is 0 beside the terms that it is made
// of.
const rounding = 1e-13

// aboutMean is the sum of squares of S - mean N.
func aboutMean(ss, sn, nn, mean float64) float64 {
	square := float64(mean * mean * nn)
	out := ss - float64(2*mean*sn) + square
	if out <= rounding*(ss+square) {
		return 0
	}
	return out
}

// pooled gives the mean over draws and the parts of its variance; see pooled's
// total.
func (c *drawCell) pooled() pooled {
	p := pooled{draws: drawCount, clusters: int(math.Round(c.clusters))}
	var means [drawCount]float64
	n, used := 0.0, 0.0
	for t := range means {
		k := c.whole + c.n[t]
		n += k / drawCount
		means[t] = math.NaN()
		if k > 0 {
			means[t] = c.total[t] / k
			p.mean += means[t]
			used++
		}
	}
	p.n = int(math.Round(n))
	if p.mean /= used; used == 0 {
		p.n = 0
		return p
	}
	c.variances(&p, n, &means)
	return p
}

func (c *drawCell) variances(p *pooled, n float64, means *[drawCount]float64) {
	g, m := c.clusters, float64(drawCount)
	small := g / (g - 1) / n / n
	p.cases = aboutMean(c.ss, c.sn, c.nn, p.mean) * small / m / m
	p.within = max(0, aboutMean(c.tSS, c.tSN, c.tNN, p.mean)-float64(spread(means, p.mean)*c.tNN/m)) * small / m
	own := aboutMean(c.wSS, c.wSN, c.wNN, p.mean) / (drawCount - drawBlocks) / n / n
	p.between, p.betweenDF = betweenDraws(means)
	if share := c.tNN / m / n / n; share < 1 {
		p.common = max(0, (p.between-own)/(1-share))
	}
}
