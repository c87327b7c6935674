package main

import (
	"fmt"
	"strconv"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// shiftMetrics are the measures whose shift variance is shipped.
const shiftMetrics = "ndcg@1,ndcg@5,ndcg@10,recall@1,recall@5,recall@10,precision@1,precision@5,precision@10,success@1,success@5,success@10,mrr,map"

// means are the mean of each measure, by variant, under one set of labels.
type means [][]float64

// shiftOn measures how far the differences between variants under a model's
// labels are from those under people's, beyond what draws show.
func shiftOn(m *material, model *judge.LabelModel, metrics string) ([]judge.ShiftVariance, error) {
	measures, err := eval.ParseMeasures(metrics)
	if err != nil {
		return nil, err
	}
	people, err := meansUnder(m, measures, func(q *pooled) labels { return m.human(q) })
	if err != nil {
		return nil, err
	}
	probabilities := m.probabilities(model)
	var out []judge.ShiftVariance
	for _, mode := range modes() {
		draws, err := meansUnder(m, measures, func(q *pooled) labels { return m.drawn(q, probabilities[q.id], mode) })
		if err != nil {
			return nil, err
		}
		for j, measure := range measures {
			v, pairs := shiftVariance(people, draws, j)
			out = append(out, judge.ShiftVariance{Metric: measure.Name, Source: string(mode), Variance: v, Pairs: pairs})
		}
	}
	return out, nil
}

// shiftVariance is the mean over pairs of variants of the squared error of their
// difference, less what the spread of draws accounts for; never under 0.
func shiftVariance(people, draws []means, measure int) (variance float64, pairs int) {
	sum := 0.0
	for a := range people[0] {
		for b := range a {
			truth := people[0][a][measure] - people[0][b][measure]
			mean, spread := 0.0, 0.0
			for _, d := range draws {
				mean += (d[a][measure] - d[b][measure]) / float64(len(draws))
			}
			for _, d := range draws {
				e := d[a][measure] - d[b][measure] - mean
				spread += float64(e*e) / float64(len(draws)-1)
			}
			sum += float64((mean-truth)*(mean-truth)) - float64(spread*(1+1/float64(len(draws))))
			pairs++
		}
	}
	return max(0, sum/float64(pairs)), pairs
}

// labels are what one query's chunks are in each of one or more draws, and what
// is taken out of rankings.
type labels struct {
	draws   []map[string]int
	dropped string
}

func (m *material) human(q *pooled) labels {
	return labels{draws: []map[string]int{m.Qrels[q.id]}}
}

// probabilities are the model's, by query and item.
func (m *material) probabilities(model *judge.LabelModel) map[string][]judge.Probability {
	out := map[string][]judge.Probability{}
	for _, q := range m.queries {
		for _, x := range judge.Vectors(model.Features, q.seen) {
			out[q.id] = append(out[q.id], model.Probability(x))
		}
	}
	return out
}

// drawn draws each label under each coefficient vector.
func (m *material) drawn(q *pooled, p []judge.Probability, mode datasets.SourceMode) labels {
	out := labels{}
	if mode == datasets.SourceOut {
		out.dropped = q.source
	}
	for t := range judge.DrawCount {
		grades := map[string]int{}
		for i, id := range q.ids {
			rng := seeded.Rand(seed, "draw "+strconv.Itoa(t), q.id+" "+id)
			grades[id] = 0
			if rng.Float64() < p[i].Draws[t] {
				grades[id] = 1
			}
		}
		if mode == datasets.SourceIn {
			grades[q.source] = 1
		}
		delete(grades, out.dropped)
		out.draws = append(out.draws, grades)
	}
	return out
}

// meansUnder scores all variants under each draw.
func meansUnder(m *material, measures []eval.Measure, of func(*pooled) labels) ([]means, error) {
	all := make([]labels, len(m.queries))
	for i := range m.queries {
		all[i] = of(&m.queries[i])
	}
	out := make([]means, len(all[0].draws))
	for t := range out {
		out[t] = make(means, len(m.variants))
	}
	for v := range m.variants {
		values, err := m.score(v, measures, all)
		if err != nil {
			return nil, err
		}
		for t := range out {
			out[t][v] = values[t]
		}
	}
	return out, nil
}

// score gives the mean of each measure in each draw. All draws are scored as the
// slices of one input; a case whose label is uncertain stands in a slice of its
// own, so that no interval is bootstrapped that nobody reads.
func (m *material) score(variant int, measures []eval.Measure, all []labels) ([][]float64, error) {
	cases := []eval.Case{{ID: "uncertain", Labels: []eval.Label{{ID: "x", Uncertain: &eval.Probability{P: 0.5}}}}}
	slice := []string{"none"}
	for t := range all[0].draws {
		for i, q := range m.queries {
			cases = append(cases, m.caseOf(&q, m.rankings[variant][i], all[i].draws[t], all[i].dropped, fmt.Sprint(q.id, "#", t)))
			slice = append(slice, strconv.Itoa(t))
		}
	}
	dimension := eval.NewDimension("draw", len(cases), func(i int) []string { return slice[i : i+1] })
	result, err := eval.Evaluate(eval.Input{Cases: cases, Dimensions: []eval.Dimension{dimension}, Measures: measures, MinGrade: 1})
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(all[0].draws))
	for _, s := range result.Slices.Get("draw") {
		if s.Value == "none" {
			continue
		}
		t, err := strconv.Atoi(s.Value)
		if err != nil {
			return nil, err
		}
		for _, measure := range measures {
			metric, _ := s.Metrics.Get(measure.Name)
			if metric.Mean == nil {
				return nil, fmt.Errorf("%s has no mean in draw %d", measure.Name, t)
			}
			out[t] = append(out[t], *metric.Mean)
		}
	}
	return out, nil
}

func (m *material) caseOf(q *pooled, ranking []string, grades map[string]int, dropped, id string) eval.Case {
	c := eval.Case{ID: id}
	for _, id := range q.ids {
		if id != dropped {
			c.Labels = append(c.Labels, eval.Label{ID: id, Grade: grades[id]})
		}
	}
	for id, grade := range grades {
		if _, pooled := q.at(id); !pooled && grade > 0 {
			c.Labels = append(c.Labels, eval.Label{ID: id, Grade: grade})
		}
	}
	for _, id := range ranking {
		if id != dropped {
			c.Ranking = append(c.Ranking, id)
		}
	}
	return c
}

func (q *pooled) at(id string) (int, bool) {
	for i, known := range q.ids {
		if known == id {
			return i, true
		}
	}
	return 0, false
}
