package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Thresholds of the hints and of saturation. A hint is given only where at
// least hintCases cases speak for it.
const (
	saturatedAt   = 0.98 // mean of the main metric from here on
	saturatedMin  = 10   // cases
	hintCases     = 10   // found in the top ten and not first
	goodTop10     = 0.80 // mean success@10 from here on is good
	poorFirst     = 0.40 // share of the found that are not first, from here on
	filterCases   = 20   // on each side
	filterGap     = 0.10 // difference in success@10
	hintAlpha     = 0.05 // one-sided level of the difference
	mainMetricMin = 2    // a cut below says little about saturation
)

// mainMetric is the index of the measure that stands for the result: the first
// nDCG, else the first MRR or MAP, else the first one that is a share.
func (s *scores) mainMetric() int {
	prefer := [][]kind{{ndcg, ndcgExp}, {reciprocalRank, averagePrecision}, {recall, success, precision, rprec, spanRecall}}
	for _, kinds := range prefer {
		for j := range s.in.Measures {
			m := &s.in.Measures[j]
			for _, k := range kinds {
				if m.kind == k && m.where == "" && (m.k == 0 || m.k >= mainMetricMin) {
					return j
				}
			}
		}
	}
	return -1
}

// saturated reports whether the main metric is so near 1 that a regression
// could not show.
func (s *scores) saturated() bool {
	j := s.mainMetric()
	if j < 0 {
		return false
	}
	p := pool(s.groups[0].moments[j])
	return p.n >= saturatedMin && p.mean >= saturatedAt
}

func (s *scores) hints() []string {
	var hints []string
	if h := s.rerankHint(); h != "" {
		hints = append(hints, h)
	}
	if h := s.filterHint(); h != "" {
		hints = append(hints, h)
	}
	return hints
}

// hidden returns a hidden measure's value of a case.
func (s *scores) hidden(i int, which int) float64 {
	return s.values.row(i)[s.shown()+which]
}

func (s *scores) rerankHint() string {
	n, found, first := 0.0, 0.0, 0.0
	for i := range s.in.Cases {
		if ten := s.hidden(i, hiddenTen); ten == ten {
			n++
			found += ten
			first += s.hidden(i, hiddenFirst)
		}
	}
	late := found - first
	if n == 0 || found/n < goodTop10 || late < hintCases || late/found < poorFirst {
		return ""
	}
	return fmt.Sprintf("%.0f of %.0f cases have a relevant chunk in the top 10, %.0f of them not first: a reranker may help", found, n, late)
}

// filterHint compares cases with a scope or filters with the rest.
func (s *scores) filterHint() string {
	var with, without []int32
	for _, i := range s.groups[0].cases {
		if s.in.Cases[i].about().filtered() {
			with = append(with, i)
		} else {
			without = append(without, i)
		}
	}
	if len(with) < filterCases || len(without) < filterCases {
		return ""
	}
	at := s.shown() + hiddenTen
	a := momentsOf(s.values, with, s.clusters.of)[at]
	b := momentsOf(s.values, without, s.clusters.of)[at]
	if a.n < filterCases || b.n < filterCases || a.clusters < minClusters || b.clusters < minClusters {
		return ""
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(min(a.clusters, b.clusters) - 1)}.Quantile(1 - hintAlpha)
	gap := b.mean - a.mean
	if gap < filterGap || gap < t*math.Sqrt(a.variance+b.variance) {
		return ""
	}
	return fmt.Sprintf("success@10 is %.2f on the %d cases with a scope or filters and %.2f on the other %d: look at filtering (applied after the search?)",
		a.mean, a.n, b.mean, b.n)
}
