package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// Conflict is a pair that people graded differently.
type Conflict struct {
	CaseID  string         `json:"case_id"`
	ChunkID string         `json:"chunk_id"`
	Query   string         `json:"query"`
	Grades  map[string]int `json:"grades"`  // by person
	Kept    int            `json:"kept"`    // the median, the lower of two
	Crosses bool           `json:"crosses"` // relevant to one and not to another
}

// Agreement is how two people agree on the pairs that both graded.
type Agreement struct {
	A         string        `json:"a"`
	B         string        `json:"b"`
	Pairs     int           `json:"pairs"`
	Same      int           `json:"same"`
	Confusion [4][4]float64 `json:"confusion"` // [A's grade][B's grade]
	Kappa     *float64      `json:"kappa"`     // Cohen's, of the four grades; nil without pairs, or where chance cannot disagree
	Quadratic *float64      `json:"kappa_quadratic"`
	Relevant  *float64      `json:"kappa_relevant"` // of relevant or not
}

// Conflicts lists the pairs that people graded differently, sorted. Labels for
// different wordings of a query are none.
func Conflicts(stands []Stand, relevant int) []Conflict {
	by := map[Pair][]said{}
	for i := range stands {
		for pair, e := range stands[i].Labels {
			if !e.Skip {
				by[pair] = append(by[pair], said{stands[i].Reviewer, e})
			}
		}
	}
	out := []Conflict{}
	for pair, list := range by {
		if !differ(list) {
			continue
		}
		c := Conflict{CaseID: pair.CaseID, ChunkID: pair.ChunkID, Query: list[0].Query, Grades: map[string]int{}}
		c.Kept = *judgmentOf(list, "").Grade
		for _, l := range list {
			c.Grades[l.by] = *l.Grade
			c.Crosses = c.Crosses || (*l.Grade >= relevant) != (c.Kept >= relevant)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Conflict) int {
		return cmp.Or(strings.Compare(a.CaseID, b.CaseID), strings.Compare(a.ChunkID, b.ChunkID))
	})
	return out
}

// differ reports whether labels for one wording have different grades.
func differ(list []said) bool {
	for _, l := range list[1:] {
		if l.Query != list[0].Query {
			return false
		}
	}
	return slices.ContainsFunc(list, func(l said) bool { return *l.Grade != *list[0].Grade })
}

// Agreements compares each two people, in the order of their names.
func Agreements(stands []Stand, relevant int) []Agreement {
	sorted := slices.Clone(stands)
	slices.SortFunc(sorted, func(a, b Stand) int { return strings.Compare(a.Reviewer, b.Reviewer) })
	out := []Agreement{}
	for i := range sorted {
		for j := i + 1; j < len(sorted); j++ {
			out = append(out, agree(&sorted[i], &sorted[j], relevant))
		}
	}
	return out
}

func agree(a, b *Stand, relevant int) Agreement {
	out := Agreement{A: a.Reviewer, B: b.Reviewer}
	for pair, x := range a.Labels {
		y, both := b.Labels[pair]
		if !both || x.Skip || y.Skip || x.Query != y.Query {
			continue
		}
		out.Pairs++
		out.Confusion[*x.Grade][*y.Grade]++
		if *x.Grade == *y.Grade {
			out.Same++
		}
	}
	out.Kappa = Kappa(out.Confusion, func(i, j int) float64 { return cost(i != j) })
	out.Quadratic = Kappa(out.Confusion, func(i, j int) float64 { return float64((i - j) * (i - j)) })
	out.Relevant = Kappa(out.Confusion, func(i, j int) float64 { return cost((i >= relevant) != (j >= relevant)) })
	return out
}

func cost(differ bool) float64 {
	if differ {
		return 1
	}
	return 0
}

// Kappa is judge.Kappa to 4 decimals, nil where chance alone cannot disagree: all
// pairs have one grade.
func Kappa(counts [4][4]float64, cost func(i, j int) float64) *float64 {
	chance := false
	for i := range 4 {
		for j := range 4 {
			chance = chance || rowSum(counts, i) > 0 && columnSum(counts, j) > 0 && cost(i, j) > 0
		}
	}
	if !chance {
		return nil
	}
	k := datasets.Round(judge.Kappa(counts, cost))
	return &k
}

func rowSum(counts [4][4]float64, i int) (sum float64) {
	for _, n := range counts[i] {
		sum += n
	}
	return sum
}

func columnSum(counts [4][4]float64, j int) (sum float64) {
	for i := range counts {
		sum += counts[i][j]
	}
	return sum
}
