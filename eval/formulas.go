package eval

import "math"

// view is what a formula sees of one case: gains by rank and the judgments
// behind them.
type view struct {
	at       int     // index of the case
	gains    []int16 // by rank: the label's grade, Unknown, or Unlabelled
	ideal    []int16 // positive grades of the case's labels, descending
	counts   []counts
	ties     []tie     // runs of equal scores; filled for a case that has any
	given    []int16   // gains in the order given, while ties are reordered
	moved    []float64 // values of one order of the ties
	overlaps []overlap // with the evidence, by cut of span measures
	stale    []int     // indexes of results that are labelled stale
	log2     []float64 // log2[i] = log2(i+2), at least as long as gains and ideal
}

// counts of a case's labels at one level.
type counts struct {
	relevant, nonrelevant int
}

// step is a measure made ready: its level resolved.
type step struct {
	Measure
	level  int16
	at     int // index of the level in view.counts
	cut    int // of a span measure: index in view.overlaps
	of     func(*step, *view) float64
	gainOf func(int16) float64 // of nDCG
	cases  []bool              // for which the measure's conditions hold; nil means all
}

// formulas holds one function per kind; value of a case, or NaN for none.
var formulas = [kinds]func(*step, *view) float64{
	recall:                 func(s *step, v *view) float64 { return ratio(s.hits(v), s.relevant(v)) },
	precision:              func(s *step, v *view) float64 { return ratio(s.hits(v), s.k) },
	reciprocalRank:         reciprocalRankOf,
	averagePrecision:       averagePrecisionOf,
	ndcg:                   func(s *step, v *view) float64 { return ndcgOf(v, s.k, s.gainOf) },
	ndcgExp:                func(s *step, v *view) float64 { return ndcgOf(v, s.k, exponential) },
	ndcgRel:                ndcgRelOf,
	ndcgR:                  ndcgROf,
	success:                successOf,
	judged:                 judgedOf,
	unjudged:               func(s *step, v *view) float64 { return ratio(v.unjudged(s.k), s.k) },
	rprec:                  func(s *step, v *view) float64 { return precisionAt(s, v, s.relevant(v)) },
	rprecMultiple:          rprecMultipleOf,
	bpref:                  bprefOf,
	infAP:                  infAPOf,
	rbp:                    rbpOf,
	rbpRest:                rbpResidual,
	gmMAP:                  func(s *step, v *view) float64 { return math.Log(max(averagePrecisionOf(s, v), geometricFloor)) },
	gmBpref:                func(s *step, v *view) float64 { return math.Log(max(bprefOf(s, v), geometricFloor)) },
	setPrecision:           func(s *step, v *view) float64 { return ratio(s.hits(v), len(v.gains)) },
	setRelativePrecision:   func(s *step, v *view) float64 { return ratio(s.hits(v), min(len(v.gains), s.relevant(v))) },
	setF:                   setFOf,
	setMAP:                 setMAPOf,
	relativePrecision:      func(s *step, v *view) float64 { return ratio(s.hits(v), min(s.k, s.relevant(v))) },
	interpolated:           func(s *step, v *view) float64 { return interpolatedAt(s, v, s.x) },
	elevenPoint:            elevenPointOf,
	gain:                   gainOf,
	binaryGain:             binaryGainOf,
	utility:                utilityOf,
	spanRecall:             func(s *step, v *view) float64 { return spanOf(s, v, spanRecallOf) },
	spanPrecision:          func(s *step, v *view) float64 { return spanOf(s, v, spanPrecisionOf) },
	spanIoU:                func(s *step, v *view) float64 { return spanOf(s, v, spanIoUOf) },
	staleAbove:             staleAboveOf,
	staleCase:              staleCaseOf,
	numQueries:             func(*step, *view) float64 { return 1 },
	numReturned:            func(_ *step, v *view) float64 { return float64(len(v.gains)) },
	numRelevant:            func(s *step, v *view) float64 { return float64(s.relevant(v)) },
	numRelevantReturned:    func(s *step, v *view) float64 { return float64(s.hits(v)) },
	numNonrelevantReturned: func(s *step, v *view) float64 { return float64(len(v.gains) - s.hits(v) - v.unjudged(0)) },
}

// geometricFloor is the least value that enters a geometric mean, as in
// trec_eval.
const geometricFloor = 1e-5

// unscored stands for a measure that says nothing of these rankings.
func unscored(*step, *view) float64 { return math.NaN() }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// relevant counts the case's relevant labels.
func (s *step) relevant(v *view) int { return v.counts[s.at].relevant }

// hits counts the relevant results down to the cut.
func (s *step) hits(v *view) int { return s.hitsAt(v, s.k) }

func (s *step) hitsAt(v *view, k int) int {
	n := 0
	for _, g := range v.top(k) {
		if g >= s.level {
			n++
		}
	}
	return n
}

// top returns the gains down to rank k; 0 means all.
func (v *view) top(k int) []int16 {
	if k == 0 || k > len(v.gains) {
		return v.gains
	}
	return v.gains[:k]
}

