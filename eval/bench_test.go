package eval_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goldgen/goldgen/eval"
)

// generated makes n queries with k results each and five labels, in documents
// of two queries. With draws every label but one in five is a probability.
func generated(n, k int, draws bool) eval.Input {
	random := rand.New(rand.NewPCG(1, 2))
	cases := make([]eval.Case, n)
	for i := range cases {
		c := &cases[i]
		c.ID = fmt.Sprintf("q%06d", i)
		c.Background = &eval.Background{Query: "a query", Documents: []string{fmt.Sprintf("doc%05d", i/2)}}
		for _, j := range random.Perm(k * 2)[:k] {
			c.Ranking = append(c.Ranking, fmt.Sprintf("doc%05d#%d", i/2, j))
			c.Scores = append(c.Scores, float64(k-len(c.Scores)))
		}
		for j := range 5 {
			l := eval.Label{ID: fmt.Sprintf("doc%05d#%d", i/2, j*2), Grade: random.IntN(4)}
			if draws && j > 0 {
				l.Uncertain = &eval.Probability{P: random.Float64()}
			}
			c.Labels = append(c.Labels, l)
		}
	}
	return eval.Input{
		Cases: cases, MinGrade: 2, Seed: 7,
		Measures:   must(eval.ParseMeasures("recall@1,recall@5,recall@10,precision@5,precision@10,ndcg@5,ndcg@10,mrr,map,success@5")),
		Dimensions: generatedDimensions(n),
	}
}

func generatedDimensions(n int) []eval.Dimension {
	var out []eval.Dimension
	for d, values := range []int{2, 3, 5, 10, 20, 50} {
		out = append(out, eval.NewDimension(fmt.Sprintf("by%d", d), n, func(i int) []string {
			return []string{fmt.Sprintf("v%d", i*7919%values)}
		}))
	}
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func BenchmarkEvaluate(b *testing.B) {
	for _, size := range []struct {
		queries int
		draws   bool
	}{{10_000, false}, {100_000, false}, {100_000, true}} {
		in := generated(size.queries, 10, size.draws)
		b.Run(fmt.Sprintf("rows=%d/draws=%v", size.queries*10, size.draws), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := eval.Evaluate(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
