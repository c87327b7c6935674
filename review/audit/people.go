package audit

import (
	"slices"
	"strings"

	"github.com/goldgen/goldgen/review"
)

// Agreement is how two people agree on the queries that both labelled.
type Agreement struct {
	A         string             `json:"a"`
	B         string             `json:"b"`
	Valid     Kappa              `json:"valid"`
	Questions map[Question]Kappa `json:"questions"`
}

// Kappa is the agreement of two people on one yes or no.
type Kappa struct {
	Both  int      `json:"both"` // queries that both said it of
	Same  int      `json:"same"`
	Kappa *float64 `json:"kappa"` // Cohen's; nil where both said one and the same of all
}

// Conflict is a question that people answered differently.
type Conflict struct {
	CaseID   string          `json:"case_id"`
	Key      string          `json:"key"`
	Question Question        `json:"question"`
	Query    string          `json:"query"`
	Said     map[string]bool `json:"said"` // by person
}

func tallies(s *Sample, people []Person) []Tally {
	out := []Tally{}
	for _, p := range people {
		t := Tally{Name: p.Name}
		for _, item := range s.distinct() {
			switch a := p.Said[item.Key]; {
			case a.Complete():
				t.Labelled++
			case len(a) > 0:
				t.Begun++
			}
		}
		out = append(out, t)
	}
	return out
}

// agreements compares each two people, in the order of their names.
func agreements(s *Sample, people []Person) []Agreement {
	sorted := slices.Clone(people)
	slices.SortFunc(sorted, func(a, b Person) int { return strings.Compare(a.Name, b.Name) })
	out := []Agreement{}
	for i := range sorted {
		for j := i + 1; j < len(sorted); j++ {
			out = append(out, agree(s, &sorted[i], &sorted[j]))
		}
	}
	return out
}

func agree(s *Sample, a, b *Person) Agreement {
	out := Agreement{A: a.Name, B: b.Name, Valid: kappa(s, a, b, Answers.Valid), Questions: map[Question]Kappa{}}
	for _, q := range Questions() {
		out.Questions[q] = kappa(s, a, b, to(q))
	}
	return out
}

func kappa(s *Sample, a, b *Person, says func(Answers) (yes, known bool)) Kappa {
	var out Kappa
	var counts [4][4]float64
	for _, item := range s.distinct() {
		x, first := says(a.Said[item.Key])
		y, second := says(b.Said[item.Key])
		if !first || !second {
			continue
		}
		out.Both++
		counts[number(x)][number(y)]++
		if x == y {
			out.Same++
		}
	}
	out.Kappa = review.Kappa(counts, func(i, j int) float64 { return float64(number(i != j)) })
	return out
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// conflicts lists, in the sample's order, what people answered differently.
func conflicts(s *Sample, people []Person) []Conflict {
	out := []Conflict{}
	for _, item := range s.distinct() {
		for _, q := range Questions() {
			said, yes := map[string]bool{}, 0
			for _, p := range people {
				if a, ok := p.Said[item.Key][q]; ok {
					said[p.Name] = a
					yes += number(a)
				}
			}
			if yes > 0 && yes < len(said) {
				out = append(out, Conflict{CaseID: item.CaseID, Key: item.Key, Question: q, Query: item.Query, Said: said})
			}
		}
	}
	return out
}
