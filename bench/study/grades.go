package study

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// Graded is a line of a fixture of grades: what a model said of a query, by its
// text, and a document. bench/grades writes them, and bench/trust reads them.
type Graded struct {
	Query         string    `json:"query"`
	Document      string    `json:"document"`
	Grade         *int      `json:"grade"`                   // 0-3, null unknown
	Probabilities []float64 `json:"probabilities,omitempty"` // of the grades 0-3
	Judge         string    `json:"judge"`                   // provider/model prompt@version
}

// GradesFile names the fixture of a collection's grades.
func GradesFile(collection string) string { return "grades-" + collection + ".jsonl" }

// Pair is a query and a chunk of its pool.
type Pair struct {
	Case  *datasets.Case
	Chunk corpus.Chunk
}

// PoolOptions are goldgen's, with further chunks by case.
func PoolOptions(extra map[string][]string) judge.Options {
	return judge.Options{Pool: judge.DefaultPool(Seed), Concurrency: 2, Extra: extra}
}

// Deps are what pools of the collection are made with.
func (m *Material) Deps() judge.Deps { return judge.Deps{Members: m.Members, View: m.View} }

// Pooled are the pairs of the pools that goldgen makes for cases.
func (m *Material) Pooled(ctx context.Context, cases []datasets.Case) ([]Pair, error) {
	observed, err := judge.Observe(ctx, cases, m.Deps(), PoolOptions(nil))
	if err != nil {
		return nil, err
	}
	var out []Pair
	for i := range observed {
		for _, o := range observed[i] {
			at, ok := m.View.Position(o.Item.ChunkID)
			if !ok {
				return nil, fmt.Errorf("query %s: pooled document %s is not in the collection", cases[i].ID, o.Item.ChunkID)
			}
			out = append(out, Pair{&cases[i], *m.View.Chunk(at)})
		}
	}
	return out, nil
}

// GradedAs is the line of a pair with the grade that a judge gave.
func GradedAs(judgeName string, p Pair, g judge.Grade) Graded {
	line := Graded{Query: p.Case.Query, Document: p.Chunk.DocID, Grade: g.Grade, Judge: judgeName}
	if g.Expected != nil {
		for _, probability := range g.Probs {
			line.Probabilities = append(line.Probabilities, datasets.Round(probability))
		}
	}
	return line
}

// Judgment is the grade as a golden set has it.
func (l *Graded) Judgment(relevantGrade int) datasets.Judgment {
	j := datasets.Judgment{
		ChunkID: l.Document, DocID: l.Document, Grade: l.Grade, By: datasets.ByLLM, Judge: l.Judge, Inclusion: 1,
		Features: map[string]float64{},
	}
	if l.Grade != nil {
		j.Label, j.Features["grade"] = datasets.LabelOf(*l.Grade, relevantGrade), float64(*l.Grade)
	}
	if len(l.Probabilities) > 0 {
		expected := 0.0
		for grade, p := range l.Probabilities {
			expected += float64(float64(grade) * p)
		}
		j.Features[judge.FeatureExpected] = datasets.Round(expected)
	}
	return j
}

// Questioned are people's queries as cases.
func (m *Material) Questioned() []datasets.Case {
	cases := make([]datasets.Case, len(m.Queries))
	for i, q := range m.Queries {
		cases[i] = datasets.Case{ID: q.ID, Query: q.Text, Origin: datasets.OriginHuman, Status: datasets.Active}
	}
	return cases
}
