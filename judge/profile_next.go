package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
)

// Why a pair is worth a label.
const (
	NextUncertain = "uncertain" // the coefficient vectors disagree, or p is near 0.5
	NextRandom    = "random"    // drawn uniformly, so that figures are not only of hard pairs
)

// nextPerCase is how many uncertain pairs of one case are named at most: pairs
// of one query say less than pairs of several.
const nextPerCase = 2

// next names the unlabelled pairs that are worth a label: a third drawn
// uniformly, the rest those whose label varies most.
func (s *sheet) next(m *LabelModel) []NextPair {
	open := s.openPairs(m)
	random := min((s.o.Next+2)/3, len(open))
	out := []NextPair{}
	taken := map[int]bool{}
	for _, n := range seeded.Rand(s.o.Seed, "next", "").Perm(len(open))[:random] {
		pair := open[n].pair
		pair.Why, pair.Inclusion = NextRandom, datasets.Round(float64(random)/float64(len(open)))
		out, taken[n] = append(out, pair), true
	}
	order := make([]int, len(open))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &open[a], &open[b]
		return cmp.Or(cmp.Compare(y.worth, x.worth), strings.Compare(x.pair.CaseID, y.pair.CaseID), strings.Compare(x.pair.ChunkID, y.pair.ChunkID))
	})
	perCase := map[string]int{}
	for _, n := range order {
		pair := open[n].pair
		if len(out) >= s.o.Next || taken[n] || perCase[pair.CaseID] >= nextPerCase {
			continue
		}
		perCase[pair.CaseID]++
		out = append(out, pair)
	}
	return out
}

type openPair struct {
	pair  NextPair
	worth float64 // variance of the label over draws
}

// openPairs are the observed pairs without a label.
func (s *sheet) openPairs(m *LabelModel) []openPair {
	var open []openPair
	for i, pool := range s.observed {
		for j, x := range Vectors(m.Features, seenOf(pool)) {
			if s.labelled[[2]int{i, j}] {
				continue
			}
			p := m.Probability(x)
			_, between := meanVariance(p.Draws)
			open = append(open, openPair{
				pair:  NextPair{CaseID: s.cases[i].ID, ChunkID: pool[j].Item.ChunkID, P: p.P, Why: NextUncertain, Inclusion: 1},
				worth: between + float64(p.P*(1-p.P)),
			})
		}
	}
	return open
}
