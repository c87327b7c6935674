package study

import (
	"cmp"
	"math"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// Coverage holds the errors of a third of the pairs of variants, by how far they
// lie apart, against what is allowed for. All but the distance are roots of mean
// squares.
type Coverage struct {
	Part                     string
	Apart                    float64
	Error, Allowed, Constant float64 // Constant is what one shift variance for any two would allow for
}

// Cover looks at the error of Metric under a model, with the source in.
func (m *Material) Cover(model *judge.LabelModel, shift []judge.ShiftVariance) ([]Coverage, error) {
	found, err := m.errorsUnder(model, Metric, datasets.SourceIn)
	if err != nil {
		return nil, err
	}
	errors := found[0].errors
	slices.SortStableFunc(errors, func(a, b pairError) int { return cmp.Compare(a.apart, b.apart) })
	variance, mean := ShiftIn(shift, datasets.SourceIn), 0.0
	for _, e := range errors {
		mean += float64(e.apart*e.apart) / float64(len(errors))
	}
	var out []Coverage
	for i, part := range []string{"the nearest", "the middle", "the farthest"} {
		c := coverOf(errors[i*len(errors)/3:(i+1)*len(errors)/3], variance, mean)
		c.Part = part
		out = append(out, c)
	}
	return out, nil
}

// coverOf sums pairs up; meanApart is the mean square of how far all pairs lie
// apart.
func coverOf(errors []pairError, shift, meanApart float64) (c Coverage) {
	share := 1 / float64(len(errors))
	for _, e := range errors {
		known := e.square - e.excess() // sampling and draws
		c.Apart += share * e.apart
		c.Error += share * e.square
		c.Allowed += share * (known + float64(shift*e.apart*e.apart))
		c.Constant += share * (known + float64(shift*meanApart))
	}
	c.Error, c.Allowed, c.Constant = math.Sqrt(c.Error), math.Sqrt(c.Allowed), math.Sqrt(c.Constant)
	return c
}
