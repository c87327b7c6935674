package eval

import "math"

// The formulas here are trec_eval's further ones, kept so that its users find
// their numbers.

func setFOf(s *step, v *view) float64 {
	p, r := ratio(s.hits(v), len(v.gains)), ratio(s.hits(v), s.relevant(v))
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

func setMAPOf(s *step, v *view) float64 {
	return ratio(s.hits(v), len(v.gains)) * ratio(s.hits(v), s.relevant(v))
}

// rprecMultipleOf is precision at x times the number of relevant labels.
func rprecMultipleOf(s *step, v *view) float64 {
	return precisionAt(s, v, int(float64(s.x*float64(s.relevant(v)))+0.9))
}

// interpolatedAt is the best precision at or after the rank where recall
// reaches x (rounded to whole labels).
func interpolatedAt(s *step, v *view, x float64) float64 {
	need := int(math.Round(x * float64(s.relevant(v))))
	found, best := 0, 0.0
	for i, g := range v.gains {
		if g >= s.level {
			found++
			if found >= need {
				best = max(best, float64(found)/float64(i+1))
			}
		}
	}
	return best
}

func elevenPointOf(s *step, v *view) float64 {
	total := 0.0
	for i := range 11 {
		total += interpolatedAt(s, v, float64(i)/10)
	}
	return total / 11
}

// binaryGainOf averages 1/log2(2 + nonrelevant results before) over relevant
// labels.
func binaryGainOf(s *step, v *view) float64 {
	relevant := s.relevant(v)
	if relevant == 0 {
		return 0
	}
	nonrelevant, total := 0, 0.0
	for _, g := range v.gains {
		if g >= s.level {
			total += 1 / math.Log2(float64(2+nonrelevant))
		} else {
			nonrelevant++
		}
	}
	return total / float64(relevant)
}

// gainOf is binaryGainOf with grades: what a result is discounted by is the
// ideal gain so far (at least 1 a rank) less the gain so far.
func gainOf(_ *step, v *view) float64 {
	best := 0.0
	for _, g := range v.ideal {
		best += float64(g)
	}
	if best == 0 {
		return 0
	}
	cost, got, total := 0.0, 0.0, 0.0
	for i, g := range v.gains {
		cost += v.idealGain(i, 1)
		if g > 0 {
			got += float64(g)
			total += float64(g) / math.Log2(2+cost-got)
		}
	}
	return total / best
}

// idealGain is the gain at rank index i of the ideal ranking, or least.
func (v *view) idealGain(i int, least float64) float64 {
	if i >= len(v.ideal) {
		return least
	}
	return max(float64(v.ideal[i]), least)
}

// ndcgRelOf averages nDCG over the ranks of the labels with a gain; one not
// returned counts with the nDCG of the whole ranking.
func ndcgRelOf(_ *step, v *view) float64 {
	if len(v.ideal) == 0 {
		return 0
	}
	got, ideal, total, found := 0.0, 0.0, 0.0, 0
	for i, g := range v.gains {
		if g > 0 {
			got += float64(g) / v.log2[i]
		}
		ideal += v.idealGain(i, 0) / v.log2[i]
		if g > 0 {
			total += got / ideal
			found++
		}
	}
	rest := float64(len(v.ideal) - found)
	return (total + float64(rest*ndcgOf(v, 0, linear))) / float64(len(v.ideal))
}

// ndcgROf averages nDCG over the ranks at which the ideal ranking's gain
// changes, and over the end of a ranking that is longer than the ideal.
func ndcgROf(s *step, v *view) float64 {
	if s.relevant(v) == 0 || len(v.ideal) == 0 {
		return 0
	}
	total, points := 0.0, 0
	for i := 1; i <= len(v.ideal); i++ {
		if i == len(v.ideal) || v.ideal[i] != v.ideal[i-1] {
			total += ndcgOf(v, i, linear)
			points++
		}
	}
	if len(v.gains) > len(v.ideal)+1 {
		total += ndcgOf(v, 0, linear)
		points++
	}
	return total / float64(points)
}

func utilityOf(s *step, v *view) float64 {
	hits := s.hits(v)
	return float64(hits - (len(v.gains) - hits))
}
