package judge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

// grader is a func as a judge.Grader.
type grader func(ctx context.Context, q judge.Query, c *corpus.Chunk) (judge.Grade, error)

func (g grader) Grade(ctx context.Context, q judge.Query, c *corpus.Chunk) (judge.Grade, error) {
	return g(ctx, q, c)
}

func gradeOf(grade int, expected float64) judge.Grade {
	yes := expected / 3
	return judge.Grade{Grade: &grade, Expected: &expected, PYes: &yes, Calls: 1}
}

func unknown(reason string) judge.Grade { return judge.Grade{Unknown: reason, Calls: 3} }

// sharp knows the source of case i: chunk 1 of document i.
func sharp(q judge.Query, c *corpus.Chunk) judge.Grade {
	if "doc"+q.ID+"#1" == c.ID {
		return gradeOf(3, 2.9)
	}
	if strings.HasPrefix(c.ID, "doc"+q.ID) {
		return gradeOf(1, 1.1)
	}
	return gradeOf(0, .2)
}

func judgedBy(f func(q judge.Query, c *corpus.Chunk) judge.Grade) judge.Judge {
	return judge.Judge{Name: "ollama/fake:1b judge-token@1", Grader: grader(func(_ context.Context, q judge.Query, c *corpus.Chunk) (judge.Grade, error) {
		return f(q, c), nil
	})}
}

// plan makes n cases, the i-th from chunk 1 of document i, the last spares ones
// as spares.
func plan(n, spares int) []judge.Candidate {
	var all []judge.Candidate
	for i := range n {
		id := fmt.Sprintf("%02d", i)
		all = append(all, judge.Candidate{Case: caseOf(id, "doc"+id+"#1"), Spare: i >= n-spares})
	}
	return all
}

func deps(j judge.Judge, docs int) judge.Deps {
	return judge.Deps{Judge: j, View: judge.NewView(handbook(docs)), Members: members("bm25", ranks{"doc00#0", "doc01#1", "doc02#2", "doc03#0"})}
}

func settings(concurrency int) judge.Options {
	return judge.Options{Concurrency: concurrency, Pool: judge.PoolOptions{Seed: 1, Depth: map[string]int{"bm25": 2, "random": 2, "neighbours": 1}}}
}

func TestRunFillsACase(t *testing.T) {
	candidates := plan(30, 0)
	candidates[1].Case.Query = "guide to a topic"
	result, err := judge.Run(t.Context(), candidates, deps(judgedBy(sharp), 30), settings(4))
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict.State != judge.Passed || result.Trust.Level != datasets.TrustJudged || result.Trust.Judge != judge.Passed {
		t.Fatalf("verdict %+v, trust %+v", result.Verdict, result.Trust)
	}
	got := result.Cases[1]
	var drawn []datasets.Judgment
	got.Judgments = slices.DeleteFunc(slices.Clone(got.Judgments), func(j datasets.Judgment) bool {
		if j.Features["random"] == 1 {
			drawn = append(drawn, j)
		}
		return j.Features["random"] == 1
	})
	three, one, zero, second := 3, 1, 0, 2
	by := func(id string, grade *int, label string, features map[string]float64) datasets.Judgment {
		doc, _, _ := strings.Cut(id, "#")
		return datasets.Judgment{
			ChunkID: id, DocID: doc, Grade: grade, Label: label, By: datasets.ByLLM, Judge: "ollama/fake:1b judge-token@1",
			Features: features, Inclusion: 1,
		}
	}
	want := caseOf("01", "doc01#1")
	want.Status = datasets.Active
	want.Query = "guide to a topic"
	want.HardNegatives = []string{"doc00#0"}
	want.Difficulty.SourceRankBM25 = &second
	want.Judgments = []datasets.Judgment{
		{ChunkID: "doc01#1", DocID: "doc01", Grade: &three, Label: datasets.LabelRelevant, By: datasets.BySynthetic, Inclusion: 1},
		by("doc01#1", &three, datasets.LabelRelevant, map[string]float64{
			"source": 1, "members": 1, "rank_bm25": 2, "score_bm25": 3, "grade": 3, "expected_grade": 2.9, "p_yes": .9667,
		}),
		by("doc00#0", &zero, datasets.LabelIrrelevant, map[string]float64{
			"members": 1, "rank_bm25": 1, "score_bm25": 4, "grade": 0, "expected_grade": .2, "p_yes": .0667,
		}),
		by("doc01#0", &one, datasets.LabelPartial, map[string]float64{"neighbour": 1, "members": 0, "grade": 1, "expected_grade": 1.1, "p_yes": .3667}),
		by("doc01#2", &one, datasets.LabelPartial, map[string]float64{"neighbour": 1, "members": 0, "grade": 1, "expected_grade": 1.1, "p_yes": .3667}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("case (-want +got):\n%s", diff)
	}
	if len(drawn) != 2 || drawn[0].Inclusion != .0233 { // 2 of the 86 chunks outside
		t.Errorf("drawn %+v", drawn)
	}
	if want := (&datasets.Interval{}); result.Missed == nil || result.Missed.Value != want.Value || result.Missed.High <= 0 {
		t.Errorf("missed %+v, want 0 with an upper bound", result.Missed)
	}
}

// The same candidates give the same result in whatever order replies arrive.
// The clock is the bubble's: the delays only decide who overtakes whom.
func TestRunDoesNotDependOnConcurrency(t *testing.T) {
	run := func(t *testing.T, concurrency int) (result judge.Result) {
		synctest.Test(t, func(t *testing.T) {
			fake := &llmtest.Model{}
			m := model(t, client(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				if !isProbe(req) { // others wait for the probe behind a mutex, which stops the bubble's clock
					<-time.After(time.Duration(len(fake.Requests())*7919%13) * time.Millisecond)
				}
				return fake.Complete(ctx, req)
			}))
			var err error
			result, err = judge.Run(t.Context(), plan(40, 8), deps(judge.Judge{Grader: m, Name: m.Name()}, 40), settings(concurrency))
			if err != nil {
				t.Fatal(err)
			}
		})
		return result
	}
	one := run(t, 1)
	for _, concurrency := range []int{3, 32} {
		if diff := cmp.Diff(one, run(t, concurrency)); diff != "" {
			t.Errorf("concurrency %d (-1 +%d):\n%s", concurrency, concurrency, diff)
		}
	}
}

