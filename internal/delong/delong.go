// Package delong holds placement values, from which the area under a ROC curve
// and its variance come (DeLong, DeLong, Clarke-Pearson, Biometrics 44, 1988,
// 837-845).
package delong

import (
	"math"
	"slices"
)

// Placements gives, for each of xs, the share of ys below it, ties counting one
// half. NaN is a value that is not known: it ties with every other. Their mean
// is the AUC of xs over ys (Mann and Whitney). ys must not be empty.
func Placements(xs, ys []float64) []float64 {
	known := slices.DeleteFunc(slices.Clone(ys), math.IsNaN)
	slices.Sort(known)
	unknown := float64(len(ys) - len(known))
	out := make([]float64, len(xs))
	for i, x := range xs {
		if math.IsNaN(x) {
			out[i] = 0.5
			continue
		}
		under, _ := slices.BinarySearch(known, x)
		upTo := len(known)
		if !math.IsInf(x, 1) {
			upTo, _ = slices.BinarySearch(known, math.Nextafter(x, math.Inf(1)))
		}
		out[i] = (float64(under) + float64(0.5*float64(upTo-under)) + float64(0.5*unknown)) / float64(len(ys))
	}
	return out
}
