package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/review"
)

// reviewBench is a bench whose labels are probabilities, with the results of
// two retrievers.
func reviewBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, func(d *datasets.Draft) {
		uncertainLabels(d)
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustPrior, Why: "the prior"}
	})
	o := pipeline.EvalOptions{Golden: "records", Measures: "ndcg@10"}
	b.score(t, b.run(t, "base", func(i int) int { return 2 + i%3 }), o)
	b.score(t, b.run(t, "candidate", func(i int) int { return 1 + i%2 }), o)
	return b
}

func (b *bench) review(t testing.TB, o pipeline.ReviewOptions) *pipeline.Review {
	t.Helper()
	if o.Golden == "" {
		o.Golden = "records"
	}
	if o.Reviewer == "" {
		o.Reviewer = "kim"
	}
	if o.N == 0 {
		o.N = 30
	}
	r, err := b.OpenReview(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// label grades the first n items: relevant where the chunk is the case's own.
func label(t testing.TB, r *pipeline.Review, n int) {
	t.Helper()
	for i := range n {
		grade := 0
		if strings.TrimPrefix(r.Sample.Pairs[i].ChunkID, "d") == strings.TrimPrefix(r.Sample.Pairs[i].CaseID, "q") {
			grade = 2
		}
		if _, err := r.Label(t.Context(), i, review.Said{Grade: &grade}); err != nil {
			t.Fatal(err)
		}
	}
}

// fittedBench is a bench whose labels come of a label model that eight labels
// were too few for, with the results of two retrievers.
func fittedBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, func(d *datasets.Draft) {
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustSourceOnly, Why: "the label is the source chunk"}
		for i := range d.Cases {
			d.Cases[i].Origin = datasets.OriginHuman // all of the shift variance is the label model's
			d.Cases[i].Source = []string{document(i)}
			d.Cases[i].Judgments = []datasets.Judgment{datasets.SourceJudgment(document(i), document(i))}
		}
	})
	b.calibrate(t, pipeline.CalibrateOptions{Labels: b.labelFile(t, mixedLabels(3)...), Apply: true})
	o := pipeline.EvalOptions{Golden: "records", Measures: "ndcg@10", Source: "judged"}
	b.score(t, b.run(t, "base", func(i int) int { return 2 + i%3 }), o)
	b.score(t, b.run(t, "candidate", func(i int) int { return 1 + i%2 }), o)
	return b
}

// The page's interval is the one that compare gives once calibrate has taken in
// the labels.
func TestAReviewNarrowsTheIntervalAndBecomesAVersion(t *testing.T) {
	b := fittedBench(t)
	r := b.review(t, pipeline.ReviewOptions{})
	start := r.Session()
	if start.Sample != review.SampleDecisive || start.Total != 30 || start.Interval == nil || !strings.HasPrefix(start.Interval.What, "ndcg@10, ") {
		t.Fatalf("at the start: %+v", start)
	}
	label(t, r, 30)
	now := r.Session().Interval
	if now == nil || now.WidthAtStart != start.Interval.Width || !(now.Width < now.WidthAtStart) {
		t.Errorf("the interval went from %+v to %+v", start.Interval, now)
	}
	done, err := r.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !done.Written || done.Labels != 30 || done.Golden.Version != 3 {
		t.Errorf("finished: %+v", done)
	}
	if again, err := r.Finish(t.Context()); err != nil || again.Written || again.Golden.Version != 3 {
		t.Errorf("finished again: %+v, %v", again, err)
	}
	b.calibrate(t, pipeline.CalibrateOptions{Labels: "records", Apply: true})
	comparison, err := pipeline.Compare(b.Project, pipeline.CompareOptions{Base: r.Compared[0], Candidate: r.Compared[1], Golden: "records"})
	if err != nil {
		t.Fatal(err)
	}
	if o := comparison.Labels; o == nil || o.Metric != "ndcg@10" || o.Share <= 0 || len(o.After) != 3 || !(o.After[2].Width < 1) {
		t.Errorf("what more labels would buy: %+v", o)
	}
	if got := width(t, comparison); !near(got, now.Width) {
		t.Errorf("compare's interval is %v wide, the page said %v", got, now.Width)
	}
}

