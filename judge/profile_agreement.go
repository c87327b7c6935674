package judge

import (
	"math"

	"github.com/goldgen/goldgen/datasets"
)

// JudgeAgreement is how the grades of the model that judged agree with people's.
// Confusion counts pairs; in the figures a pair counts by the inverse of the
// probability that it was labelled.
type JudgeAgreement struct {
	Pairs     int               `json:"pairs"`
	Unknown   int               `json:"unknown"`   // labelled pairs that the model gave no grade; not counted below
	Confusion [4][4]int         `json:"confusion"` // [person's grade][model's grade]
	Weighted  [4][4]float64     `json:"confusion_weighted"`
	AUC       datasets.Interval `json:"auc"`   // of the expected grade, else of the grade
	Kappa     float64           `json:"kappa"` // Cohen's, of the four grades
	Quadratic float64           `json:"kappa_quadratic"`
	Binary    []Binary          `json:"kappa_binary"`
}

// Binary is Cohen's kappa of "grade >= threshold".
type Binary struct {
	Threshold int     `json:"threshold"`
	Kappa     float64 `json:"kappa"`
}

// judgeAgreement is nil where no labelled pair has a model's grade.
func (s *sheet) judgeAgreement() *JudgeAgreement {
	a := &JudgeAgreement{}
	var graded []Predicted
	for n, place := range s.places {
		seen, pair := s.observed[place[0]][place[1]].Seen, s.pairs[n]
		grade, ok := seen["grade"]
		if !ok {
			a.Unknown++
			continue
		}
		a.Pairs++
		a.Confusion[s.grades[n]][int(grade)]++
		a.Weighted[s.grades[n]][int(grade)] += pair.Weight
		if expected, ok := seen[FeatureExpected]; ok {
			grade = expected
		}
		graded = append(graded, Predicted{Query: pair.Query, Chunk: pair.Chunk, P: grade, Relevant: pair.Relevant, Weight: pair.Weight})
	}
	if a.Pairs == 0 {
		return nil
	}
	a.AUC = FiguresOf(graded, s.o.Seed).AUC
	a.kappas()
	return a
}

// kappas fills in the agreement beyond chance from the weighted counts.
func (a *JudgeAgreement) kappas() {
	a.Kappa = datasets.Round(Kappa(a.Weighted, func(i, j int) float64 { return disagree(i != j) }))
	a.Quadratic = datasets.Round(Kappa(a.Weighted, func(i, j int) float64 { return float64((i - j) * (i - j)) }))
	for threshold := 1; threshold <= 3; threshold++ {
		k := Kappa(a.Weighted, func(i, j int) float64 { return disagree((i >= threshold) != (j >= threshold)) })
		a.Binary = append(a.Binary, Binary{Threshold: threshold, Kappa: datasets.Round(k)})
	}
	for i := range a.Weighted {
		for j := range a.Weighted[i] {
			a.Weighted[i][j] = datasets.Round(a.Weighted[i][j])
		}
	}
}

func disagree(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Kappa is Cohen's weighted kappa (Psychological Bulletin 70, 1968) of two
// raters' counts (or sums of weights) under a cost of disagreement: 1 is agreement, 0 what chance
// gives. It is 0 where chance alone cannot disagree, as when all pairs have one
// grade.
func Kappa[N int | float64](counts [4][4]N, cost func(i, j int) float64) float64 {
	var rows, columns [4]float64
	total := 0.0
	for i := range counts {
		for j, n := range counts[i] {
			rows[i] += float64(n)
			columns[j] += float64(n)
			total += float64(n)
		}
	}
	observed, expected := 0.0, 0.0
	for i := range counts {
		for j, n := range counts[i] {
			observed += float64(cost(i, j) * float64(n))
			expected += float64(cost(i, j) * rows[i] * columns[j] / total)
		}
	}
	if expected == 0 || math.IsNaN(expected) {
		return 0
	}
	return 1 - observed/expected
}
