package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/goldgen/goldgen/internal/seeded"
)

// shift scales the prior's shift variances by how many labels there are and by
// what they show of the model's error on each retriever's results.
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
	return ScaleShift(prior.Shift, prior.ShiftAfter, residuals, s.o.Seed)
}

// Residual is what a model got wrong on a labelled pair: label less probability.
type Residual struct {
	Query   string
	Value   float64
	Weight  float64
	Members []string // retrievers that have the pair among their first ten
}

// shiftDF is how sure it is, in degrees of freedom, that a further collection has
// the shift variance that others showed: few, so that labels that contradict the
// model are heard.
const shiftDF = 8

// ScaleShift re-estimates shift variances from a team's labels. So many labels
// leave the share of them that after shows of other collections; that is where it
// starts from. The mean residual over a retriever's first ten is the model's error
// in its precision@10: the differences of it between two retrievers, with their
// sampling variance and how far the two lie apart, say how likely it is that the
// shift variance is so many times as large. What the model brings to each variance
// is scaled by the mean of what that makes of an inverse chi-squared distribution
// with shiftDF degrees of freedom and mean 1 (empirical Bayes). Differences within
// their sampling error change little: they say little. A residual is the model's
// error, whoever wrote the query; what synthetic queries add shows in none.
func ScaleShift(prior []ShiftVariance, after []ShiftShare, residuals []Residual, seed int64) []ShiftVariance {
	at := slices.IndexFunc(prior, func(v ShiftVariance) bool {
		return v.Metric == "precision@10" && v.Source == "judged" && v.kind() == QueriesHuman
	})
	if at < 0 || prior[at].Variance == 0 {
		return slices.Clone(prior)
	}
	shown, ok := shownDifferences(residuals, seed)
	if !ok {
		return slices.Clone(prior)
	}
	share := shareAfter(after, len(residuals))
	return ScaleModelShift(prior, share*shown.scale(share*prior[at].Variance))
}

// shareAfter reads the share that n labels leave, between the numbers of labels
// that were measured on a straight line, from 1 for none; beyond the last it
// stays.
func shareAfter(after []ShiftShare, n int) float64 {
	last := ShiftShare{Share: 1}
	for _, s := range after {
		if n < s.Labels {
			return last.Share + float64(n-last.Labels)/float64(s.Labels-last.Labels)*(s.Share-last.Share)
		}
		last = s
	}
	return last.Share
}

// difference is the difference of a model's error between two retrievers, its
// sampling variance, and the square of how far the retrievers lie apart: the
// share of their results that only one of them has.
type difference struct{ error, variance, apart float64 }

// differences are those of every two of a number of members.
type differences struct {
	members int
	pairs   []difference
}

// shownDifferences is not ok where fewer than two retrievers have labelled
// results, or fewer than five queries labels.
func shownDifferences(residuals []Residual, seed int64) (d differences, ok bool) {
	members := membersOf(residuals)
	byQuery := residualsByQuery(residuals)
	if len(members) < 2 || len(byQuery) < figureFewQueries {
		return d, false
	}
	d.members = len(members)
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
	for a := range members {
		for b := range a {
			spread := make([]float64, len(samples))
			for r := range samples {
				spread[r] = samples[r][a] - samples[r][b]
			}
			_, v := meanVariance(spread)
			share := onlyOne(residuals, members[a], members[b])
			d.pairs = append(d.pairs, difference{errors[a] - errors[b], v, float64(share * share)})
		}
	}
	return d, true
}

// onlyOne is the share of two members' results that only one of them has.
func onlyOne(residuals []Residual, a, b string) float64 {
	one, all := 0.0, 0.0
	for _, r := range residuals {
		hasA, hasB := slices.Contains(r.Members, a), slices.Contains(r.Members, b)
		switch {
		case hasA && hasB:
			all += 2 * r.Weight
		case hasA || hasB:
			one, all = one+r.Weight, all+r.Weight
		}
	}
	if all == 0 {
		return 0
	}
	return one / all
}

// scale is the mean of the factor by which the shift variance of precision@10 is
// greater than expected, given the differences. Of so many members all but one
// differences are independent, and the likelihood of all counts as theirs.
func (d differences) scale(expected float64) float64 {
	const steps, widest = 400, 100.0 // of factors from 1/widest to widest
	independent := float64(d.members-1) / float64(len(d.pairs))
	factors, logs := make([]float64, steps+1), make([]float64, steps+1)
	for i := range factors {
		factor := math.Pow(widest, float64(2*i)/steps-1)
		// An inverse chi-squared density over the logarithm of the factor.
		log := -0.5*shiftDF*math.Log(factor) - (0.5*shiftDF-1)/factor
		for _, p := range d.pairs {
			v := float64(factor*expected*p.apart) + p.variance
			if v > 0 {
				log -= 0.5 * independent * (math.Log(v) + float64(p.error*p.error)/v)
			}
		}
		factors[i], logs[i] = factor, log
	}
	most := slices.Max(logs)
	sum, weights := 0.0, 0.0
	for i, factor := range factors {
		weight := math.Exp(logs[i] - most)
		sum += float64(weight * factor)
		weights += weight
	}
	return sum / weights
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