func (v *view) unjudged(k int) int {
	n := 0
	for _, g := range v.top(k) {
		if g < 0 {
			n++
		}
	}
	return n
}

func reciprocalRankOf(s *step, v *view) float64 {
	for i, g := range v.top(s.k) {
		if g >= s.level {
			return 1 / float64(i+1)
		}
	}
	return 0
}

func averagePrecisionOf(s *step, v *view) float64 {
	relevant := s.relevant(v)
	if relevant == 0 {
		return 0
	}
	found, total := 0, 0.0
	for i, g := range v.top(s.k) {
		if g >= s.level {
			found++
			total += float64(found) / float64(i+1)
		}
	}
	return total / float64(relevant)
}

// ndcgOf is Järvelin and Kekäläinen's (ACM TOIS 20, 2002) with log2(rank+1).
// The ideal is the case's labels, cut at k; never what was returned.
func ndcgOf(v *view, k int, gainOf func(int16) float64) float64 {
	ideal := v.ideal
	if k > 0 && k < len(ideal) {
		ideal = ideal[:k]
	}
	if len(ideal) == 0 {
		return 0
	}
	return dcg(v.top(k), v.log2, gainOf) / dcg(ideal, v.log2, gainOf)
}

func dcg(gains []int16, log2 []float64, gainOf func(int16) float64) float64 {
	total := 0.0
	for i, g := range gains {
		if g > 0 {
			total += gainOf(g) / log2[i]
		}
	}
	return total
}

// gainsOf is the gain of each grade that the measure takes.
func (m *Measure) gainsOf() func(int16) float64 {
	if m.gains == "" {
		return linear
	}
	table := m.gainTable()
	return func(g int16) float64 { return table[g] }
}

func linear(g int16) float64 { return float64(g) }

func exponential(g int16) float64 { return math.Exp2(float64(g)) - 1 }

func successOf(s *step, v *view) float64 {
	for _, g := range v.top(s.k) {
		if g >= s.level {
			return 1
		}
	}
	return 0
}

// judgedOf is the share of the results down to the cut that have a grade. A
// case without results has no value.
func judgedOf(s *step, v *view) float64 {
	shown := len(v.top(s.k))
	if shown == 0 {
		return math.NaN()
	}
	return float64(shown-v.unjudged(s.k)) / float64(shown)
}

func precisionAt(s *step, v *view, k int) float64 {
	if k == 0 {
		return 0
	}
	return ratio(s.hitsAt(v, k), k)
}

// bprefOf is Buckley and Voorhees's (SIGIR 2004) as trec_eval computes it: of
// the preferences between a relevant result and the first R nonrelevant ones,
// the share that the ranking keeps. Unjudged results are skipped.
func bprefOf(s *step, v *view) float64 {
	relevant := s.relevant(v)
	if relevant == 0 {
		return 0
	}
	pairs := min(v.counts[s.at].nonrelevant, relevant)
	nonrelevant, total := 0, 0.0
	for _, g := range v.gains {
		switch {
		case g < 0:
		case g < s.level:
			nonrelevant++
		case nonrelevant == 0:
			total++
		default:
			total += 1 - float64(min(nonrelevant, relevant))/float64(pairs)
		}
	}
	return total / float64(relevant)
}

// infAPOf is Yilmaz and Aslam's inferred average precision (CIKM 2006) as
// trec_eval computes it. A label with grade Unknown is in the pool and not
// judged: assumed to be relevant as often as its judged neighbours.
func infAPOf(s *step, v *view) float64 {
	relevant := s.relevant(v)
	if relevant == 0 {
		return 0
	}
	const epsilon = 1e-5
	found, nonrelevant, pooled, total := 0.0, 0.0, 0.0, 0.0
	for i, g := range v.gains {
		switch {
		case g == Unlabelled:
		case g == Unknown:
			pooled++
		case g < s.level:
			nonrelevant++
		default:
			above := float64(i)
			expected := 0.0
			if i > 0 {
				inPool := (found + nonrelevant + pooled) / above
				expected = above / (above + 1) * inPool * ((found + epsilon) / (found + nonrelevant + 2*epsilon))
			}
			total += 1/(above+1) + expected
			found++
		}
	}
	return total / float64(relevant)
}

// rbpOf is Moffat and Zobel's rank-biased precision (ACM TOIS 27, 2008) with
// relevant or not as gain.
func rbpOf(s *step, v *view) float64 {
	weight, total := 1-s.x, 0.0
	for _, g := range v.gains {
		if g >= s.level {
			total += weight
		}
		weight *= s.x
	}
	return total
}

// rbpResidual is how much more rbp could be if every unjudged result, and all
// that follows the last one, were relevant.
func rbpResidual(s *step, v *view) float64 {
	weight, total := 1-s.x, 0.0
	for _, g := range v.gains {
		if g < 0 {
			total += weight
		}
		weight *= s.x
	}
	return total + weight/(1-s.x)
}
