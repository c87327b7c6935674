package judge_test

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/judge"
)

// A case is labelled without a model: its source is relevant, what shares no
// word with the query is not, and the rest is unknown.
func ExampleRun() {
	chunks := handbook(2)
	candidates := []judge.Candidate{{Case: caseOf("1", chunks[0].ID)}}
	deps := judge.Deps{Judge: judge.NewBuiltin(), View: judge.NewView(chunks)}
	result, err := judge.Run(context.Background(), candidates, deps, judge.Options{Concurrency: 1, Pool: judge.DefaultPool(7)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Trust.Level, result.Pairs, "pairs")
	// Output: source_only 5 pairs
}
