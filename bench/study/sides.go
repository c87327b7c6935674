package study

import (
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// People is the collection under people's judgments, as a side of eval.Agree.
func (m *Material) People() eval.AgreementSide {
	return m.side(sideOptions{trust: datasets.TrustReviewed}, func(q *pooled) []eval.Label {
		return q.graded(m.Qrels[q.id], "")
	})
}

// SourceOnly is the collection with one relevant document of each query as its
// only label.
func (m *Material) SourceOnly() eval.AgreementSide {
	return m.side(sideOptions{trust: datasets.TrustSourceOnly}, func(q *pooled) []eval.Label {
		return q.graded(map[string]int{q.source: 1}, "")
	})
}

// Labelled is the collection under a label model, with one relevant document of
// each query as its source, and a shift variance of Metric. The sign rule is that
// of the trust.
func (m *Material) Labelled(model *judge.LabelModel, trust string, mode datasets.SourceMode, shift float64) eval.AgreementSide {
	p := m.probabilities(model)
	side := m.side(sideOptions{trust, mode}, func(q *pooled) []eval.Label { return q.uncertain(p[q.id], mode) })
	side.Shift = func(eval.Measure, float64) float64 { return shift }
	return side
}

type sideOptions struct {
	trust string
	mode  datasets.SourceMode // "" where queries have no source
}

func (m *Material) side(o sideOptions, labels func(*pooled) []eval.Label) eval.AgreementSide {
	all := make([][]eval.Label, len(m.pools))
	for i := range m.pools {
		all[i] = labels(&m.pools[i])
	}
	var side eval.AgreementSide
	for v := range m.Variants {
		side.Retrievers = append(side.Retrievers, eval.Input{
			Cases: m.casesOf(v, all, o.mode), MinGrade: 1, Seed: Seed,
			Header: eval.Header{Trust: o.trust, Source: string(o.mode), Retriever: m.RefOf(v)},
		})
	}
	return side
}

// RefOf names a variant for eval.
func (m *Material) RefOf(variant int) eval.RetrieverRef {
	return eval.RetrieverRef{Spec: "builtin:" + m.Variants[variant].Name, Name: m.Variants[variant].Name}
}

// casesOf are a variant's cases. Each stands alone: that two human queries share
// the document that was drawn for them makes them no more alike.
func (m *Material) casesOf(variant int, labels [][]eval.Label, mode datasets.SourceMode) []eval.Case {
	cases := make([]eval.Case, len(m.pools))
	for i := range m.pools {
		q := &m.pools[i]
		cases[i] = eval.Case{ID: q.id, Ranking: m.rankings[variant][i], Labels: labels[i]}
		if mode != "" {
			cases[i].Background = &eval.Background{Chunks: []string{q.source}}
		}
		if mode == datasets.SourceOut {
			cases[i].Background.Exclude = []string{q.source}
		}
	}
	return cases
}

func (q *pooled) uncertain(p []judge.Probability, mode datasets.SourceMode) []eval.Label {
	var out []eval.Label
	for i, id := range q.ids {
		switch {
		case id == q.source && mode == datasets.SourceOut:
		case id == q.source && mode == datasets.SourceIn:
			out = append(out, eval.Label{ID: id, Grade: 1})
		default:
			out = append(out, eval.Label{ID: id, Uncertain: &eval.Probability{P: p[i].P, Draws: p[i].Draws}})
		}
	}
	if mode == datasets.SourceIn && !slices.Contains(q.ids, q.source) {
		out = append(out, eval.Label{ID: q.source, Grade: 1})
	}
	return out
}

// Reference holds sides against one by Metric.
func Reference(side eval.AgreementSide) (*eval.AgreementReference, error) {
	measures, err := eval.ParseMeasures(Metric)
	if err != nil {
		return nil, err
	}
	return eval.NewAgreementReference(side, measures, Seed), nil
}
