package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

func diagnosis() *eval.Diagnosis {
	asOf := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	worst := eval.CaseDiagnosis{
		CaseID: "c1", Query: "how long?\x1b[31m", Cause: eval.CauseBelowK, Why: "at rank 5",
		Also: []eval.Finding{{Cause: eval.CauseUnjudged, Why: "1 of the top 4"}}, Rank: 5,
		Scope: corpus.Scope{"team": {"hr"}}, Filters: []corpus.Filter{{Field: "lang", Op: "eq", Values: []string{"en"}}}, AsOf: &asOf,
		Evidence: []eval.Quote{{Doc: "hr.md", Start: 3, End: 15, Text: "ninety\n  days"}}, Relevant: []string{"hr.md#0"},
		Above: []eval.Stood{
			{Rank: 1, Chunk: "a", Mark: "unjudged", Text: "first"}, {Rank: 2, Chunk: "b", Mark: "not_relevant", Text: "second"},
			{Rank: 3, Chunk: "x", Mark: "not_in_snapshot"}, {Rank: 4, Chunk: "c", Mark: "stale", Text: "fourth"},
		},
		Tokens: 40,
	}
	nothing := eval.CaseDiagnosis{CaseID: "c2", Query: "who?", Cause: eval.CauseNotFound, Why: "not among 0 hits", Relevant: []string{"p#1"}}
	return &eval.Diagnosis{
		K: 4, Depth: 100, Looked: 9, Failed: 3, Partly: 1,
		Causes: map[eval.Cause]int{eval.CauseBelowK: 2, eval.CauseNotFound: 1},
		Slices: map[string]map[string]eval.FailureSlice{"query_type": {
			"keyword": {Cases: 4}, "factual": {Cases: 5, Failed: 3, Causes: map[eval.Cause]int{eval.CauseBelowK: 2, eval.CauseNotFound: 1}},
		}},
		Worst:  []eval.CaseDiagnosis{worst, nothing},
		Tokens: &eval.TokensBefore{N: 6, Mean: 12.4, P50: 9, P95: 40, Max: 41, Unknown: 2}, Exact: &eval.ExactRecall{N: 9, K: 4, Recall: 0.975},
		Labelling: eval.Labelling{Path: "results/r1/labelling.jsonl", Pairs: 7}, Hints: []string{"try this"}, Notes: []string{"know that"},
	}
}

func TestDiagnosisTerminal(t *testing.T) {
	const want = `
diagnosis: 3 of 9 cases failed at k 4, 1 found only some of what is relevant (looked down to rank 100)
cause	cases	share
found below k	2	67 %
no provable cause	1	33 %

failed by query_type
query_type	cases	failed	found below k	no provable cause
factual	5	3	2	1
keyword	4	0	0	0

worst cases

c1 found below k: at rank 5
also	unjudged above: 1 of the top 4
query	how long?\x1b[31m
asked as	team=hr, lang eq en, as of 2026-05-01T00:00:00Z
evidence	hr.md [3,15) ninety days
relevant	hr.md#0
instead	1. a (unjudged) first
instead	2. b (not relevant) second
instead	3. x (not in snapshot)
and	1 more, 40 tokens in all

c2 no provable cause: not among 0 hits
query	who?
relevant	p#1
instead	nothing was returned

tokens	12 before the evidence on average, half at most 9, 95 % at most 40, over 6 cases with something relevant in the top 4 (2 more with chunks that are not in the snapshot)
index	returns 97.5 % of the exact search's top 4, over 9 cases
to label	7 unjudged results of failed cases in results/r1/labelling.jsonl
note: know that
hint: try this
`
	var out strings.Builder
	if err := report.DiagnosisTerminal(&out, diagnosis(), report.Style{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, trimLines(out.String())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCaseDiagnosisTerminal(t *testing.T) {
	const want = `
c1 found below k: at rank 5
also         unjudged above: 1 of the top 4
query        how long?\x1b[31m
asked as     team=hr, lang eq en, as of 2026-05-01T00:00:00Z
evidence     hr.md [3,15) ninety days
relevant     hr.md#0
instead      1. a (unjudged) first
instead      2. b (not relevant) second
instead      3. x (not in snapshot)
instead      4. c (stale) fourth
tokens       40 in the top 4
`
	var out strings.Builder
	if err := report.CaseDiagnosisTerminal(&out, &diagnosis().Worst[0], report.Style{Terminal: true, Width: 80}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, trimLines(out.String())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDiagnosisTerminalWithoutFailures(t *testing.T) {
	const want = `
diagnosis: 0 of 1 case failed at k 10 (looked down to rank 100)

`
	var out strings.Builder
	if err := report.DiagnosisTerminal(&out, &eval.Diagnosis{K: 10, Depth: 100, Looked: 1}, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
