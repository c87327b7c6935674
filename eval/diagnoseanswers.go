package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Thresholds of the hints that look at answers too. Retrieval is good from
// goodTop10 on.
const (
	answerCases  = 20   // that have both a ranking and a judged answer
	poorAnswers  = 0.60 // share of right answers, of cases with something relevant in the top k, below which answers are poor
	stableRecall = 0.02 // change of the share of cases with something relevant in the top k
)

// AnswersBeside says for each case whether something relevant was in its top k,
// and whether the answer that a system gave was right. A case that lacks
// either is in neither.
type AnswersBeside map[string]AnswerBeside

// AnswerBeside is one case of AnswersBeside.
type AnswerBeside struct{ Retrieved, Right bool }

// LayAnswers lays the values of an answers result beside rankings. A case that
// knows nothing relevant, expects abstention, or whose answer was not judged
// is left out.
func LayAnswers(cases []Case, values AnswerBaseline, k, minGrade int) AnswersBeside {
	out := AnswersBeside{}
	in := DiagnosisInput{Cases: cases, K: k, MinGrade: minGrade}
	for s := range in.subjects() {
		right, known := values[s.c.ID].Get(Correctness)
		if known && s.expectsAnswer() {
			out[s.c.ID] = AnswerBeside{Retrieved: s.inTop(s.ranking), Right: right >= likelyFrom}
		}
	}
	return out
}

// Beside is the table by cases.
func (j *AnswerJoin) Beside() AnswersBeside {
	out := AnswersBeside{}
	for cell, is := range map[*AnswerCell]AnswerBeside{
		&j.RetrievedAnswered: {true, true}, &j.RetrievedNotAnswered: {true, false},
		&j.NotRetrievedAnswered: {false, true}, &j.Neither: {false, false},
	} {
		for _, id := range cell.Cases {
			out[id] = is
		}
	}
	return out
}

// AnswerHints says where to look when retrieval does well and answers do not.
// before are the same system's earlier answers, nil where none are known.
func AnswerHints(now, before AnswersBeside) []string {
	var hints []string
	if h := now.poorHint(); h != "" {
		hints = append(hints, h)
	}
	if h := now.worseHint(before); h != "" {
		hints = append(hints, h)
	}
	return hints
}

func (b AnswersBeside) poorHint() string {
	retrieved, right := 0, 0
	for _, c := range b {
		if c.Retrieved {
			retrieved++
			if c.Right {
				right++
			}
		}
	}
	if len(b) < answerCases || float64(retrieved) < goodTop10*float64(len(b)) || float64(right) >= poorAnswers*float64(retrieved) {
		return ""
	}
	return fmt.Sprintf("%d of %d cases have something relevant in the top k, and only %d of these a right answer: try larger chunks, or a window around each",
		retrieved, len(b), right)
}

// worseHint compares the cases that both have: the share with something
// relevant in the top k by its change, answers by McNemar's exact test.
func (b AnswersBeside) worseHint(before AnswersBeside) string {
	n, change, better, worse := 0, 0, 0, 0
	for id, was := range before {
		now, both := b[id]
		if !both {
			continue
		}
		n++
		change += one(now.Retrieved) - one(was.Retrieved)
		better += one(now.Right && !was.Right)
		worse += one(!now.Right && was.Right)
	}
	if n < answerCases || math.Abs(float64(change)) > stableRecall*float64(n) || !significantlyMore(worse, better) {
		return ""
	}
	return fmt.Sprintf("%d answers got worse and %d better over %d cases, and retrieval did not change: look behind it (context, prompt, model)", worse, better, n)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// significantlyMore reports whether a of a+b is more than chance, one-sided at
// hintAlpha.
func significantlyMore(a, b int) bool {
	if a <= b {
		return false
	}
	coin := distuv.Binomial{N: float64(a + b), P: 0.5}
	return 1-coin.CDF(float64(a-1)) <= hintAlpha
}