// A blind judge's grades are kept as features and stored as unknown.
func TestRunWithABlindJudge(t *testing.T) {
	always2 := judgedBy(func(judge.Query, *corpus.Chunk) judge.Grade { return gradeOf(2, 1.8) })
	result, err := judge.Run(t.Context(), plan(36, 6), deps(always2, 36), settings(2))
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict.State != judge.Blind || result.Trust.Level != datasets.TrustSourceOnly || result.Trust.Judge != judge.Blind || result.Missed != nil {
		t.Errorf("verdict %+v, trust %+v, missed %v", result.Verdict, result.Trust, result.Missed)
	}
	if len(result.Notes) != 1 || !strings.Contains(result.Notes[0], "blind") || !strings.Contains(result.Notes[0], "fake:1b") {
		t.Errorf("notes %q", result.Notes)
	}
	if len(result.Cases) != 30 {
		t.Errorf("%d cases, want the 30 that are no spares", len(result.Cases))
	}
	for _, c := range result.Cases {
		if c.Status != datasets.Active || len(c.HardNegatives) != 0 {
			t.Errorf("case %s: %s, hard negatives %v", c.ID, c.Status, c.HardNegatives)
		}
		for _, j := range c.Judgments {
			known := j.By == datasets.BySynthetic
			if (j.Grade != nil) != known || (j.Label != "") != known || (!known && j.Features["expected_grade"] != 1.8) {
				t.Errorf("case %s: judgment %+v", c.ID, j)
			}
		}
	}
}

// Too few canaries: the grades are kept, nothing is decided by them.
func TestRunWithAnUntestedJudge(t *testing.T) {
	harsh := judgedBy(func(judge.Query, *corpus.Chunk) judge.Grade { return gradeOf(0, .1) })
	result, err := judge.Run(t.Context(), plan(5, 1), deps(harsh, 12), settings(2))
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict.State != judge.Untested || result.Trust.Level != datasets.TrustSourceOnly || len(result.Cases) != 4 {
		t.Errorf("verdict %+v, trust %+v, %d cases", result.Verdict, result.Trust, len(result.Cases))
	}
	for _, c := range result.Cases {
		if c.Status != datasets.Active || *c.Judgments[1].Grade != 0 {
			t.Errorf("case %s: %s, %+v", c.ID, c.Status, c.Judgments[1])
		}
	}
}