func TestAVersionSaysWhoLabelledWhatAndHowLikelyItWasChosen(t *testing.T) {
	b := reviewBench(t)
	r := b.review(t, pipeline.ReviewOptions{Sample: review.SampleUncertain})
	label(t, r, 30)
	if _, err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	m := set.Manifest
	if len(m.Reviews) != 1 || m.Reviews[0].Of != "records@v1" || m.Reviews[0].Reviewer != "kim" || m.Reviews[0].Labels != 30 || m.Trust.Level != datasets.TrustPrior {
		t.Errorf("manifest: %+v, trust %+v", m.Reviews, m.Trust)
	}
	chances := map[string]int{}
	for i := range set.Cases {
		for _, j := range set.Cases[i].Judgments {
			if j.By == datasets.ByHuman {
				chances[fmt.Sprint(j.Judge, " ", j.Inclusion)]++
			}
		}
	}
	// 20 pairs for certain, 10 of the other 52 by lot
	if diff := cmp.Diff(map[string]int{"kim 1": 20, "kim 0.1923": 10}, chances); diff != "" {
		t.Errorf("judgments by chance (-want +got):\n%s", diff)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestTwoPeopleLabelTheSameSample(t *testing.T) {
	b := reviewBench(t)
	ann, bob := b.review(t, pipeline.ReviewOptions{Reviewer: "ann"}), b.review(t, pipeline.ReviewOptions{Reviewer: "bob"})
	if diff := cmp.Diff(ann.Sample, bob.Sample); diff != "" {
		t.Fatalf("(-ann +bob):\n%s", diff)
	}
	label(t, ann, 10)
	label(t, bob, 8)
	three := 3
	if _, err := bob.Label(t.Context(), 0, review.Said{Grade: &three}); err != nil {
		t.Fatal(err)
	}
	report, err := b.ReviewReport("records")
	if err != nil {
		t.Fatal(err)
	}
	if a := report.Agreements; len(a) != 1 || a[0].Pairs != 8 || a[0].Same != 7 || len(report.Conflicts) != 1 || len(report.Labels) != 18 {
		t.Errorf("agreement %+v, conflicts %+v, %d labels", a, report.Conflicts, len(report.Labels))
	}
	f, err := b.FinishReview(t.Context(), "records@v1")
	if err != nil {
		t.Fatal(err)
	}
	if f.Labels != 10 || len(f.Conflicts) != 1 || len(f.Left) != 0 || len(f.Reviews) != 2 {
		t.Errorf("finished: %+v", f)
	}
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	first := ann.Sample.Pairs[0]
	kept := f.Conflicts[0].Kept
	want := []datasets.Disagreement{{CaseID: first.CaseID, ChunkID: first.ChunkID, Grades: map[string]int{"ann": f.Conflicts[0].Grades["ann"], "bob": 3}, Kept: kept}}
	if diff := cmp.Diff(want, set.Manifest.Disagreements); diff != "" || kept != f.Conflicts[0].Grades["ann"] {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := bob.Label(t.Context(), 0, review.Said{Grade: &kept}); err != nil {
		t.Fatal(err)
	}
	one := kept + 1
	if _, err := bob.Label(t.Context(), 1, review.Said{Grade: &one}); err != nil {
		t.Fatal(err)
	}
	if f, err = b.FinishReview(t.Context(), "records@v1"); err != nil || f.Golden.Version != 3 && f.Written {
		t.Fatalf("%+v, %v", f, err)
	}
	if set, err = b.Store().Load("records"); err != nil {
		t.Fatal(err)
	}
	if d := set.Manifest.Disagreements; f.Written && (len(d) != 1 || d[0].CaseID == first.CaseID && d[0].ChunkID == first.ChunkID) {
		t.Errorf("settled, and still listed: %+v", d)
	}
}

func TestLabelsOfAnOlderVersionAreNotLost(t *testing.T) {
	b := reviewBench(t)
	r := b.review(t, pipeline.ReviewOptions{})
	label(t, r, 5)
	r.Close()
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	d := datasets.Draft{Cases: set.Cases, Rejects: set.Rejects, Manifest: set.Manifest}
	gone := r.Sample.Pairs[0].CaseID
	set.Case(gone).Status, set.Case(gone).Reason = datasets.Retired, "a duplicate"
	if _, _, err := b.Store().Write(t.Context(), "records", d); err != nil {
		t.Fatal(err)
	}
	later := b.review(t, pipeline.ReviewOptions{})
	if later.Session().Labelled != 0 {
		t.Errorf("labels of v1 stand on v2: %+v", later.Session())
	}
	hinted := strings.Join(later.Notes, "\n")
	if !strings.Contains(hinted, "kim gave on records@v1") || !strings.Contains(hinted, "goldgen review records@v1 --finish") {
		t.Errorf("notes: %s", hinted)
	}
	later.Close()
	f, err := b.FinishReview(t.Context(), "records@v1")
	if err != nil {
		t.Fatal(err)
	}
	if f.Golden.Version != 3 || f.Labels != 5-len(f.Left) || len(f.Left) == 0 || f.Left[0].Why != "the case is retired" {
		t.Errorf("finished: %+v", f)
	}
	set, err = b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	if set.Case(gone).Status != datasets.Retired {
		t.Error("the later version's change was lost")
	}
	if again := b.review(t, pipeline.ReviewOptions{}); len(again.Notes) != 0 {
		t.Errorf("notes once they are in a version: %q", again.Notes)
	}
}

func TestASetWhoseEveryPairPeopleGradedIsReviewed(t *testing.T) {
	b := reviewBench(t)
	r := b.review(t, pipeline.ReviewOptions{N: 1000, Sample: review.SampleRandom})
	label(t, r, len(r.Sample.Pairs))
	if _, err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	if set.Manifest.Trust.Level != datasets.TrustReviewed {
		t.Errorf("trust %+v", set.Manifest.Trust)
	}
	_, err = b.OpenReview(t.Context(), pipeline.ReviewOptions{Golden: "records", Reviewer: "kim", N: 10})
	if !errors.Is(err, review.ErrNothingToLabel) {
		t.Errorf("error %v, want ErrNothingToLabel", err)
	}
}

func TestQueriesWithoutAModelStayUntrustedWhoeverLabels(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		uncertainLabels(d)
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustNone, Why: "made without a model"}
	})
	r := b.review(t, pipeline.ReviewOptions{N: 1000})
	label(t, r, len(r.Sample.Pairs))
	f, err := b.FinishReview(t.Context(), "records")
	if err != nil || f.Trust != datasets.TrustNone {
		t.Errorf("trust %s, %v", f.Trust, err)
	}
}

