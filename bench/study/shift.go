package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// ShippedMetrics are the measures whose shift variance is shipped.
const ShippedMetrics = "ndcg@1,ndcg@5,ndcg@10,recall@1,recall@5,recall@10,precision@1,precision@5,precision@10,success@1,success@5,success@10,mrr,map"

// values are a variant's value of each measure, by draw, query and measure; NaN
// where a query has none.
type values [][][]float64

// ShiftOn measures how far the differences between variants under a model's
// labels are from those under people's, beyond sampling and what draws show.
func ShiftOn(m *Material, model *judge.LabelModel, metrics string, modes ...datasets.SourceMode) ([]judge.ShiftVariance, error) {
	found, err := m.errorsUnder(model, metrics, modes...)
	return shiftOf(found, judge.QueriesHuman), err
}

func shiftOf(found []modelErrors, queries string) []judge.ShiftVariance {
	var out []judge.ShiftVariance
	for _, f := range found {
		out = append(out, judge.ShiftVariance{
			Metric: f.metric, Source: string(f.mode), Queries: queries, Pairs: len(f.errors),
			Variance: shiftVariance(f.errors, queries == judge.QueriesSynthetic),
		})
	}
	return out
}

// modelErrors are the errors of every two variants by one measure in one source
// mode.
type modelErrors struct {
	metric string
	mode   datasets.SourceMode
	errors []pairError
}

// comparison holds what the variants do by some queries under a model's labels
// beside what they do by people's queries under people's labels. errorOf gets the
// differences of two variants: by query, and by draw and query.
type comparison struct {
	people, asked *Material
	errorOf       func(truth []float64, draws [][]float64) pairError
}

// errorsUnder compares every two variants under a model's labels with the same
// under people's.
func (m *Material) errorsUnder(model *judge.LabelModel, metrics string, modes ...datasets.SourceMode) ([]modelErrors, error) {
	return comparison{m, m, errorOf}.errorsUnder(model, metrics, modes...)
}

func (c comparison) errorsUnder(model *judge.LabelModel, metrics string, modes ...datasets.SourceMode) ([]modelErrors, error) {
	measures, err := eval.ParseMeasures(metrics)
	if err != nil {
		return nil, err
	}
	m := c.asked
	people, err := c.people.valuesUnder(measures, c.people.human)
	if err != nil {
		return nil, err
	}
	apart := make([][][]float64, len(measures))
	for j, measure := range measures {
		apart[j] = m.apart(measure.K())
	}
	p := m.probabilities(model)
	var out []modelErrors
	for _, mode := range modes {
		drawn, err := m.valuesUnder(measures, func(q *pooled) labels { return m.drawn(q, p[q.id], mode) })
		if err != nil {
			return nil, err
		}
		for j, measure := range measures {
			out = append(out, modelErrors{measure.Name, mode, c.errorsOf(people, drawn, apart[j], j)})
		}
	}
	return out, nil
}

// apart is how far every two variants lie apart in their first k results.
func (m *Material) apart(k int) [][]float64 {
	cases := make([][]eval.Case, len(m.rankings))
	out := make([][]float64, len(cases))
	for v, rankings := range m.rankings {
		for _, ranking := range rankings {
			cases[v] = append(cases[v], eval.Case{Ranking: ranking})
		}
		for other := range v {
			out[v] = append(out[v], eval.Apart(cases[v], cases[other], k))
		}
	}
	return out
}

// pairError is the error of the difference between two variants under a model's
// labels.
type pairError struct {
	square   float64 // of the mean error over queries
	sampling float64 // variance of that mean, as errors differ by query
	common   float64 // variance between draws that queries share
	apart    float64 // of the two
	level    float64 // mean of their means under the model's labels

	own, people estimate // where the queries are not people's
}

// estimate is a mean difference with its variance as queries were sampled.
type estimate struct{ mean, variance float64 }

// excess is what neither sampling nor draws account for; it may be negative.
func (e pairError) excess() float64 {
	return e.square - e.sampling - float64((1+1./judge.DrawCount)*e.common)
}

func (c comparison) errorsOf(people, drawn []values, apart [][]float64, measure int) []pairError {
	var out []pairError
	for a := range people {
		for b := range a {
			truth := differences(people[a], people[b], measure)
			e := c.errorOf(truth[0], differences(drawn[a], drawn[b], measure))
			e.apart, e.level = apart[a][b], (drawn[a].mean(measure)+drawn[b].mean(measure))/2
			out = append(out, e)
		}
	}
	return out
}

// mean is that of a measure over draws and queries.
func (v values) mean(measure int) float64 {
	sum, n := 0.0, 0.0
	for t := range v {
		for q := range v[t] {
			if x := v[t][q][measure]; !math.IsNaN(x) {
				sum, n = sum+x, n+1
			}
		}
	}
	return sum / n
}

// differences are those of two variants' values of a measure, by draw and query.
func differences(a, b values, measure int) [][]float64 {
	out := make([][]float64, len(a))
	for t := range a {
		for q := range a[t] {
			out[t] = append(out[t], a[t][q][measure]-b[t][q][measure])
		}
	}
	return out
}

// drawnMeans are differences over draws: by query the mean and the variance, NaN
// where fewer than two draws have a value; and the variance between the means of
// draws.
type drawnMeans struct {
	means, variances []float64
	between          float64
}