// Spares are graded only where a case failed; 28 cases borrow two spares as
// canaries.
func TestRunTakesSparesWhenNeeded(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	j := judgedBy(func(q judge.Query, c *corpus.Chunk) judge.Grade {
		mu.Lock()
		asked[q.ID]++
		mu.Unlock()
		if c.ID == "doc03#1" && q.ID == "03" || c.ID == "doc28#1" && q.ID == "28" {
			return gradeOf(1, .6)
		}
		return sharp(q, c)
	})
	result, err := judge.Run(t.Context(), plan(34, 6), deps(j, 34), settings(3))
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]string{}
	for _, c := range result.Cases[26:] {
		status[c.ID] = c.Status
	}
	want := map[string]string{"26": datasets.Active, "27": datasets.Active, "28": datasets.NeedsReview, "29": datasets.Active}
	if diff := cmp.Diff(want, status); diff != "" || result.Cases[3].Status != datasets.NeedsReview || len(result.Shortfall) != 0 {
		t.Errorf("case 03 %s, shortfall %v, cases (-want +got):\n%s", result.Cases[3].Status, result.Shortfall, diff)
	}
	if asked["30"] != 0 || asked["29"] == 0 || asked["33"] != 0 {
		t.Errorf("pairs asked of spares: %v", asked)
	}
	if n := len(result.Cases[28].Judgments); n < 6 {
		t.Errorf("the spare that stepped in has %d judgments only", n)
	}
}

func TestRunGradesOneTextOnce(t *testing.T) {
	chunks := handbook(4)
	chunks = append(chunks, chunk("copy", 0, "Part 1 of the  guide to topic 0."))
	near := chunk("near", 0, "Part 1 of the guide to topic 0!")
	near.NearGroup = "n:doc00#1"
	chunks = append(chunks, near)
	var mu sync.Mutex
	var asked []string
	j := judgedBy(func(q judge.Query, c *corpus.Chunk) judge.Grade {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, c.ID)
		return gradeOf(2, 2)
	})
	d := judge.Deps{Judge: j, View: judge.NewView(chunks), Members: members("bm25", ranks{"doc00#1", "copy#0", "near#0"})}
	o := judge.Options{Concurrency: 2, Pool: judge.PoolOptions{Depth: map[string]int{"bm25": 3, "random": 1}}}
	result, err := judge.Run(t.Context(), []judge.Candidate{{Case: caseOf("00", "doc00#1")}}, d, o)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(asked)
	if !slices.Contains(asked, "copy#0") || slices.Contains(asked, "doc00#1") || !slices.Contains(asked, "near#0") || result.Pairs != 3 {
		t.Errorf("asked about %v, %d pairs: want one of the two copies, the near-duplicate and the random chunk", asked, result.Pairs)
	}
	if n := len(result.Cases[0].Judgments); n != 5 { // synthetic, source, copy, near, random
		t.Errorf("%d judgments, want 5", n)
	}
}

func TestRunUnknownGrades(t *testing.T) {
	j := judgedBy(func(q judge.Query, c *corpus.Chunk) judge.Grade {
		if q.ID == "02" && c.ID == "doc02#1" {
			return unknown(judge.UnknownRefused)
		}
		g := sharp(q, c)
		g.Cut = c.ID == "doc05#1" && q.ID == "05"
		return g
	})
	result, err := judge.Run(t.Context(), plan(31, 0), deps(j, 31), settings(4))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{judge.UnknownRefused: 1}, result.Unknown); diff != "" || result.CutPairs != 1 || result.Verdict.Unknown != 1 {
		t.Errorf("%d cut, verdict %+v, unknown (-want +got):\n%s", result.CutPairs, result.Verdict, diff)
	}
	source := result.Cases[2].Judgments[1]
	want := map[string]float64{"source": 1, "members": 0}
	if diff := cmp.Diff(want, source.Features); diff != "" || source.Grade != nil || source.Label != "" || result.Cases[2].Status != datasets.Active {
		t.Errorf("%s, judgment %+v, features (-want +got):\n%s", result.Cases[2].Status, source, diff)
	}
	if result.Cases[5].Judgments[1].Features["passage_cut"] != 1 {
		t.Errorf("the cut passage is not marked: %+v", result.Cases[5].Judgments[1])
	}
	if len(result.Notes) != 1 || !strings.HasPrefix(result.Notes[0], "1 of ") || !strings.Contains(result.Notes[0], "did not fit the judge's window") {
		t.Errorf("notes %q", result.Notes)
	}
}