func TestWithoutAComparisonTheSampleIsRandom(t *testing.T) {
	certain := newBench(t, func(d *datasets.Draft) {
		for i := range d.Cases {
			for j := range d.Cases[i].Judgments {
				d.Cases[i].Judgments[j].By = datasets.ByLLM
			}
		}
	})
	alone := certain.review(t, pipeline.ReviewOptions{})
	if s := alone.Session(); s.Sample != review.SampleRandom || s.Interval != nil || len(alone.Notes) != 1 {
		t.Errorf("no results: %+v, notes %q", s, alone.Notes)
	}
	alone.Close()
	o := pipeline.EvalOptions{Golden: "records", Measures: "ndcg@10"}
	certain.score(t, certain.run(t, "base", func(i int) int { return 2 + i%3 }), o)
	certain.score(t, certain.run(t, "candidate", func(i int) int { return 1 + i%2 }), o)
	sure := certain.review(t, pipeline.ReviewOptions{})
	if s := sure.Session(); s.Sample != review.SampleRandom || s.Interval == nil || len(sure.Notes) != 1 {
		t.Errorf("certain labels: %+v, notes %q", s, sure.Notes)
	}
	sure.Close()
	_, err := certain.OpenReview(t.Context(), pipeline.ReviewOptions{Golden: "records", Reviewer: "kim", N: 10, Sample: review.SampleDecisive})
	if err == nil || !strings.Contains(err.Error(), "comes of a label model") {
		t.Errorf("decisive: %v", err)
	}
}

