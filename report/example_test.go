package report_test

import (
	"fmt"
	"os"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

// A result becomes a comment on a pull request; HTML, JUnit, JSON and CSV take
// the same findings.
func ExamplePullRequest() {
	mean, low, high := 0.8125, 0.7125, 0.9125
	result := &eval.Result{
		Trust: "judged", Retriever: eval.RetrieverRef{Spec: "bm25", Name: "bm25"},
		Metrics: eval.Metrics{{Name: "recall@10", Metric: eval.Metric{Mean: &mean, Low: &low, High: &high, N: 40}}},
	}
	f := &report.Findings{Results: []report.Scored{{Result: result}}}
	if err := report.PullRequest(os.Stdout, f); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ### ℹ️ No verdict: bm25
	//
	// There is no baseline to compare with, and no gate was asked for.
	//
	// | measure | mean | 95 % interval | n |
	// | --- | --: | --: | --: |
	// | recall@10 | 0.812 | 0.713 to 0.912 | 40 |
	//
	// Trust: judged: a model graded the pool and passed its canaries.
}
