package eval

import (
	"math"
	"slices"
)

// sums are of the rows of a matrix for each value of a dimension, in one pass
// over cases that are sorted by cluster. Sums run in the order of the cases, so
// they are the same on any number of processors.
type sums struct {
	width   int
	open    []openSums // of the cluster being read, by value and step
	closed  []closedSums
	cluster int32
	seen    []bool // values in the cluster being read
	touched []int32
}

// openSums are a step's sums of values less a pivot, the first value: nothing
// cancels, and the mean of equal values is that value.
type openSums struct {
	pivot, total float64
	sum, n       float64 // of the cluster
}

// closedSums are sums over the clusters read: of the values counted, and of
// a*a, a*n and n*n, where a is a cluster's sum of values less the pivot.
type closedSums struct {
	clusters, n, aa, ab, bb float64
}

func newSums(values, width int) *sums {
	t := &sums{width: width, cluster: -1, seen: make([]bool, values)}
	t.open, t.closed = make([]openSums, values*width), make([]closedSums, values*width)
	for i := range t.open {
		t.open[i].pivot = math.NaN()
	}
	return t
}

// add counts a case's values, NaN for none, for one value of the dimension.
func (t *sums) add(value int32, row []float64, cluster int32) {
	if cluster != t.cluster {
		t.close()
		t.cluster = cluster
	}
	if !t.seen[value] {
		t.seen[value] = true
		t.touched = append(t.touched, value)
	}
	open := t.open[int(value)*t.width:][:t.width]
	for j, x := range row[:len(open)] {
		if x != x {
			continue
		}
		s := &open[j]
		d := x - s.pivot
		if d != d {
			s.pivot, d = x, 0
		}
		s.total += d
		s.sum += d
		s.n++
	}
}

// close ends the cluster being read.
func (t *sums) close() {
	for _, value := range t.touched {
		t.seen[value] = false
		from := int(value) * t.width
		closed := t.closed[from : from+t.width]
		for j := range closed {
			o, c := &t.open[from+j], &closed[j]
			if o.n == 0 {
				continue
			}
			c.clusters++
			c.n += o.n
			c.aa += float64(o.sum * o.sum)
			c.ab += float64(o.sum * o.n)
			c.bb += float64(o.n * o.n)
			o.sum, o.n = 0, 0
		}
	}
	t.touched = t.touched[:0]
}

// moments gives the mean and its variance of every step for one value, after
// the last cluster was closed: G/(G-1) times the clusters' squared residuals
// over n squared (the linearised ratio estimator, for clusters of unequal size).
func (t *sums) moments(value int32) []moments {
	out := make([]moments, t.width)
	for j := range out {
		o, c := &t.open[int(value)*t.width+j], &t.closed[int(value)*t.width+j]
		shift, g := o.total/c.n, c.clusters
		m := moments{n: int(c.n), clusters: int(c.clusters), total: float64(o.pivot*c.n) + o.total, mean: o.pivot + shift}
		squares := c.aa - float64(2*shift*c.ab) + float64(shift*shift*c.bb)
		if squares > c.bb*sameValue*sameValue { // else the values are equal, but for rounding
			m.variance = squares * g / (g - 1) / c.n / c.n
		}
		out[j] = m
	}
	return out
}

// momentsOf computes every step's moments over the cases listed, which are
// sorted by cluster.
func momentsOf(m *matrix, cases []int32, cluster []int32) []moments {
	t := newSums(1, m.width)
	for _, i := range cases {
		t.add(0, m.row(int(i)), cluster[i])
	}
	t.close()
	return t.moments(0)
}

// sumsBy computes the moments of the steps that groups show, for every value
// of dimension d; -1 stands for all cases, as one value.
func (s *scores) sumsBy(m *matrix, d int) *sums {
	width := s.shown()
	if d < 0 {
		t := newSums(1, width)
		for _, i := range s.groups[0].cases {
			t.add(0, m.row(int(i)), s.clusters.of[i])
		}
		t.close()
		return t
	}
	dim := &s.in.Dimensions[d]
	t := newSums(len(dim.values), width)
	for _, i := range s.groups[0].cases {
		codes := dim.of(int(i))
		for n, code := range codes {
			if !slices.Contains(codes[:n], code) {
				t.add(code, m.row(int(i)), s.clusters.of[i])
			}
		}
	}
	t.close()
	return t
}
