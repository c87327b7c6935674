package judge_test

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/judge"
)

// An answer is judged claim by claim; here by shared words, without a model.
func ExampleRunAnswers() {
	answer := judge.Answer{
		CaseID: "a1", Query: "when does the studio open", Text: "The studio opens at nine [1]. Coffee is free.",
		Contexts: []judge.Passage{{ChunkID: "hours.md#0", Text: "The studio opens at nine on weekdays."}},
	}
	report, err := judge.RunAnswers(context.Background(), []judge.Answer{answer}, judge.NewLexical(), judge.AnswerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, claim := range report.Answers[0].Claims {
		fmt.Println(claim.Text, *claim.Support.Value, claim.Citations)
	}
	// Output:
	// The studio opens at nine. 1 [0]
	// Coffee is free. 0 []
}
