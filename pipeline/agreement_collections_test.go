package pipeline_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/retrieve"
)

// People's queries of a collection in two halves: each must order the ready-made
// retrievers as the other does. What halves reach is also the ceiling that the
// command prints.
func TestHalvesOfPeoplesQueriesAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("builds 24 retrievers over each of two collections")
	}
	for _, name := range []string{"cacm", "cranfield"} {
		t.Run(name, func(t *testing.T) {
			c, err := collections.Load("../../shared/data", name)
			if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
				t.Skipf("shared test data is not there: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			a := agreeOnHalves(t, c)
			t.Logf("right %.3f of %d, reversed %.4f, power %.2f, tau %.2f [%.2f, %.2f]; ceiling: right %.3f, reversed %.4f, tau %.2f; placebo: right %.2f, tau %.2f",
				*a.Right.Value, a.Right.Pairs, *a.Reversed.Value, *a.Power.Value, *a.Tau.Value, *a.Tau.Low, *a.Tau.High,
				*a.Ceiling.Right.Value, *a.Ceiling.Reversed.Value, *a.Ceiling.Tau.Value, *a.Placebo.Right.Value, *a.Placebo.Tau.Value)
			if *a.Right.Value < 0.9 || *a.Reversed.Value > 0.01 || *a.Tau.Value < 0.5 || *a.Ceiling.Right.Value < 0.9 {
				t.Errorf("halves disagree: %+v", a.AgreementFigures)
			}
			if *a.Placebo.Right.Value >= *a.Right.Value || *a.Placebo.Tau.Value >= *a.Tau.Value {
				t.Errorf("the placebo is as good: %+v", a.Placebo)
			}
		})
	}
}

// agreeOnHalves ranks every second query, in a random order, for either side.
func agreeOnHalves(t *testing.T, c collections.Collection) *eval.Agreement {
	t.Helper()
	measures, err := eval.ParseMeasures("ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	chunks := func(yield func(corpus.Chunk, error) bool) {
		for _, d := range c.Documents {
			if !yield(corpus.Chunk{ID: d.ID, DocID: d.ID, Text: d.Text, Unit: corpus.UnitDocument}, nil) {
				return
			}
		}
	}
	variants, err := retrieve.Variants(t.Context(), retrieve.Deps{Chunks: chunks}, retrieve.VariantCount)
	if err != nil {
		t.Fatal(err)
	}
	order := seeded.Rand(1, "halves", c.Name).Perm(len(c.Queries))
	a, err := eval.Agree(eval.AgreementInput{
		Measures: measures, Reference: half(t, c, variants, order[:len(order)/2]), Tested: half(t, c, variants, order[len(order)/2:]),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// half asks all retrievers some of the queries. What they return is judged: not
// relevant unless people said so.
func half(t *testing.T, c collections.Collection, variants []retrieve.Variant, queries []int) (side eval.AgreementSide) {
	t.Helper()
	labels := make([][]eval.Label, len(queries))
	known := make([]map[string]bool, len(queries))
	for _, v := range variants {
		in := eval.Input{MinGrade: 1, Header: eval.Header{Trust: "reviewed", Retriever: eval.RetrieverRef{Spec: v.Name, Name: v.Name}}}
		for n, i := range queries {
			q := c.Queries[i]
			found, err := v.Retriever.Retrieve(t.Context(), retrieve.Query{ID: q.ID, Text: q.Text, K: 10})
			if err != nil {
				t.Fatal(err)
			}
			if known[n] == nil {
				known[n] = map[string]bool{}
				for id, grade := range c.Qrels[q.ID] {
					known[n][id] = true
					labels[n] = append(labels[n], eval.Label{ID: id, Grade: grade})
				}
			}
			one := eval.Case{ID: q.ID}
			for _, hit := range found.Hits {
				one.Ranking = append(one.Ranking, hit.ChunkID)
				if !known[n][hit.ChunkID] {
					known[n][hit.ChunkID] = true
					labels[n] = append(labels[n], eval.Label{ID: hit.ChunkID})
				}
			}
			in.Cases = append(in.Cases, one)
		}
		side.Retrievers = append(side.Retrievers, in)
	}
	for _, in := range side.Retrievers {
		for n := range in.Cases {
			in.Cases[n].Labels = labels[n]
		}
	}
	return side
}
