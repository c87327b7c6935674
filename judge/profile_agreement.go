package judge

import (
	"math"

	"github.com/goldgen/goldgen/datasets"
)

// JudgeAgreement is how the grades of the model that judged agree with people's.
type JudgeAgreement struct {
	Pairs     int       `json:"pairs"`
	Unknown   int       `json:"unknown"`   // labelled pairs that the model gave no grade; not counted below
	Confusion [4][4]int `json:"confusion"` // [person's grade][model's grade]
	Kappa     float64   `json:"kappa"`     // Cohen's, of the four grades
	Quadratic float64   `json:"kappa_quadratic"`
	Binary    []Binary  `json:"kappa_binary"`
}

// Binary is Cohen's kappa of "grade >= threshold".
type Binary struct {
	Threshold int     `json:"threshold"`
	Kappa     float64 `json:"kappa"`
}

// judgeAgreement is nil where no labelled pair has a model's grade.
func (s *sheet) judgeAgreement() *JudgeAgreement {
	a := &JudgeAgreement{}
	for n, place := range s.places {
		seen := s.observed[place[0]][place[1]].Seen
		if grade, ok := seen["grade"]; ok {
			a.Confusion[s.grades[n]][int(grade)]++
			a.Pairs++
		} else {
			a.Unknown++
		}
	}
	if a.Pairs == 0 {
		return nil
	}
	a.Kappa = datasets.Round(Kappa(a.Confusion, func(i, j int) float64 { return disagree(i != j) }))
	a.Quadratic = datasets.Round(Kappa(a.Confusion, func(i, j int) float64 { return float64((i - j) * (i - j)) }))
	for threshold := 1; threshold <= 3; threshold++ {
		k := Kappa(a.Confusion, func(i, j int) float64 { return disagree((i >= threshold) != (j >= threshold)) })
		a.Binary = append(a.Binary, Binary{Threshold: threshold, Kappa: datasets.Round(k)})
	}
	return a
}

func disagree(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Kappa is Cohen's weighted kappa (Psychological Bulletin 70, 1968) of two
// raters' counts under a cost of disagreement: 1 is agreement, 0 what chance
// gives. It is 0 where chance alone cannot disagree, as when all pairs have one
// grade.
func Kappa(counts [4][4]int, cost func(i, j int) float64) float64 {
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
