package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/goldgen/goldgen/internal/delong"
)

// States of a verdict.
const (
	Passed   = "passed"
	Blind    = "blind"
	Untested = "untested"
)

// MinCanaries is the least number of source chunks, and of random chunks, on
// which a judge can pass.
const MinCanaries = 30

// Canary is a graded pair whose answer is known well enough: a chunk that the
// query was written from, or a random one.
type Canary struct {
	CaseID  string
	ChunkID string
	Source  bool
	Grade   Grade
}

// Verdict is what the canaries say of a judge.
type Verdict struct {
	State         string  `json:"state"`
	AUC           float64 `json:"auc"` // of the expected grade, sources against random chunks
	Low           float64 `json:"low"` // 95 % bounds
	High          float64 `json:"high"`
	OneGradeShare float64 `json:"one_grade_share"` // of the commonest grade, both groups counted alike
	Sources       int     `json:"sources"`
	Randoms       int     `json:"randoms"`
	Unknown       int     `json:"unknown"` // canaries without a grade: they count as ties
	Why           string  `json:"why"`
}

// The design's rule for a blind judge.
const (
	leastAUC      = 0.70 // for the lower 95 % bound
	mostOneGrade  = 0.80 // share of one grade in both groups together
	normalQuant95 = 1.959963984540054
)

// Assess says whether a judge can tell source chunks from random ones. It is
// blind when the lower 95 % bound of the AUC of its expected grade is under
// 0.70, or when it gives one grade to more than 80 % of both groups, each group
// counting the same; untested with fewer than 30 of either. A pair that it could
// not grade tells nothing apart: it ties with every other.
//
// The interval is that of DeLong, DeLong and Clarke-Pearson (Biometrics 44,
// 1988, 837-845) for one AUC, from the variances of the placement values of
// both groups, with the normal distribution's two-sided 95 % quantile.
func Assess(canaries []Canary) Verdict {
	var sources, randoms []Grade
	v := Verdict{}
	for _, c := range canaries {
		if c.Grade.Grade == nil {
			v.Unknown++
		}
		if c.Source {
			sources = append(sources, c.Grade)
		} else {
			randoms = append(randoms, c.Grade)
		}
	}
	v.Sources, v.Randoms = len(sources), len(randoms)
	if v.Sources == 0 || v.Randoms == 0 {
		v.State, v.Why = Untested, "no canaries"
		return v
	}
	v.AUC, v.Low, v.High = aucDeLong(sources, randoms)
	v.OneGradeShare = oneGradeShare(sources, randoms)
	v.State, v.Why = v.decide()
	return v
}

func (v *Verdict) decide() (state, why string) {
	switch {
	case v.Sources < MinCanaries || v.Randoms < MinCanaries:
		return Untested, fmt.Sprintf("%d source and %d random canaries, %d of each are needed", v.Sources, v.Randoms, MinCanaries)
	case v.Low < leastAUC:
		return Blind, fmt.Sprintf("AUC %.2f [%.2f, %.2f] on %d source and %d random chunks: the lower bound is under %.2f", v.AUC, v.Low, v.High, v.Sources, v.Randoms, leastAUC)
	case v.OneGradeShare > mostOneGrade:
		return Blind, fmt.Sprintf("one grade for %.0f %% of the canaries", 100*v.OneGradeShare)
	}
	return Passed, fmt.Sprintf("AUC %.2f [%.2f, %.2f] on %d source and %d random chunks", v.AUC, v.Low, v.High, v.Sources, v.Randoms)
}

// value is what the AUC orders by: the expected grade, else the grade, else NaN.
func (g *Grade) value() float64 {
	switch {
	case g.Grade == nil:
		return math.NaN()
	case g.Expected != nil:
		return *g.Expected
	}
	return float64(*g.Grade)
}

// aucDeLong is the AUC of xs over ys with its 95 % bounds within [0, 1].
func aucDeLong(xs, ys []Grade) (auc, low, high float64) {
	above := delong.Placements(values(xs), values(ys))
	below := delong.Placements(values(ys), values(xs))
	auc, varAbove := meanVariance(above)
	_, varBelow := meanVariance(below)
	half := normalQuant95 * math.Sqrt(varAbove/float64(len(above))+varBelow/float64(len(below)))
	return auc, max(0, auc-half), min(1, auc+half)
}

func values(grades []Grade) []float64 {
	out := make([]float64, len(grades))
	for i := range grades {
		out[i] = grades[i].value()
	}
	return out
}

// meanVariance is the mean and the unbiased variance; of one value, 0.
func meanVariance(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	if len(xs) == 1 {
		return mean, 0
	}
	for _, x := range xs {
		variance += float64((x - mean) * (x - mean))
	}
	return mean, variance / float64(len(xs)-1)
}

// oneGradeShare is the share of the commonest grade, where each group has the
// same weight: a good judge gives most random chunks a 0, and there may be
// several of them for each source.
func oneGradeShare(groups ...[]Grade) float64 {
	var share [4]float64
	for _, group := range groups {
		for i := range group {
			if g := group[i].Grade; g != nil {
				share[*g] += 1 / float64(len(group)*len(groups))
			}
		}
	}
	return slices.Max(share[:])
}