func TestFailedCasesAreShownWithWhatNobodyJudged(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		for i := range d.Cases {
			for j := range d.Cases[i].Judgments {
				d.Cases[i].Judgments[j].By = datasets.ByLLM
			}
		}
	})
	e := b.score(t, b.run(t, "poor", func(i int) int { return min(i, 1) * 2 }), pipeline.EvalOptions{Golden: "records", Measures: "ndcg@10"})
	r := b.review(t, pipeline.ReviewOptions{Sample: "failing:" + e.Path, N: 4})
	var shown []string
	for _, d := range r.Sample.Pairs {
		if d.Inclusion == 1 {
			shown = append(shown, d.CaseID+" "+d.ChunkID)
		}
	}
	// q00 alone lacks its document; d01 and d02 are judged, d03 is the third result
	if diff := cmp.Diff([]string{"q00 d03", "q00 d04"}, shown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCalibrateTakesTheVersionThatAReviewMade(t *testing.T) {
	b := reviewBench(t)
	r := b.review(t, pipeline.ReviewOptions{N: 45, Sample: review.SampleUncertain})
	label(t, r, 45)
	if _, err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := b.calibrate(t, pipeline.CalibrateOptions{Labels: "records", Next: 5, Apply: true})
	if c.Labels.Used != 45 || len(c.Labels.Left) != 0 || c.Calibration.Kept {
		t.Errorf("labels %+v, prior kept %v", c.Labels, c.Calibration.Kept)
	}
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	chances := map[string]int{}
	for i := range set.Cases {
		for _, j := range set.Cases[i].Judgments {
			if j.By == datasets.ByHuman {
				chances[fmt.Sprint(j.Judge, " ", j.Inclusion)]++
			}
		}
	}
	// 15 of the 42 that are not among the 30 most uncertain, by lot
	if diff := cmp.Diff(map[string]int{"kim 1": 30, "kim 0.3571": 15}, chances); diff != "" {
		t.Errorf("people's judgments after --apply (-want +got):\n%s", diff)
	}
}

func TestWhatAReviewRefuses(t *testing.T) {
	b := reviewBench(t)
	for name, test := range map[string]struct {
		o    pipeline.ReviewOptions
		want string
	}{
		"a sample that is none":    {pipeline.ReviewOptions{Sample: "best"}, "want one of decisive, random, uncertain, top, disagreement, needs_review, failing:RESULT"},
		"failing without a result": {pipeline.ReviewOptions{Sample: "failing"}, "want one of"},
		"failing in no result":     {pipeline.ReviewOptions{Sample: "failing:nowhere"}, "no result in nowhere"},
		"no pairs":                 {pipeline.ReviewOptions{N: -1}, "at least 1"},
		"one result":               {pipeline.ReviewOptions{Results: []string{"a"}}, "want two"},
		"no such results":          {pipeline.ReviewOptions{Results: []string{"a", "b"}}, "no result in a"},
		"no such set":              {pipeline.ReviewOptions{Golden: "other"}, "no golden set other"},
		"a name of control":        {pipeline.ReviewOptions{Reviewer: "kim\x1b[2J"}, "control characters"},
		"a name without an end":    {pipeline.ReviewOptions{Reviewer: strings.Repeat("kim", 30)}, "at most 60 bytes"},
		"nobody sent to review":    {pipeline.ReviewOptions{Sample: "needs_review"}, "no pair for --sample needs_review"},
		"no second opinion":        {pipeline.ReviewOptions{Sample: "disagreement"}, "no pair for --sample disagreement"},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.o
			if o.Golden == "" {
				o.Golden = "records"
			}
			if o.Reviewer == "" {
				o.Reviewer = "kim"
			}
			if o.N == 0 {
				o.N = 30
			}
			if _, err := b.OpenReview(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	r := b.review(t, pipeline.ReviewOptions{})
	_, err := b.OpenReview(t.Context(), pipeline.ReviewOptions{Golden: "records", Reviewer: "kim", N: 30})
	if !errors.Is(err, review.ErrBusy) {
		t.Errorf("a second page of one person: %v", err)
	}
	r.Close()
	if _, err := b.FinishReview(t.Context(), "records"); err == nil || !strings.Contains(err.Error(), "nobody has labelled") {
		t.Errorf("nothing to finish: %v", err)
	}
}

func TestLabelsOverAnotherCorpusAreNotMixedIn(t *testing.T) {
	b := reviewBench(t)
	r := b.review(t, pipeline.ReviewOptions{})
	label(t, r, 3)
	r.Close()
	path := filepath.Join(b.Dir, "chunks.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), "rules of procedure", "laws of procedure", 1))
	s, _, err := b.MakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	b.commit(t, s, uncertainLabels)
	if _, err := b.FinishReview(t.Context(), "records@v1"); !errors.Is(err, pipeline.ErrNotComparable) {
		t.Errorf("error %v, want ErrNotComparable", err)
	}
}
