package eval_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

// twoChunkings is 20 cases of documents of their own: the base ranks chunks that
// were placed as well, the first of which covers the evidence, the candidate
// spans of which the first half does.
func twoChunkings() eval.CompareInput {
	base, candidate := input("span_recall@1,recall@1"), input("span_recall@1")
	for i := range 20 {
		doc := fmt.Sprintf("d%02d", i)
		place := func(start, end int) eval.Span {
			return eval.Span{Doc: doc, Start: start * 4, End: end * 4, Token: start, EndToken: end}
		}
		about := &eval.Background{Documents: []string{doc}, Evidence: []eval.Span{place(10, 20)}}
		labels := []eval.Label{{ID: doc + "#0", Grade: 3}}
		to := 20
		if i >= 10 {
			to = 15
		}
		base.Cases = append(base.Cases, eval.Case{ID: doc, Background: about, Labels: labels,
			Ranking: []string{doc + "#0"}, Scores: []float64{1}, Spans: []eval.Span{place(0, 30)}})
		candidate.Cases = append(candidate.Cases, eval.Case{ID: doc, Background: about, Labels: labels,
			Ranking: []string{doc + "[40,60)"}, Scores: []float64{1}, Spans: []eval.Span{place(10, to)}})
	}
	header := eval.Header{Golden: &eval.GoldenRef{Ref: "handbook@v3"}, Trust: "reviewed", K: []int{1}, Corpus: "c", SpanUnit: eval.SpanTokens}
	base.Header, candidate.Header = header, header
	candidate.Unit = eval.UnitSpans
	return eval.CompareInput{Base: base, Candidate: candidate, Seed: 1}
}

func TestTwoChunkingsAreComparedBySpans(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		in, want := twoChunkings(), -0.25
		in.Gates = gates(t, "span_recall@1 drop <= 0.02")
		verdict := eval.Fail
		if swapped {
			in.Base, in.Candidate = in.Candidate, in.Base
			want, verdict = 0.25, eval.Pass
		}
		c := compare(t, in)
		if diff := cmp.Diff([]string{}, c.Differs); diff != "" || !c.Comparable {
			t.Fatalf("swapped %v: %s", swapped, diff)
		}
		if len(c.Metrics) != 1 || c.Metrics[0].Name != "span_recall@1" || *c.Metrics[0].Difference.Difference != want || c.Verdict != verdict {
			t.Errorf("swapped %v: verdict %s, differences %+v", swapped, c.Verdict, c.Metrics)
		}
	}
}

// A chunk that leaked is a leak however its ranking is scored.
func TestALeakingChunkAgainstSpans(t *testing.T) {
	in := twoChunkings()
	in.Base, in.Candidate = in.Candidate, in.Base
	in.Candidate.Restricted = func(c *eval.Case, id string) bool { return id == "d03#0" }
	in.Candidate.ChunksIn = func(c *eval.Case, n int) []eval.PlacedChunk {
		return []eval.PlacedChunk{{ID: c.Ranking[n], Start: c.Spans[n].Start, End: c.Spans[n].End}}
	}
	if c := compare(t, in); c.Leaks.Candidate != 1 || c.Verdict != eval.Fail {
		t.Errorf("%d leaks, verdict %s", c.Leaks.Candidate, c.Verdict)
	}
}

func TestChunksThatWereNotPlacedAgainstSpans(t *testing.T) {
	in := twoChunkings()
	in.Base.SpanUnit = ""
	for i := range in.Base.Cases {
		about := *in.Base.Cases[i].Background
		about.Evidence = []eval.Span{{Doc: about.Evidence[0].Doc, Start: 40, End: 80}}
		in.Base.Cases[i].Background, in.Base.Cases[i].Spans = &about, nil
	}
	want := []string{"unit: one side ranks spans, and the base was not scored by spans: eval it with -m span_recall@k, span_precision@k or span_iou@k"}
	if diff := cmp.Diff(want, compare(t, in).Differs); diff != "" {
		t.Error(diff)
	}
}
