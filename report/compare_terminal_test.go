package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

func f(x float64) *float64 { return &x }

// comparison is one with everything in it that a terminal shows.
func comparison() *eval.Comparison {
	worse := eval.Difference{
		Base: f(0.9), Candidate: f(0.8), Difference: f(-0.1), Low: f(-0.15), High: f(-0.05), P: f(0.00001), PHolm: f(0.0002),
		Better: 1, Worse: 7, Same: 32, SmallestDetectable: f(0.07), N: 40, Clusters: 38,
	}
	few := eval.Difference{Base: f(1), Candidate: f(0.5), Difference: f(-0.5), Worse: 1, Same: 1, N: 2, Clusters: 2, Why: "2 clusters: a test needs 10"}
	return &eval.Comparison{
		Comparable: true, Golden: &eval.GoldenRef{Ref: "handbook@v3", Digest: "sha256:" + strings.Repeat("ab", 32)}, Trust: "reviewed",
		Base: eval.RetrieverRef{Spec: "bm25", Name: "bm25"}, Candidate: eval.RetrieverRef{Spec: "mine", Name: "mine\x1b[2J"},
		Settings: []eval.Setting{{Name: "k1", Base: "1.2", Candidate: "0.9"}, {Name: "stem", Candidate: "yes"}},
		Method:   "certain labels", Judged: eval.JudgedPair{K: 10, Base: f(1), Candidate: f(0.96)},
		Cases: 40, Clusters: 38, Changed: 8, Leaks: eval.LeakPair{Candidate: 2}, Latency: eval.LatencyPair{Base: &eval.Latency{P95: 12}},
		Metrics: eval.Differences{{Name: "recall@10", Difference: worse}, {Name: "mrr", Difference: few}},
		Slices: eval.DifferenceSlices{{Name: "query_type", Slices: []eval.DifferenceSlice{
			{Value: "keyword", N: 2, Metrics: eval.Differences{{Name: "recall@10", Difference: few}}},
		}}},
		Gates: []eval.GateResult{
			{Gate: "recall@10 drop <= 0.02", Verdict: eval.Fail, Why: "worse than the margin"},
			{Gate: "leaks = 0", Verdict: eval.Fail, Why: "2 leaks", Waived: &eval.Waiver{Gate: "leaks = 0", Reason: "rewritten", Owner: "ada", Until: "2027-01-31"}},
		},
		Verdict: eval.Fail, Notes: []string{"one setting at a time"},
		PerCase: []eval.CaseDifference{{CaseID: "q1", Base: eval.Values{{Name: "mrr", Value: 1}, {Name: "recall@10", Value: 1}}, Candidate: eval.Values{{Name: "mrr", Value: 0.5}, {Name: "recall@10", Value: 1}}}},
	}
}

func TestCompareTerminal(t *testing.T) {
	different := comparison()
	different.Comparable, different.Differs, different.Gates, different.Verdict = false, []string{"k: [1] and [5]", "3 cases only in the base: a, b, c"}, nil, eval.CannotTell
	for name, tt := range map[string]struct {
		c    *eval.Comparison
		want string
	}{
		"all of it": {comparison(), `verdict	fail

gate	slice	verdict	why
recall@10 drop <= 0.02		FAIL	worse than the margin
leaks = 0		waived (FAIL)	2 leaks; waived until 2027-01-31 by ada (rewritten)

base	bm25
candidate	mine\x1b[2J (mine)
setting	k1: 1.2, then 0.9
setting	stem: (none), then yes
golden set	handbook@v3 (sha256:abababababab)
trust	reviewed: people's judgments
cases	40 in 38 clusters; 8 of 40 cases changed
judged	@10: base 1.0000, candidate 0.9600
leaks	base 0, candidate 2
latency	p95: base 12.00 ms, candidate unknown
method	certain labels

metric	base	candidate	difference	95 % interval	p	p_holm	better/worse/same	detectable	n	note
recall@10	0.9000	0.8000	-0.1000	[-0.1500, -0.0500]	<0.0001	0.0002	1/7/32	0.0700	40	
mrr	1.0000	0.5000	-0.5000	-	-	-	0/1/1	-	2	2 clusters: a test needs 10

by query_type
query_type	metric	base	candidate	difference	95 % interval	p	p_holm	better/worse/same	detectable	n	note
keyword	recall@10	1.0000	0.5000	-0.5000	-	-	-	0/1/1	-	2	2 clusters: a test needs 10

cases that changed
case	metric	base	candidate
q1	mrr	1.0000	0.5000
note: one setting at a time
`},
		"not comparable": {different, `verdict	not comparable
differs	k: [1] and [5]
differs	3 cases only in the base: a, b, c
base	bm25
candidate	mine\x1b[2J (mine)
setting	k1: 1.2, then 0.9
setting	stem: (none), then yes
golden set	handbook@v3 (sha256:abababababab)
trust	reviewed: people's judgments
note: one setting at a time
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := report.CompareTerminal(&out, tt.c, report.Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareTerminalWhereNoCaseChanged(t *testing.T) {
	c := comparison()
	same := eval.Difference{Base: f(0.9), Candidate: f(0.9), Difference: f(0), Low: f(0), High: f(0), P: f(1), PHolm: f(1), Same: 40, N: 40, Clusters: 38, Why: "0 of 40 cases changed"}
	few := eval.Difference{Base: f(1), Candidate: f(1), Difference: f(0), Same: 2, N: 2, Clusters: 2, Why: "2 clusters: a test needs 10"}
	c.Changed, c.Metrics = 0, eval.Differences{{Name: "recall@10", Difference: same}, {Name: "mrr", Difference: few}}
	var out strings.Builder
	if err := report.CompareTerminal(&out, c, report.Style{}); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(out.String(), "cases\t")
	want := `40 in 38 clusters; no case changed
judged	@10: base 1.0000, candidate 0.9600
leaks	base 0, candidate 2
latency	p95: base 12.00 ms, candidate unknown
method	certain labels

metric	both	n	note
recall@10	0.9000	40	
mrr	1.0000	2	2 clusters: a test needs 10
note: one setting at a time
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTrend(t *testing.T) {
	lines := []report.TrendLine{{Name: "bm25 over handbook", Values: []float64{0.5, 0.7, 0.6}}, {Name: "alone", Values: []float64{0.5}}}
	for name, tt := range map[string]struct {
		style report.Style
		want  string
	}{
		"a pipe": {report.Style{}, ""},
		"a terminal": {report.Style{Terminal: true, Width: 80}, `
ndcg@10 of bm25 over handbook: 3 results, lowest 0.5000, highest 0.7000, last 0.6000
 0.700 ┤╭╮
 0.667 ┤││
 0.633 ┤││
 0.600 ┤│╰
 0.567 ┤│
 0.533 ┤│
 0.500 ┼╯
`},
		"too narrow for all": {report.Style{Terminal: true, Width: 14}, `
ndcg@10 of bm25 over handbook: 3 results, lowest 0.5000, highest 0.7000, last 0.6000
 0.700 ┼╮
 0.683 ┤│
 0.667 ┤│
 0.650 ┤│
 0.633 ┤│
 0.617 ┤│
 0.600 ┤╰
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := report.Trend(&out, "ndcg@10", lines, tt.style); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
