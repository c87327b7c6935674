package eval

import (
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/internal/delong"
)

// abstention compares the cases that expect an answer with those that expect
// none. A rate over no cases stays nil, and Why says why.
func (s *scores) abstention() *Abstention {
	var a Abstention
	var answered, falseAnswers int
	scoredAll := true
	for i := range s.in.Cases {
		c := &s.in.Cases[i]
		has := s.prepared.hitStart[i+1] > s.prepared.hitStart[i]
		scoredAll = scoredAll && (c.Scores != nil || !has)
		switch {
		case c.Failed != "":
		case c.Abstain:
			a.Cases++
			falseAnswers += btoi(has)
		default:
			a.Answerable++
			answered += btoi(has)
		}
	}
	var why []string
	switch {
	case a.Cases > 0:
		a.FalseAnswer = ptr(ratio(falseAnswers, a.Cases))
	case slices.ContainsFunc(s.in.Cases, func(c Case) bool { return c.Abstain }):
		why = append(why, "every case that expects abstention failed")
	default:
		why = append(why, "no case expects abstention")
	}
	if a.Answerable > 0 {
		a.AnswerRate = ptr(ratio(answered, a.Answerable))
	} else {
		why = append(why, "no case expects an answer")
	}
	if len(why) == 0 && !scoredAll {
		why = append(why, "AUROC and threshold: the retriever gives no scores")
	}
	if len(why) == 0 {
		answerable, abstaining := topScores(s.in.Cases, false), topScores(s.in.Cases, true)
		a.AUROC = ptr(auroc(answerable, abstaining))
		a.Threshold = newThreshold(answerable, abstaining, s.in.falseAnswers())
	}
	a.Why = strings.Join(why, "; ")
	return &a
}

func (in *Input) falseAnswers() float64 {
	if in.FalseAnswers == nil {
		return DefaultFalseAnswers
	}
	return *in.FalseAnswers
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// topScores lists the best score of each case; no result is minus infinity.
func topScores(cases []Case, abstain bool) []float64 {
	var out []float64
	for i := range cases {
		c := &cases[i]
		if c.Abstain != abstain || c.Failed != "" {
			continue
		}
		top := math.Inf(-1)
		if len(c.Scores) > 0 {
			top = c.Scores[0]
		}
		out = append(out, top)
	}
	return out
}

// auroc is the chance that a random one of high exceeds a random one of low,
// ties counting half (Mann and Whitney).
func auroc(high, low []float64) float64 {
	sum := 0.0
	for _, share := range delong.Placements(high, low) {
		sum += share
	}
	return sum / float64(len(high))
}
