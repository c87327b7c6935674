package eval

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// DefaultFalseAnswers is the rate of false answers that a threshold meets where
// none is declared.
const DefaultFalseAnswers = 0.05

// Threshold is the least top score from which on a system may answer so that
// the rate of false answers on these cases is at most Target. It is the
// (1 - Target) quantile of the top scores of cases that expect abstention, and
// Low and High are a distribution-free 95 % interval of that quantile, by order
// statistics; nil is an end that so few cases cannot give.
type Threshold struct {
	Target          float64  `json:"target"`
	Value           float64  `json:"value"` // answer where the top score is at least this
	Low             *float64 `json:"low"`
	High            *float64 `json:"high"`
	FalseAnswer     float64  `json:"false_answer"` // of these cases, at Value
	FalseAnswerLow  float64  `json:"false_answer_low"`
	FalseAnswerHigh float64  `json:"false_answer_high"`
	AnswerRate      float64  `json:"answer_rate"` // answerable cases that are answered
	Method          string   `json:"method"`
}

const thresholdMethod = "the least score seen that keeps the declared rate; its interval by order statistics (binomial), that of the rate by Clopper and Pearson, both 95 %"

// newThreshold takes the top scores of answerable cases and of cases that
// expect abstention, minus infinity for no result; neither is empty. It is nil
// where no case has a result.
func newThreshold(answerable, abstaining []float64, target float64) *Threshold {
	abstaining = slices.Sorted(slices.Values(abstaining))
	value, ok := leastThreshold(answerable, abstaining, target)
	if !ok {
		return nil
	}
	n := len(abstaining)
	wrong := atLeast(abstaining, value)
	t := &Threshold{Target: target, Value: value, Method: thresholdMethod,
		FalseAnswer: ratio(wrong, n), AnswerRate: ratio(atLeast(answerable, value), len(answerable))}
	t.Low, t.High = quantileInterval(abstaining, 1-target)
	t.FalseAnswerLow, t.FalseAnswerHigh = clopperPearson(wrong, n)
	return t
}

func atLeast(scores []float64, t float64) int {
	n := 0
	for _, s := range scores {
		n += btoi(s >= t)
	}
	return n
}

// leastThreshold is the least score seen that at most a share target of the
// ascending scores reach; just above all of them where no score seen is.
func leastThreshold(answerable, ascending []float64, target float64) (float64, bool) {
	n := len(ascending)
	allowed := int(math.Floor(float64(target*float64(n)) + 1e-9))
	below := math.Inf(-1) // the threshold lies above this
	if allowed < n {
		below = ascending[n-1-allowed]
	}
	least := math.Inf(1)
	for _, scores := range [][]float64{answerable, ascending} {
		for _, s := range scores {
			if s > below {
				least = min(least, s)
			}
		}
	}
	switch {
	case !math.IsInf(least, 1):
		return least, true
	case math.IsInf(below, -1):
		return 0, false
	}
	return math.Nextafter(below, math.Inf(1)), true
}

// quantileInterval is the distribution-free interval of a quantile: the order
// statistics between which it lies unless a binomial count falls into one of
// two tails of 2.5 %.
func quantileInterval(ascending []float64, q float64) (low, high *float64) {
	n := len(ascending)
	count := distuv.Binomial{N: float64(n), P: q}
	const tail = (1 - intervalLevel) / 2
	for rank := 1; rank <= n; rank++ {
		cdf := 0.0
		if q < 1 {
			cdf = count.CDF(float64(rank - 1))
		}
		if s := ascending[rank-1]; cdf <= tail && !math.IsInf(s, -1) {
			low = &s
		}
		if s := ascending[rank-1]; high == nil && 1-cdf <= tail && !math.IsInf(s, -1) {
			high = &s
		}
	}
	return low, high
}

// clopperPearson is the exact 95 % interval of a share (Biometrika 26, 1934).
func clopperPearson(k, n int) (low, high float64) {
	const tail = (1 - intervalLevel) / 2
	high = 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}
