package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

// made is when the results of the tests were made.
var made = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// scoredCases makes n cases with rankings of ten chunks, and a result whose
// figures have the shape of real ones. skill moves relevant chunks up.
func scoredCases(n int, name string, skill float64) report.Scored {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	types, areas := []string{"factual", "keyword", "reformulated"}, []string{"billing", "leave and absence", "it-security", "travel"}
	s := report.Scored{Path: "results/" + name, Made: made}
	for i := range n {
		c := oneCase(rng, i, skill)
		c.Slices = []eval.SliceValue{{Name: "query_type", Value: types[i%3]}, {Name: "category", Value: areas[rng.IntN(4)]}}
		s.Cases = append(s.Cases, c)
	}
	s.Result = &eval.Result{
		Golden:    &eval.GoldenRef{Name: "handbook", Version: 3, Ref: "handbook@v3", Digest: "sha256:0123456789abcdef0123"},
		Trust:     "judged",
		Retriever: eval.RetrieverRef{Spec: name, Name: name},
		Conventions: eval.Conventions{
			MinGrade: 2, Source: "in", K: []int{1, 5, 10}, Labels: "certain",
			Cluster: "cases that share a source document", Clusters: n / 2, Interval: "95 % t over clusters",
		},
		Metrics: metricsAt(skill, n),
		Latency: &eval.Latency{P50: 4.1, P95: 19.5, P99: 48, N: n},
		Counts:  eval.Counts{Cases: n, Scored: n, Results: 10 * n, Judged: 9 * n, Unjudged: n},
		Notes:   []string{"only 12 source documents"},
	}
	s.Result.Slices = eval.Slices{{Name: "query_type"}, {Name: "category"}}
	for i, v := range types {
		s.Result.Slices[0].Slices = append(s.Result.Slices[0].Slices, eval.Slice{Value: v, N: n / 3, Metrics: metricsAt(skill-0.07*float64(i), n/3)})
	}
	for i, v := range areas {
		s.Result.Slices[1].Slices = append(s.Result.Slices[1].Slices, eval.Slice{Value: v, N: n / 4, Metrics: metricsAt(skill-0.05*float64(3-i), n/4)})
	}
	return s
}

func oneCase(rng *rand.Rand, i int, skill float64) report.Case {
	at := int(rng.ExpFloat64() / skill)
	row := eval.CaseRow{
		CaseID: fmt.Sprintf("c%05d", i), Query: fmt.Sprintf("how many days of notice does rule %d ask for before a %s?", i, []string{"move", "refund", "transfer"}[i%3]),
		Status: "scored", TookMS: 2 * math.Exp(rng.NormFloat64()*0.9+0.7),
	}
	for rank := range 10 {
		score, grade := 20-1.7*float64(rank)-rng.Float64(), rng.IntN(2)
		if rank == at {
			grade = 3
		}
		row.Ranking = append(row.Ranking, eval.RankedHit{ID: fmt.Sprintf("policies/chapter-%02d.md#%d", rng.IntN(40), rng.IntN(30)), Rank: rank + 1, Score: &score, Grade: grade})
	}
	recall, gain := 0.0, 0.0
	if at < 10 {
		recall, gain = 1, 1/math.Log2(float64(at)+2)
	}
	row.Metrics = eval.Values{{Name: "recall@10", Value: recall}, {Name: "ndcg@10", Value: gain}}
	return report.Case{
		CaseRow:  row,
		Scope:    corpus.Scope{"team": {"people"}},
		Evidence: []report.Evidence{{Doc: "policies/chapter-07.md", Start: 1204, End: 1288, Quote: "Rule 7 asks for ten days of notice, in writing, before a move."}},
		Labels:   []eval.Label{{ID: "policies/chapter-07.md#2", Grade: 3}},
	}
}

func metricsAt(mean float64, n int) eval.Metrics {
	var out eval.Metrics
	half := 0.9 / math.Sqrt(float64(n))
	for _, m := range []struct {
		name  string
		share float64
	}{{"recall@1", 0.7}, {"recall@5", 0.92}, {"recall@10", 1}, {"ndcg@5", 0.8}, {"ndcg@10", 0.86}, {"mrr@10", 0.8}} {
		v := min(1, mean*m.share)
		out = append(out, eval.NamedMetric{Name: m.name, Metric: eval.Metric{Mean: p(v), N: n, Low: p(max(0, v-half)), High: p(min(1, v+half))}})
	}
	return out
}

