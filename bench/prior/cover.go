package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// coverage holds the errors of a third of the pairs of variants, by how far they
// lie apart, against what is allowed for. All but the distance are roots of mean
// squares.
type coverage struct {
	collection, part         string
	apart                    float64
	error, allowed, constant float64
}

// cover looks at the error of metric with the source in.
func (l *leftOut) cover(shift []judge.ShiftVariance) ([]coverage, error) {
	measures, err := eval.ParseMeasures(metric)
	if err != nil {
		return nil, err
	}
	people, err := valuesUnder(l.m, measures, func(q *pooled) labels { return l.m.human(q) })
	if err != nil {
		return nil, err
	}
	p := l.m.probabilities(l.model)
	drawn, err := valuesUnder(l.m, measures, func(q *pooled) labels { return l.m.drawn(q, p[q.id], datasets.SourceIn) })
	if err != nil {
		return nil, err
	}
	errors := errorsOf(people, drawn, l.m.apart(measures[0].K()), 0)
	slices.SortStableFunc(errors, func(a, b pairError) int { return cmp.Compare(a.apart, b.apart) })
	variance, mean := shiftIn(shift, datasets.SourceIn), 0.0
	for _, e := range errors {
		mean += float64(e.apart*e.apart) / float64(len(errors))
	}
	var out []coverage
	for i, part := range []string{"the nearest", "the middle", "the farthest"} {
		c := coverOf(errors[i*len(errors)/3:(i+1)*len(errors)/3], variance, mean)
		c.collection, c.part = l.m.Name, part
		out = append(out, c)
	}
	return out, nil
}

// coverOf sums pairs up; meanApart is the mean square of how far all pairs lie
// apart.
func coverOf(errors []pairError, shift, meanApart float64) (c coverage) {
	share := 1 / float64(len(errors))
	for _, e := range errors {
		known := e.square - e.excess() // sampling and draws
		c.apart += share * e.apart
		c.error += share * e.square
		c.allowed += share * (known + float64(shift*e.apart*e.apart))
		c.constant += share * (known + float64(shift*meanApart))
	}
	c.error, c.allowed, c.constant = math.Sqrt(c.error), math.Sqrt(c.allowed), math.Sqrt(c.constant)
	return c
}
