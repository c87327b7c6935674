package main

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goldgen/goldgen/llm"
)

// fakejudge KIND: starts a fake server as fakeollama does, whose model writes as
// actor and grades in a way of its own: in prose without a grade, with several that
// differ, with the passage itself, with nothing, or with a grade and no
// log-probabilities.
func fakeJudge(ts *testscript.TestScript, _ bool, args []string) {
	says, ok := judges()[strings.Join(args, " ")]
	if !ok {
		ts.Fatalf("fakejudge %q: want one of prose, several, passage, nothing, plain", args)
	}
	serveModel(ts, func(req llm.Request) llm.Reply {
		last := req.Messages[len(req.Messages)-1].Content
		query, passage := tagged(last, "query"), tagged(last, "passage")
		asked := strings.HasSuffix(strings.TrimSpace(last), "Grade:") || len(req.Schema) > 0 // of a model without log-probabilities
		if query == "" || passage == "" || !asked {
			return actor(req)
		}
		return llm.Reply{Text: says(query, passage)}
	})
}

// judges are ways to answer a pair, without log-probabilities.
func judges() map[string]func(query, passage string) string {
	return map[string]func(query, passage string) string{
		"prose":   func(string, string) string { return "The passage is about 3 related subjects and helps somewhat." },
		"several": func(string, string) string { return "Score: 3. Or score: 1, if one is strict." },
		"passage": func(_, passage string) string { return passage },
		"nothing": func(string, string) string { return "" },
		"plain": func(query, passage string) string {
			best, shares := 0, gradeOf(query, passage)
			for grade, share := range shares {
				if share > shares[best] {
					best = grade
				}
			}
			return fmt.Sprint(best)
		},
	}
}
