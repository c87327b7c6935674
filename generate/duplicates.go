package generate

import "github.com/goldgen/goldgen/datasets"

// Duplicate is a case whose query repeats one before it.
type Duplicate struct {
	CaseID     string  `json:"case_id"`
	Of         string  `json:"of"`
	Similarity float64 `json:"similarity"` // Jaccard of the queries' terms, 4 decimals
	Exact      bool    `json:"exact"`      // the same words in the same order, but for case and punctuation
}

// Duplicates lists the cases whose query is, in their order, an exact or near
// duplicate of an earlier one of the same scope and as_of, by the rule that
// generation refuses them by. A set that goldgen made has none; imported, edited
// and logged queries may.
func Duplicates(cases []datasets.Case) []Duplicate {
	index := newSimilarIndex()
	out := []Duplicate{}
	for i := range cases {
		c := &cases[i]
		if of, found := index.closest(c); found {
			out = append(out, Duplicate{CaseID: c.ID, Of: of.caseID, Similarity: datasets.Round(of.similarity), Exact: of.exact})
		}
		index.add(c)
	}
	return out
}
