package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/goldgen/goldgen/internal/seeded"
)

// shiftPriorLabels is how many labels of a team's own count as much as what
// other collections showed of the shift variance: as many as each of the prior's
// coefficient vectors saw.
const shiftPriorLabels = PriorPairs

// shift scales the prior's shift variances by what the labels show of the
// model's error on each retriever's results.
func (s *sheet) shift(prior *Profile, predicted []Predicted) []ShiftVariance {
	p := map[[2]string]float64{}
	for _, q := range predicted {
		p[[2]string{q.Query, q.Chunk}] = q.P
	}
	var residuals []Residual
	for n, place := range s.places {
		pair := s.pairs[n]
		r := Residual{Query: pair.Query, Value: -p[[2]string{pair.Query, pair.Chunk}], Weight: pair.Weight}
		if pair.Relevant {
			r.Value++
		}
		for name, rank := range s.observed[place[0]][place[1]].Item.Ranks {
			if rank.Rank <= firstHits {
				r.Members = append(r.Members, name)
			}
		}
		residuals = append(residuals, r)
	}
	return ScaleShift(prior.Shift, residuals, s.o.Seed)
}

// Residual is what a model got wrong on a labelled pair: label less probability.
type Residual struct {
	Query   string
	Value   float64
	Weight  float64
	Members []string // retrievers that have the pair among their first ten
}

// ScaleShift re-estimates shift variances from a team's labels. The mean
// residual over a retriever's first ten is the model's error in its precision@10.
// The mean square of the differences of that error between two retrievers, less
// what sampling queries explains, is what the labels show of the shift; it is
// weighed with what the prior brings as the labels are with shiftPriorLabels, and
// all variances are scaled by the ratio. Labels that show no error make them
// shrink as they grow in number; labels that contradict the model do not.
func ScaleShift(prior []ShiftVariance, residuals []Residual, seed int64) []ShiftVariance {
	out := slices.Clone(prior)
	at := slices.IndexFunc(prior, func(v ShiftVariance) bool { return v.Metric == "precision@10" && v.Source == "judged" })
	if at < 0 || prior[at].Variance == 0 {
		return out
	}
	shown, ok := shownShift(residuals, seed)
	if !ok {
		return out
	}
	n := float64(len(residuals))
	ratio := (shiftPriorLabels + float64(n*shown/prior[at].Variance)) / (shiftPriorLabels + n)
	for i := range out {
		out[i].Variance = math.Round(float64(out[i].Variance*ratio)*1e8) / 1e8
	}
	return out
}

// shownShift is not ok where fewer than two retrievers have labelled results, or
// fewer than five queries labels.
func shownShift(residuals []Residual, seed int64) (variance float64, ok bool) {
	members := membersOf(residuals)
	byQuery := residualsByQuery(residuals)
	if len(members) < 2 || len(byQuery) < figureFewQueries {
		return 0, false
	}
	errors := memberErrors(members, byQuery)
	samples := make([][]float64, figureResamples)
	rng := seeded.Rand(seed, "shift", "")
	for r := range samples {
		var sample [][]Residual
		for range byQuery {
			sample = append(sample, byQuery[rng.IntN(len(byQuery))])
		}
		samples[r] = memberErrors(members, sample)
	}
	sum, pairs := 0.0, 0.0
	for a := range members {
		for b := range a {
			d := errors[a] - errors[b]
			spread := make([]float64, len(samples))
			for r := range samples {
				spread[r] = samples[r][a] - samples[r][b]
			}
			_, v := meanVariance(spread)
			sum += float64(d*d) - v
			pairs++
		}
	}
	return max(0, sum/pairs), true
}

func membersOf(residuals []Residual) []string {
	var names []string
	for _, r := range residuals {
		names = append(names, r.Members...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func residualsByQuery(residuals []Residual) [][]Residual {
	sorted := slices.Clone(residuals)
	slices.SortStableFunc(sorted, func(a, b Residual) int { return cmp.Compare(a.Query, b.Query) })
	var groups [][]Residual
	for i, r := range sorted {
		if i == 0 || r.Query != sorted[i-1].Query {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], r)
	}
	return groups
}

// memberErrors is the mean residual of each member's results; 0 for one that has
// none in the sample.
func memberErrors(members []string, groups [][]Residual) []float64 {
	sums, weights := make([]float64, len(members)), make([]float64, len(members))
	for _, group := range groups {
		for _, r := range group {
			for _, name := range r.Members {
				m, _ := slices.BinarySearch(members, name)
				sums[m] += float64(r.Weight * r.Value)
				weights[m] += r.Weight
			}
		}
	}
	for m := range sums {
		if weights[m] > 0 {
			sums[m] /= weights[m]
		}
	}
	return sums
}
