package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/goldgen/goldgen/internal/seeded"
)

// tally holds a group's sums over clusters, for measures that have a value in
// the same cases: n cases in each cluster, and sums[c*len(measures)+m] of
// candidate less base.
type tally struct {
	measures []int // columns of the differences
	n        []float64
	sums     []float64
}

// clusterCounts lists how many cases with a value of measure j each cluster
// has; clusters are those of the cases listed, at most maxUnits.
func clusterCounts(m *matrix, cases, cluster []int32, j int) []float64 {
	units := unitsOf(cases, cluster)
	n := make([]float64, units)
	eachOfUnits(cases, cluster, units, func(unit int, i int32) {
		if v := m.row(int(i))[j]; v == v {
			n[unit]++
		}
	})
	return n
}

// unitsOf is how many resampling units the clusters of the cases make.
func unitsOf(cases, cluster []int32) int {
	n := 0
	for at, i := range cases {
		if at == 0 || cluster[i] != cluster[cases[at-1]] {
			n++
		}
	}
	return min(n, maxUnits)
}

// eachOfUnits calls f for each case with the unit that its cluster is in.
func eachOfUnits(cases, cluster []int32, units int, f func(unit int, i int32)) {
	at := -1
	for k, i := range cases {
		if k == 0 || cluster[i] != cluster[cases[k-1]] {
			at++
		}
		f(at%units, i)
	}
}

// tallies groups the measures by the cases that they have a value in.
func tallies(m *matrix, cases, cluster []int32, measures []int) []*tally {
	var out []*tally
	for _, j := range measures {
		n := clusterCounts(m, cases, cluster, j)
		at := slices.IndexFunc(out, func(t *tally) bool { return slices.Equal(t.n, n) })
		if at < 0 {
			out, at = append(out, &tally{n: n}), len(out)
		}
		out[at].measures = append(out[at].measures, j)
	}
	for _, t := range out {
		t.fill(m, cases, cluster)
	}
	return out
}

// fill adds the differences up and drops the units that have none.
func (t *tally) fill(m *matrix, cases, cluster []int32) {
	width := len(t.measures)
	t.sums = make([]float64, len(t.n)*width)
	eachOfUnits(cases, cluster, len(t.n), func(unit int, i int32) {
		row := m.row(int(i))
		for k, j := range t.measures {
			if v := row[j]; v == v {
				t.sums[unit*width+k] += v
			}
		}
	})
	kept := 0
	for u, n := range t.n {
		if n > 0 {
			copy(t.sums[kept*width:], t.sums[u*width:(u+1)*width])
			t.n[kept] = n
			kept++
		}
	}
	t.n, t.sums = t.n[:kept], t.sums[:kept*width]
}

// terms lists the units' sums of the k-th measure, each case's value moved by
// margin. What is left of rounding is 0.
func (t *tally) terms(k int, margin float64) []float64 {
	out := make([]float64, len(t.n))
	for u, n := range t.n {
		x := t.sums[u*len(t.measures)+k] + float64(margin*n)
		if math.Abs(x) > sameValue*n {
			out[u] = x
		}
	}
	return out
}

// bounds are those of a two-sided 95 % interval.
type bounds struct{ low, high float64 }

// bootstrap gives each measure's percentile interval of the mean: units are
// drawn with replacement, and the mean is the sum of what was drawn over its
// cases (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13).
func (t *tally) bootstrap(seed int64) []bounds {
	width := len(t.measures)
	means := make([]float64, width*bootDraws) // by measure
	const chunk = 250
	parallel(bootDraws/chunk, func(c int) {
		r := resampler{random: seeded.Rand(seed, "bootstrap", strconv.Itoa(c)), count: make([]uint16, len(t.n)), sum: make([]float64, width)}
		for d := c * chunk; d < (c+1)*chunk; d++ {
			n := r.draw(t)
			for k, s := range r.sum {
				means[k*bootDraws+d] = s / n
			}
		}
	})
	out := make([]bounds, width)
	parallel(width, func(k int) { out[k] = percentiles(means[k*bootDraws : (k+1)*bootDraws]) })
	return out
}

// percentiles cuts 2.5 % off at both ends. The order of values is lost.
func percentiles(values []float64) bounds {
	const cut = bootDraws * 25 / 1000
	low := nth(values, cut-1)
	return bounds{low: low, high: nth(values[cut:], bootDraws-2*cut)}
}

// nth is the n-th smallest value, from 0. It stands where it would if the
// values were sorted, the smaller ones before it (Hoare, Communications of the
// ACM 4, 1961).
func nth(values []float64, n int) float64 {
	low, high := 0, len(values)-1
	for low < high {
		pivot := values[(low+high)/2]
		i, j := low, high
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return values[n]
		}
	}
	return values[n]
}

// resampler is one goroutine's memory.
type resampler struct {
	random *rand.Rand
	count  []uint16
	sum    []float64
}

// draw draws as many units as there are, with replacement. It leaves the sums
// of what was drawn and returns its cases. Two units come from each random
// word: the high half of a product of 32 bits, off by less than 1 in a million.
func (r *resampler) draw(t *tally) (cases float64) {
	clear(r.count)
	clear(r.sum)
	units := uint64(len(t.n))
	for i := 0; i < len(t.n); i += 2 {
		w := r.random.Uint64()
		r.count[(w>>32)*units>>32]++
		if i+1 < len(t.n) {
			r.count[(w&(1<<32-1))*units>>32]++
		}
	}
	for u, c := range r.count {
		if c == 0 {
			continue
		}
		times := float64(c)
		cases += float64(times * t.n[u])
		for k, s := range t.sums[u*len(r.sum) : (u+1)*len(r.sum)] {
			r.sum[k] += float64(times * s)
		}
	}
	return cases
}