func TestRunWithoutAModel(t *testing.T) {
	for _, tt := range []struct {
		name  string
		judge judge.Judge
		built bool
		level string
		why   string
	}{
		{"none", judge.Judge{}, false, datasets.TrustSourceOnly, "no judge"},
		{"builtin", judge.NewBuiltin(), false, datasets.TrustSourceOnly, "no model"},
		{"builtin queries", judge.NewBuiltin(), true, datasets.TrustNone, "without a model"},
		{"builtin queries, model judge", judgedBy(sharp), true, datasets.TrustNone, "without a model"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := settings(2)
			o.Built = tt.built
			result, err := judge.Run(t.Context(), plan(33, 3), deps(tt.judge, 33), o)
			if err != nil {
				t.Fatal(err)
			}
			if result.Trust.Level != tt.level || !strings.Contains(result.Trust.Why, tt.why) || len(result.Cases) != 30 {
				t.Errorf("trust %+v, %d cases", result.Trust, len(result.Cases))
			}
			c := result.Cases[1]
			if tt.judge.Grader == nil && (len(c.Judgments) != 1 || c.Judgments[0].By != datasets.BySynthetic || *c.Difficulty.SourceRankBM25 != 2) {
				t.Errorf("case %+v", c)
			}
		})
	}
}

func TestRunKeepsWhatOthersJudged(t *testing.T) {
	candidates := plan(1, 0)
	zero, two := 0, 2
	candidates[0].Case.Judgments = []datasets.Judgment{
		{ChunkID: "doc00#1", By: datasets.BySynthetic, Grade: &two, Label: datasets.LabelRelevant, Inclusion: 1},
		{ChunkID: "doc00#1", By: datasets.ByHuman, Grade: &zero, Label: datasets.LabelIrrelevant, Inclusion: 1},
		{ChunkID: "doc00#2", By: datasets.ByLLM, Grade: &zero, Judge: "an earlier one", Inclusion: 1},
	}
	result, err := judge.Run(t.Context(), candidates, deps(judgedBy(sharp), 3), settings(1))
	if err != nil {
		t.Fatal(err)
	}
	got := result.Cases[0].Judgments
	if diff := cmp.Diff(candidates[0].Case.Judgments[:2], got[:2]); diff != "" {
		t.Errorf("judgments (-want +got):\n%s", diff)
	}
	seen := map[string]bool{}
	for _, j := range got {
		if key := j.ChunkID + j.By; seen[key] || j.Judge == "an earlier one" {
			t.Errorf("judgment %+v is there twice or stale", j)
		} else {
			seen[key] = true
		}
	}
}

func TestRunEnds(t *testing.T) {
	down := errors.New("no server")
	failing := judge.Judge{Name: "m", Grader: grader(func(_ context.Context, q judge.Query, _ *corpus.Chunk) (judge.Grade, error) {
		if q.ID == "01" {
			return judge.Grade{}, down
		}
		return gradeOf(1, 1), nil
	})}
	if _, err := judge.Run(t.Context(), plan(4, 0), deps(failing, 4), settings(2)); !errors.Is(err, down) || !strings.Contains(err.Error(), "case 01: chunk ") {
		t.Errorf("error %v", err)
	}
	stopped := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := judge.Run(ctx, plan(4, 0), deps(judgedBy(sharp), 4), settings(2)); !errors.Is(err, stopped) {
		t.Errorf("error %v, want the cause of the cancellation", err)
	}
	if _, err := judge.Run(t.Context(), append(plan(2, 0), plan(1, 0)...), deps(judgedBy(sharp), 4), settings(2)); err == nil || !strings.Contains(err.Error(), "duplicate") {
		t.Errorf("error %v", err)
	}
	if _, err := judge.Run(t.Context(), plan(2, 0), deps(judgedBy(sharp), 4), settings(0)); err == nil || !strings.Contains(err.Error(), "concurrency") {
		t.Errorf("error %v", err)
	}
}