// compared is a comparison with every part filled and a gate of each verdict.
func compared(s *report.Scored) *eval.Comparison {
	c := &eval.Comparison{
		Comparable: true, Golden: s.Result.Golden, Trust: s.Result.Trust,
		Base: eval.RetrieverRef{Spec: "bm25", Name: "bm25"}, Candidate: s.Result.Retriever,
		Settings: []eval.Setting{{Name: "k1", Base: "0.9", Candidate: "1.2"}, {Name: "stop words", Base: "33", Candidate: "none"}},
		Method:   "percentile bootstrap over clusters (10,000), sign-flip permutation (100,000 draws)",
		Judged:   eval.JudgedPair{K: 10, Base: p(0.97), Candidate: p(0.96)},
		Cases:    len(s.Cases), Clusters: len(s.Cases) / 2, Changed: len(s.Cases) / 5,
		Latency: eval.LatencyPair{Base: &eval.Latency{P50: 3.8, P95: 17, P99: 40, N: len(s.Cases)}, Candidate: s.Result.Latency},
		Verdict: eval.Fail,
		Notes:   []string{"the retrievers differ in 2 settings: change one at a time to know which one counts"},
		Gates: []eval.GateResult{
			{Gate: "recall@10 drop <= 0.02 by query_type", Slice: "query_type=factual", Verdict: eval.Pass, Why: "difference +0.021, non-inferior at 0.05 (p 0.004)"},
			{Gate: "recall@10 drop <= 0.02 by query_type", Slice: "query_type=keyword", Verdict: eval.CannotTell, Why: "difference −0.012 [−0.051, 0.028]: neither harm (p 0.61) nor non-inferior (p 0.33)"},
			{Gate: "recall@10 drop <= 0.02 by query_type", Slice: "query_type=reformulated", Verdict: eval.Fail, Why: "difference −0.094 [−0.140, −0.048], harm beyond 0.02 (p 0.0004, Holm 0.002)"},
			{Gate: "p95 <= 15ms", Verdict: eval.Fail, Why: "19.5 ms", Waived: &eval.Waiver{Gate: "p95 <= 15ms", Reason: "new disks come in January", Owner: "search team", Until: "2027-01-31"}},
			{Gate: "leaks = 0", Verdict: eval.Pass, Why: "0 leaks"},
		},
	}
	c.Metrics = differencesOf(s.Result.Metrics, -0.012, 0.006, 0.021)
	for _, by := range s.Result.Slices {
		out := eval.DifferenceSliceBy{Name: by.Name}
		for i, slice := range by.Slices {
			metrics := differencesOf(slice.Metrics, 0.045*float64(i)-0.03, 0, 0.04)
			out.Slices = append(out.Slices, eval.DifferenceSlice{Value: slice.Value, N: slice.N, Metrics: metrics})
		}
		c.Slices = append(c.Slices, out)
	}
	for i, x := range s.Cases {
		if i%5 == 0 {
			c.PerCase = append(c.PerCase, eval.CaseDifference{CaseID: x.CaseID, Base: eval.Values{{Name: "recall@10", Value: 1}, {Name: "ndcg@10", Value: 0.5}}, Candidate: x.Metrics})
		}
	}
	return c
}

// differencesOf puts the baseline below the means: by first for the first
// measure, by step more for each following one.
func differencesOf(metrics eval.Metrics, first, step, half float64) eval.Differences {
	var out eval.Differences
	for i, m := range metrics {
		d := -first - step*float64(i)
		out = append(out, eval.NamedDifference{Name: m.Name, Difference: eval.Difference{
			Base: p(*m.Mean - d), Candidate: m.Mean, Difference: p(d), Low: p(d - half), High: p(d + half), P: p(0.2), PHolm: p(0.4),
			Better: 12, Worse: 7, Same: m.N - 19, SmallestDetectable: p(0.03), N: m.N, Clusters: m.N / 2,
		}})
	}
	return out
}

// whole is findings with every part filled.
func whole(n int) *report.Findings {
	s := scoredCases(n, "hybrid", 0.83)
	s.Result.Leaks = []eval.Leak{{Case: "c00003", Query: s.Cases[3].Query, Scope: corpus.Scope{"team": {"people"}}, Chunk: "payroll/2026.md#4", Rank: 2, Kind: "scope"}}
	s.Cases[3].Leaks = s.Result.Leaks
	s.Cases[3].Ranking[1].ID = "payroll/2026.md#4"
	for i := range s.Cases[5].Ranking {
		s.Cases[5].Ranking[i].Grade, s.Cases[5].Ranking[i].P = eval.Unlabelled, p(0.9/float64(i+1))
	}
	s.Result.Failed = []eval.Failure{{Case: "c00004", Error: "dial tcp 127.0.0.1:6334: connection refused"}}
	s.Cases[4].Error, s.Cases[4].Ranking, s.Cases[4].Status = s.Result.Failed[0].Error, nil, "failed"
	s.Result.Abstention = &eval.Abstention{Cases: 5, Answerable: n, AnswerRate: p(1), FalseAnswer: p(0.8), AUROC: p(0.71)}
	f := &report.Findings{Results: []report.Scored{s}, Comparison: compared(&s), Goldgen: "0.1.0"}
	base := scoredCases(9, "bm25", 0.8)
	f.Baseline = base.Result
	for i := range 9 {
		f.History = append(f.History, report.Past{
			Time: made.AddDate(0, 0, 7*(i-9)), Golden: "handbook@v3", Retriever: []string{"bm25", "hybrid"}[i%2], Metrics: metricsAt(0.72+0.012*float64(i), n), Path: fmt.Sprintf("results/%d", i),
		})
	}
	return f
}

// several is findings of three retrievers without a baseline.
func several(n int) *report.Findings {
	return &report.Findings{Results: []report.Scored{scoredCases(n, "bm25", 0.74), scoredCases(n, "dense", 0.81), scoredCases(n, "hybrid", 0.86)}}
}
