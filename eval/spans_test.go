package eval_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// span is doc "d" from start to end.
func span(start, end int) eval.Span { return eval.Span{Doc: "d", Start: start, End: end} }

// bySpan makes the input of one case whose results are spans.
func bySpan(measures string, evidence, results []eval.Span) eval.Input {
	c := eval.Case{ID: "q", Background: &eval.Background{Evidence: evidence}, Spans: results}
	for _, s := range results {
		c.Ranking = append(c.Ranking, fmt.Sprintf("%s[%d,%d)", s.Doc, s.Start, s.End))
		c.Scores = append(c.Scores, float64(100-len(c.Scores)))
	}
	in := input(measures, c)
	in.Unit = eval.UnitSpans
	return in
}

func means(t testing.TB, in eval.Input) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, m := range evaluate(t, in).Metrics {
		if m.Mean != nil {
			out[m.Name] = *m.Mean
		}
	}
	return out
}

func TestSpans(t *testing.T) {
	chunk := func(n int) eval.Span { return span(n*200, (n+1)*200) }
	for _, test := range []struct {
		name              string
		evidence, results []eval.Span
		want              map[string]float64
	}{
		{"overlapping results are counted once", []eval.Span{span(100, 200)}, []eval.Span{span(50, 150), span(100, 200)},
			map[string]float64{"span_recall@1": 0.5, "span_precision@1": 0.5, "span_iou@1": 50.0 / 150, "span_recall": 1, "span_precision": 100.0 / 150, "span_iou": 100.0 / 150}},
		{"touching is not overlapping", []eval.Span{span(100, 200)}, []eval.Span{span(0, 100), span(200, 300)},
			map[string]float64{"span_recall@1": 0, "span_precision@1": 0, "span_iou@1": 0, "span_recall": 0, "span_precision": 0, "span_iou": 0}},
		{"evidence over five chunks", []eval.Span{span(0, 1000)}, []eval.Span{chunk(0), chunk(4), chunk(2), chunk(1), chunk(3), chunk(5)},
			map[string]float64{"span_recall@1": 0.2, "span_precision@1": 1, "span_iou@1": 0.2, "span_recall": 1, "span_precision": 1000.0 / 1200, "span_iou": 1000.0 / 1200}},
		{"two pieces of evidence", []eval.Span{span(500, 520), span(10, 40)}, []eval.Span{span(0, 40), span(510, 600)},
			map[string]float64{"span_recall@1": 0.6, "span_precision@1": 0.75, "span_iou@1": 0.5, "span_recall": 0.8, "span_precision": 40.0 / 130, "span_iou": 40.0 / 140}},
		{"evidence that overlaps itself", []eval.Span{span(0, 60), span(40, 100)}, []eval.Span{span(0, 100)},
			map[string]float64{"span_recall@1": 1, "span_precision@1": 1, "span_iou@1": 1, "span_recall": 1, "span_precision": 1, "span_iou": 1}},
		{"another document", []eval.Span{span(0, 100)}, []eval.Span{{Doc: "e", Start: 0, End: 100}},
			map[string]float64{"span_recall@1": 0, "span_precision@1": 0, "span_iou@1": 0, "span_recall": 0, "span_precision": 0, "span_iou": 0}},
		{"the same span again", []eval.Span{span(0, 100)}, []eval.Span{span(0, 50), span(0, 50), span(50, 100)},
			map[string]float64{"span_recall@1": 0.5, "span_precision@1": 1, "span_iou@1": 0.5, "span_recall": 1, "span_precision": 1, "span_iou": 1}},
		{"no result", []eval.Span{span(0, 100)}, nil,
			map[string]float64{"span_recall@1": 0, "span_precision@1": 0, "span_iou@1": 0, "span_recall": 0, "span_precision": 0, "span_iou": 0}},
		{"no evidence", nil, []eval.Span{span(0, 100)}, map[string]float64{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := bySpan("span_recall@1,span_precision@1,span_iou@1,span_recall,span_precision,span_iou", test.evidence, test.results)
			if diff := cmp.Diff(test.want, means(t, in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Tokens of 10 bytes each, of which the evidence holds the beginnings of two
// and the result that of one.
func TestSpansInTokens(t *testing.T) {
	starts := []int{0, 10, 20, 30, 40}
	in := bySpan("span_recall@1,span_precision@1",
		[]eval.Span{span(5, 25).InTokens(starts)}, []eval.Span{span(15, 41).InTokens(starts)})
	in.SpanUnit = eval.SpanTokens
	want := map[string]float64{"span_recall@1": 0.5, "span_precision@1": 1.0 / 3}
	if diff := cmp.Diff(want, means(t, in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := evaluate(t, in).Conventions; c.Unit != "spans" || c.SpanUnit != "tokens" {
		t.Errorf("conventions: unit %q, span unit %q", c.Unit, c.SpanUnit)
	}
}

// Cutting a span in two, or returning a part of it once more, changes nothing.
func TestSpansAreUnions(t *testing.T) {
	draw := func(rt *rapid.T, name string) []eval.Span {
		var out []eval.Span
		for range rapid.IntRange(1, 4).Draw(rt, name) {
			from := rapid.IntRange(0, 50).Draw(rt, "from")
			out = append(out, eval.Span{Doc: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "doc"), Start: from, End: from + rapid.IntRange(1, 30).Draw(rt, "length")})
		}
		return out
	}
	rapid.Check(t, func(rt *rapid.T) {
		evidence, results := draw(rt, "evidence"), draw(rt, "results")
		var cut []eval.Span
		for _, s := range results {
			at := rapid.IntRange(s.Start, s.End).Draw(rt, "cut")
			cut = append(cut, eval.Span{Doc: s.Doc, Start: at, End: s.End}, eval.Span{Doc: s.Doc, Start: s.Start, End: at}, s)
		}
		const measures = "span_recall,span_precision,span_iou"
		got, want := means(t, bySpan(measures, evidence, cut)), byHand(evidence, results)
		for name := range want {
			if math.Abs(got[name]-want[name]) > 1e-12 {
				rt.Fatalf("%s: %v, want %v", name, got[name], want[name])
			}
		}
	})
}

// byHand counts positions one by one.
func byHand(evidence, results []eval.Span) map[string]float64 {
	positions := func(spans []eval.Span) map[string]bool {
		set := map[string]bool{}
		for _, s := range spans {
			for at := s.Start; at < s.End; at++ {
				set[fmt.Sprint(s.Doc, at)] = true
			}
		}
		return set
	}
	e, r := positions(evidence), positions(results)
	shared := 0.0
	for p := range r {
		if e[p] {
			shared++
		}
	}
	return map[string]float64{
		"span_recall": shared / float64(len(e)), "span_precision": shared / float64(len(r)),
		"span_iou": shared / (float64(len(e)+len(r)) - shared),
	}
}

// A ranking of chunks is scored by spans as well, so that it can stand beside
// one of spans; labels say nothing of the latter.
func TestChunksAndSpansSideBySide(t *testing.T) {
	chunks := bySpan("recall@2,span_recall@2", []eval.Span{span(0, 100)}, []eval.Span{span(0, 50)})
	chunks.Unit = "chunk"
	chunks.Cases[0].Labels = []eval.Label{{ID: chunks.Cases[0].Ranking[0], Grade: 3}}
	if diff := cmp.Diff(map[string]float64{"recall@2": 1, "span_recall@2": 0.5}, means(t, chunks)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	spans := bySpan("recall@2,span_recall@2", []eval.Span{span(0, 100)}, []eval.Span{span(0, 50)})
	spans.Cases[0].Labels = []eval.Label{{ID: "c", Grade: 3, Uncertain: &eval.Probability{P: 0.5}}}
	r := evaluate(t, spans)
	if m := r.Metrics[0]; m.Mean != nil || !strings.Contains(m.Why, "the rankings are spans") {
		t.Errorf("recall of spans: %+v", m)
	}
	if m := r.Metrics[1]; m.Mean == nil || *m.Mean != 0.5 {
		t.Errorf("span recall: %+v", m)
	}
}

// A set without evidence, as of imported qrels, has nothing to hold spans against.
func TestSpansWithoutEvidenceAreNotedAsThat(t *testing.T) {
	r := evaluate(t, bySpan("span_recall@1", nil, []eval.Span{span(0, 50)}))
	want := "no case has evidence, which spans are scored against: nothing could be scored; answer with chunk ids, or import the cases with evidence"
	if !slices.Contains(r.Notes, want) {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestSpanMeasuresWithoutPlaces(t *testing.T) {
	in := bySpan("span_iou@2", []eval.Span{span(0, 100)}, []eval.Span{span(0, 50)})
	in.Unit, in.Cases[0].Spans = "chunk", nil
	if m := evaluate(t, in).Metrics[0]; m.Mean != nil || m.Why != "no case has evidence and results whose place is known" {
		t.Errorf("%+v", m)
	}
	in = bySpan("span_iou@2", []eval.Span{span(0, 100)}, []eval.Span{span(0, 50)})
	in.Source = "out"
	if m := evaluate(t, in).Metrics[0]; m.Mean != nil || !strings.Contains(m.Why, "--source out") {
		t.Errorf("%+v", m)
	}
}

func TestSpanTies(t *testing.T) {
	in := bySpan("span_recall@1,span_recall@2", []eval.Span{span(0, 100)}, []eval.Span{span(0, 100), span(200, 300)})
	in.Cases[0].Scores = []float64{1, 1}
	want := []tieFigures{{"1.0000", "none", "none", "none", 1}, {"1.0000", "1.0000", "1.0000", "1.0000", 0}}
	if diff := cmp.Diff(want, tiesOf(t, in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Chunks a [0,100) and b [80,180) overlap. A span leaks a hidden chunk only
// where it shows bytes that no chunk in sight holds.
func TestLeaksOfSpans(t *testing.T) {
	chunks := []eval.PlacedChunk{{ID: "a", Start: 0, End: 100}, {ID: "b", Start: 80, End: 180}}
	in := bySpan("span_recall@1", []eval.Span{span(0, 10)}, []eval.Span{span(0, 100), span(90, 110), span(60, 101)})
	in.Cases[0].Background.Forbidden = []string{"b"}
	in.ChunksIn = func(c *eval.Case, n int) []eval.PlacedChunk {
		var out []eval.PlacedChunk
		for _, p := range chunks {
			if s := c.Spans[n]; p.Start < s.End && s.Start < p.End {
				out = append(out, p)
			}
		}
		return out
	}
	want := []eval.Leak{{Case: "q", Chunk: "b", Rank: 2, Kind: eval.LeakForbidden}}
	if diff := cmp.Diff(want, evaluate(t, in).Leaks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKindsOfLeaks(t *testing.T) {
	c := found("q", 3) // x1, x2, a
	in := input("mrr", c)
	in.Restricted = func(_ *eval.Case, id string) bool { return id == "x2" }
	in.Outdated = func(_ *eval.Case, id string) bool { return true }
	in.Cases[0].Background.Forbidden = []string{"x1"}
	var got []string
	for _, l := range evaluate(t, in).Leaks {
		got = append(got, fmt.Sprint(l.Rank, " ", l.Kind))
	}
	if diff := cmp.Diff([]string{"1 forbidden", "2 scope", "3 validity"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFilterErrors(t *testing.T) {
	filter := corpus.Filter{Field: "category", Op: "eq", Values: []string{"billing"}}
	chunks := map[string]*corpus.Chunk{"x1": {Category: "billing"}, "x2": {Category: "sales"}, "a": {}}
	c, free := found("q", 3), found("free", 3)
	c.Background.Filters = []corpus.Filter{{Field: "category", Op: "ne", Values: []string{"hr"}}, filter}
	in := input("mrr", c, free)
	in.Violated = func(c *eval.Case, id string) *corpus.Filter {
		return eval.FirstViolated(c.Background.Filters, chunks[id])
	}
	r := evaluate(t, in)
	want := []eval.FilterError{
		{Case: "q", Query: "query of q", Filter: filter, Chunk: "x2", Rank: 2},
		{Case: "q", Query: "query of q", Filter: filter, Chunk: "a", Rank: 3},
	}
	if diff := cmp.Diff(want, r.FilterErrors); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(r.Leaks) != 0 || *r.Metrics[0].Mean != 1.0/3 {
		t.Errorf("leaks %v, mrr %v: filter errors are neither leaks nor in the mean", r.Leaks, *r.Metrics[0].Mean)
	}
}