func TestRunReportsProgress(t *testing.T) {
	var last judge.Progress
	calls := 0
	o := settings(5)
	o.Progress = func(p judge.Progress) { last, calls = p, calls+1 }
	result, err := judge.Run(t.Context(), plan(12, 2), deps(judgedBy(sharp), 12), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(judge.Progress{Cases: 10, Total: 10, Pairs: result.Pairs}, last); diff != "" || calls != 10 {
		t.Errorf("%d calls, last (-want +got):\n%s", calls, diff)
	}
}

func TestExtend(t *testing.T) {
	d := deps(judgedBy(sharp), 34)
	result, err := judge.Run(t.Context(), plan(34, 0), d, settings(2))
	if err != nil {
		t.Fatal(err)
	}
	random := ""
	for _, j := range result.Cases[0].Judgments {
		if j.Features["random"] == 1 {
			random = j.ChunkID
		}
	}
	retired := result.Cases[2]
	retired.Status = datasets.Retired
	result.Cases[2] = retired
	hit := func(ids ...string) []judge.Ranking {
		r := judge.Ranking{Name: "new"}
		for i, id := range ids {
			r.Hits = append(r.Hits, hitOf(id, float64(9-i)))
		}
		return []judge.Ranking{r}
	}
	rankings := map[string][]judge.Ranking{
		"00": hit("doc00#1", random, "doc20#0", "doc21#0"),
		"01": hit("doc01#1", "doc01#0"),
		"02": hit("doc30#0"),
		"03": hit("doc33#2"),
	}
	ext, err := judge.Extend(t.Context(), result.Cases, judge.Tops{Rankings: rankings, Depth: 3}, d, settings(2))
	if err != nil {
		t.Fatal(err)
	}
	if ext.Changed != 2 || ext.Pairs != 2 || ext.Verdict.State != judge.Passed {
		t.Errorf("changed %d, pairs %d, verdict %+v", ext.Changed, ext.Pairs, ext.Verdict)
	}
	if diff := cmp.Diff(result.Cases[1:3], ext.Cases[1:3]); diff != "" {
		t.Errorf("cases without anything new changed:\n%s", diff)
	}
	added := ext.Cases[0].Judgments[len(ext.Cases[0].Judgments)-1]
	zero := 0
	want := datasets.Judgment{
		ChunkID: "doc20#0", DocID: "doc20", Grade: &zero, Label: datasets.LabelIrrelevant, By: datasets.ByLLM, Judge: d.Judge.Name, Inclusion: 1,
		Features: map[string]float64{"members": 1, "rank_new": 3, "score_new": 7, "grade": 0, "expected_grade": .2, "p_yes": .0667},
	}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("judgment (-want +got):\n%s", diff)
	}
	for i, j := range ext.Cases[0].Judgments {
		if j.ChunkID == random && (j.Inclusion != 1 || j.Features["random"] == 1) {
			t.Errorf("the random chunk is in a top now, and still counts as drawn: %+v", j)
		}
		if i < len(result.Cases[0].Judgments) && j.ChunkID != random {
			if diff := cmp.Diff(result.Cases[0].Judgments[i], j, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("an old judgment changed:\n%s", diff)
			}
		}
	}
	again, err := judge.Extend(t.Context(), ext.Cases, judge.Tops{Rankings: rankings, Depth: 3}, d, settings(2))
	if err != nil || again.Changed != 0 || again.Pairs != 0 {
		t.Errorf("a second time: changed %d, pairs %d, error %v", again.Changed, again.Pairs, err)
	}
}

func TestExtendStaysBlind(t *testing.T) {
	d := deps(judgedBy(func(judge.Query, *corpus.Chunk) judge.Grade { return gradeOf(2, 2) }), 30)
	result, err := judge.Run(t.Context(), plan(30, 0), d, settings(2))
	if err != nil {
		t.Fatal(err)
	}
	rankings := map[string][]judge.Ranking{"07": {{Name: "new", Hits: hitsOf("doc29#0", "doc28#0", "doc27#0")}}}
	ext, err := judge.Extend(t.Context(), result.Cases, judge.Tops{Rankings: rankings, Depth: 3}, d, settings(2))
	if err != nil || ext.Verdict.State != judge.Blind {
		t.Fatalf("verdict %+v, error %v", ext.Verdict, err)
	}
	js := ext.Cases[7].Judgments
	if last := js[len(js)-1]; last.Grade != nil || last.Features["expected_grade"] != 2 {
		t.Errorf("judgment %+v", last)
	}
}

func TestExtendRefusesAnotherJudge(t *testing.T) {
	d := deps(judgedBy(sharp), 30)
	result, err := judge.Run(t.Context(), plan(3, 0), d, settings(2))
	if err != nil {
		t.Fatal(err)
	}
	d.Judge.Name = "ollama/other judge-token@1"
	if _, err := judge.Extend(t.Context(), result.Cases, judge.Tops{Depth: 3}, d, settings(2)); !errors.Is(err, judge.ErrOtherJudge) {
		t.Errorf("error %v", err)
	}
	d.Judge = judge.Judge{}
	if _, err := judge.Extend(t.Context(), result.Cases, judge.Tops{Depth: 3}, d, settings(2)); err == nil {
		t.Error("no judge, no error")
	}
}
