package pipeline_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/review"
)

// largeBench is a bench of n cases whose labels come of a label model, with the
// results of two retrievers.
func largeBench(t testing.TB, n int) *bench {
	t.Helper()
	b := newBench(t, func(d *datasets.Draft) {
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustPrior, Why: "the prior"}
		d.Cases = nil
		for i := range n {
			d.Cases = append(d.Cases, modelledCase(i))
		}
	})
	o := pipeline.EvalOptions{Golden: "records", Measures: "ndcg@10", Source: "judged"}
	for name, rank := range map[string]func(int) int{"base": func(i int) int { return 2 + i%3 }, "candidate": func(i int) int { return 1 + i%2 }} {
		b.score(t, b.largeRun(t, name, n, rank), o)
	}
	return b
}

// modelledCase has a label model's chances of ten chunks, with what it saw of them:
// of each next one every retriever thinks less.
func modelledCase(i int) datasets.Case {
	c := benchCase(i)
	c.ID, c.Query = fmt.Sprintf("q%05d", i), fmt.Sprintf("rules of procedure number %d or %d", i%36, i%7)
	c.Source = []string{document(i % 36)}
	c.Judgments = []datasets.Judgment{datasets.SourceJudgment(document(i%36), document(i%36))}
	for j := range 10 {
		p := .8 / float64(1+j+i%3)
		seen := map[string]float64{judge.FeatureCohesion: .9 - float64(j+i%5)/20, judge.FeatureOverlap: .5}
		for n, member := range judge.Voters() {
			seen["rank_"+member], seen["score_"+member] = float64(1+(j+n*(i%4))%10), float64(20-j-n-i%3)
		}
		judgment := datasets.Judgment{ChunkID: document((i + j) % 36), DocID: document((i + j) % 36), By: datasets.ByLabelModel, Judge: "m", P: &p, Features: seen, Inclusion: 1}
		for t := range judge.DrawCount {
			judgment.PDraws = append(judgment.PDraws, p+float64(t%2*2-1)*p/5)
		}
		c.Judgments = append(c.Judgments, judgment)
	}
	return c
}

// largeRun is run for largeBench's cases.
func (b *bench) largeRun(t testing.TB, name string, n int, rankOf func(int) int) string {
	t.Helper()
	var text strings.Builder
	for i := range n {
		for rank := 1; rank <= 5; rank++ {
			id := document((i + 40 - rank) % 36)
			if rank == rankOf(i) {
				id = document(i % 36)
			}
			fmt.Fprintf(&text, "q%05d Q0 %s %d %d %s\n", i, id, rank, 100-rank, name)
		}
	}
	path := filepath.Join(b.Dir, name+".txt")
	write(t, path, text.String())
	return "run:" + path
}

// TestALargeSetHasAnIntervalToo: what the label model saw is read from the set, so
// that no number of cases is too large.
func TestALargeSetHasAnIntervalToo(t *testing.T) {
	r := largeBench(t, 1100).review(t, pipeline.ReviewOptions{Sample: review.SampleRandom})
	start := r.Session().Interval
	if start == nil || len(r.Notes) != 0 {
		t.Fatalf("at the start %+v, notes %q", start, r.Notes)
	}
	labelOwn(t, r, 10)
	if now := r.Session().Interval; now == nil || now.Width == start.Width || now.WidthAtStart != start.Width {
		t.Errorf("after ten labels %+v, at the start %+v", now, start)
	}
}

// labelOwn grades the first n items: relevant where the chunk is the one that the
// case was written from.
func labelOwn(t testing.TB, r *pipeline.Review, n int) {
	t.Helper()
	for i := range n {
		var at, doc, grade int
		pair := r.Sample.Pairs[i]
		if _, err := fmt.Sscanf(pair.CaseID+pair.ChunkID, "q%05dd%d", &at, &doc); err != nil {
			t.Fatal(err)
		}
		if at%36 == doc {
			grade = 2
		}
		if _, err := r.Label(t.Context(), i, review.Said{Grade: &grade}); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkReviewLabel is ten labels on a set of 10,000 cases, with the fit and the
// interval that the tenth brings.
func BenchmarkReviewLabel(b *testing.B) {
	r := largeBench(b, 10_000).review(b, pipeline.ReviewOptions{Sample: review.SampleRandom, N: 300})
	labelOwn(b, r, 50)
	b.ResetTimer()
	for i := range b.N {
		for n := range 10 {
			grade := i % 2 * 2
			if _, err := r.Label(b.Context(), 50+(10*i+n)%100, review.Said{Grade: &grade}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