func overDraws(draws [][]float64) drawnMeans {
	var out drawnMeans
	sums, counts := make([]float64, len(draws)), make([]float64, len(draws))
	for q := range draws[0] {
		var own []float64
		for t := range draws {
			if d := draws[t][q]; !math.IsNaN(d) {
				own = append(own, d)
				sums[t] += d
				counts[t]++
			}
		}
		mean, variance := math.NaN(), math.NaN()
		if len(own) > 1 {
			mean, variance = stat.MeanVariance(own, nil)
		}
		out.means, out.variances = append(out.means, mean), append(out.variances, variance)
	}
	for t := range sums {
		sums[t] /= counts[t]
	}
	out.between = stat.Variance(sums, nil)
	return out
}

// errorOf compares differences by query with what they are in each draw. A query
// that has no value, under people's labels or in any draw, is left out.
func errorOf(truth []float64, draws [][]float64) pairError {
	own := overDraws(draws)
	var errors []float64
	noise, n := 0.0, 0.0
	for q, known := range truth {
		if math.IsNaN(known) || math.IsNaN(own.means[q]) {
			continue
		}
		errors = append(errors, own.means[q]-known)
		noise += own.variances[q]
		n++
	}
	mean, variance := stat.MeanVariance(errors, nil)
	return pairError{square: float64(mean * mean), sampling: variance / n, common: max(0, own.between-noise/(n*n))}
}

// shiftVariance is the mean excess of the pairs, as of variants that have nothing
// in common, and where it is relative whose means are 1; never under 0.
func shiftVariance(errors []pairError, relative bool) float64 {
	sum, weight := 0.0, 0.0
	for _, e := range errors {
		sum += e.excess()
		of := e.apart
		if relative {
			of *= e.level
		}
		weight += float64(of * of)
	}
	return max(0, sum/weight)
}

// labels are what one query's chunks are in each of one or more draws, and what
// is taken out of rankings.
type labels struct {
	draws   [][]eval.Label
	dropped string
}

func (m *Material) human(q *pooled) labels {
	return labels{draws: [][]eval.Label{q.graded(m.Qrels[q.id], "")}}
}

// probabilities are the model's, by query and item.
func (m *Material) probabilities(model *judge.LabelModel) map[string][]judge.Probability {
	out := map[string][]judge.Probability{}
	for _, q := range m.pools {
		for _, x := range judge.Vectors(model.Features, q.seen) {
			out[q.id] = append(out[q.id], model.Probability(x))
		}
	}
	return out
}

// drawn draws each label under each coefficient vector.
func (m *Material) drawn(q *pooled, p []judge.Probability, mode datasets.SourceMode) labels {
	out := labels{}
	if mode == datasets.SourceOut {
		out.dropped = q.source
	}
	for t := range judge.DrawCount {
		grades := map[string]int{}
		for i, id := range q.ids {
			rng := seeded.Rand(Seed, "draw "+strconv.Itoa(t), q.id+" "+id)
			grades[id] = 0
			if rng.Float64() < p[i].Draws[t] {
				grades[id] = 1
			}
		}
		if mode == datasets.SourceIn {
			grades[q.source] = 1
		}
		out.draws = append(out.draws, q.graded(grades, out.dropped))
	}
	return out
}

// graded are the labels of the pool, and of what is relevant besides; dropped has
// none.
func (q *pooled) graded(grades map[string]int, dropped string) []eval.Label {
	var out []eval.Label
	for _, id := range q.ids {
		if id != dropped {
			out = append(out, eval.Label{ID: id, Grade: grades[id]})
		}
	}
	for id, grade := range grades {
		if grade > 0 && !slices.Contains(q.ids, id) {
			out = append(out, eval.Label{ID: id, Grade: grade})
		}
	}
	return out
}

// valuesUnder scores all variants under each draw.
func (m *Material) valuesUnder(measures []eval.Measure, of func(*pooled) labels) ([]values, error) {
	all := make([]labels, len(m.pools))
	for i := range m.pools {
		all[i] = of(&m.pools[i])
	}
	out := make([]values, len(m.Variants))
	for v := range m.Variants {
		var err error
		if out[v], err = m.score(v, measures, all); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// score gives the values in each draw. All draws are scored as the cases of one
// input; one whose label is uncertain stands before them, so that no interval is
// bootstrapped that nobody reads.
func (m *Material) score(variant int, measures []eval.Measure, all []labels) (values, error) {
	rankings := make([][]string, len(all))
	for i, ranking := range m.rankings[variant] {
		rankings[i] = slices.DeleteFunc(slices.Clone(ranking), func(id string) bool { return id == all[i].dropped })
	}
	cases := []eval.Case{{ID: "uncertain", Labels: []eval.Label{{ID: "x", Uncertain: &eval.Probability{P: 0.5}}}}}
	draws := len(all[0].draws)
	for t := range draws {
		for i, q := range m.pools {
			cases = append(cases, eval.Case{ID: fmt.Sprint(q.id, "#", t), Labels: all[i].draws[t], Ranking: rankings[i]})
		}
	}
	result, err := eval.Evaluate(eval.Input{Cases: cases, Measures: measures, MinGrade: 1})
	if err != nil {
		return nil, err
	}
	out := make(values, draws)
	at := -1 // of the case before those of the first draw
	for row := range result.Rows() {
		if at >= 0 {
			out[at/len(m.pools)] = append(out[at/len(m.pools)], valuesOf(row, measures))
		}
		at++
	}
	return out, nil
}

// valuesOf are a case's values in the order of measures.
func valuesOf(row eval.CaseRow, measures []eval.Measure) []float64 {
	out := make([]float64, len(measures))
	for j, measure := range measures {
		out[j] = math.NaN()
		for _, v := range row.Metrics {
			if v.Name == measure.Name {
				out[j] = v.Value
			}
		}
	}
	return out
}
