package sample

import (
	"cmp"
	"math"
	"slices"
)

// weights gives each stratum's claim under the allocation.
func weights(strata []*stratum, allocation string) []float64 {
	out := make([]float64, len(strata))
	for i, s := range strata {
		switch allocation {
		case Equal:
			out[i] = 1
		case Sqrt:
			out[i] = math.Sqrt(float64(s.size))
		default:
			out[i] = float64(s.size)
		}
	}
	return out
}

// Apportion divides n by the shares of the names, whole numbers by largest
// remainder, the earlier name first among equals.
func Apportion(n int, shares map[string]float64, names []string) []int {
	w := make([]float64, len(names))
	for i, name := range names {
		w[i] = shares[name]
	}
	return allocate(n, w, make([]int, len(names)), fillInts(len(names), n))
}

// allocate divides n in proportion to the weights within the bounds low and
// high (low <= high, both at least 0): fractional shares by water filling, then
// whole ones by largest remainder, the earlier index first among equals. The
// sum is n wherever the bounds allow it, else the nearest that they do.
func allocate(n int, weights []float64, low, high []int) []int {
	shares := fill(float64(n), weights, low, high)
	out := make([]int, len(weights))
	order := make([]int, len(weights))
	rest := n
	for i, share := range shares {
		order[i] = i
		out[i] = int(share)
		rest -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return -cmp.Compare(shares[a]-float64(out[a]), shares[b]-float64(out[b]))
	})
	for moved := true; rest > 0 && moved; {
		moved = false
		for _, i := range order {
			if rest > 0 && out[i] < high[i] && weights[i] > 0 {
				out[i]++
				rest--
				moved = true
			}
		}
	}
	return out
}

// fill finds the level at which the shares level*weight, held within the
// bounds, sum to n.
func fill(n float64, weights []float64, low, high []int) []float64 {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	shares := make([]float64, len(weights))
	at := func(level float64) float64 {
		sum := 0.0
		for i, w := range weights {
			shares[i] = min(max(float64(level*w), float64(low[i])), float64(high[i]))
			sum += shares[i]
		}
		return sum
	}
	if total == 0 {
		at(0)
		return shares
	}
	if at(n / total); sumIs(shares, n) {
		return shares
	}
	under, over := 0.0, n/smallest(weights)
	for range 100 {
		mid := under + (over-under)/2
		if at(mid) > n {
			over = mid
		} else {
			under = mid
		}
	}
	at(under)
	return shares
}

// sumIs reports whether the shares sum to n up to rounding.
func sumIs(shares []float64, n float64) bool {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	return math.Abs(sum-n) <= 1e-9*max(n, 1)
}

func smallest(weights []float64) float64 {
	least := math.Inf(1)
	for _, w := range weights {
		if w > 0 {
			least = min(least, w)
		}
	}
	return least
}
