package eval_test

import (
	"fmt"

	"github.com/goldgen/goldgen/eval"
)

// Twelve queries whose answer the base finds first, and the candidate second.
func ExampleCompare() {
	measures, _ := eval.ParseMeasures("mrr")
	base := eval.Input{MinGrade: 1, Measures: measures}
	candidate := base
	for i := range 12 {
		c := eval.Case{ID: fmt.Sprint("q", i), Labels: []eval.Label{{ID: "a", Grade: 1}, {ID: "x"}}}
		c.Ranking = []string{"a", "x"}
		base.Cases = append(base.Cases, c)
		c.Ranking = []string{"x", "a"}
		candidate.Cases = append(candidate.Cases, c)
	}
	gate, _ := eval.ParseGate("mrr drop <= 0.1")
	comparison, err := eval.Compare(eval.CompareInput{
		Base: base, Candidate: candidate, GateOptions: eval.GateOptions{Gates: []eval.Gate{gate}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mrr, _ := comparison.Metrics.Get("mrr")
	fmt.Printf("%+.2f, p %.5f, %d of %d worse\n", *mrr.Difference, *mrr.P, mrr.Worse, mrr.N)
	fmt.Println(comparison.Verdict)
	// Output:
	// -0.50, p 0.00049, 12 of 12 worse
	// fail
}
