package eval_test

import (
	"fmt"

	"github.com/goldgen/goldgen/eval"
)

// A ranking is scored from its ids and its labels alone.
func ExampleEvaluate() {
	measures, _ := eval.ParseMeasures("recall@5,ndcg@5")
	result, err := eval.Evaluate(eval.Input{
		MinGrade: 1,
		Measures: measures,
		Cases: []eval.Case{{
			ID:      "q1",
			Ranking: []string{"x", "a", "y", "b", "z"},
			Labels:  []eval.Label{{ID: "a", Grade: 3}, {ID: "b", Grade: 1}},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range result.Metrics {
		fmt.Printf("%s %.4f of %d\n", m.Name, *m.Mean, m.N)
	}
	// Output:
	// recall@5 1.0000 of 1
	// ndcg@5 0.6399 of 1
}
