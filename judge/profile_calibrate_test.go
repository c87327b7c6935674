package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// shelves is a corpus of subjects, its members and cases that ask for one
// subject each: its three documents answer the query.
type shelves struct {
	deps  judge.Deps
	cases []datasets.Case
	o     judge.Options
}

func newShelves(t testing.TB, cases int) shelves {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 1))
	var chunks []corpus.Chunk
	for s := range 40 {
		for n := range 3 {
			var text strings.Builder
			for range 12 {
				fmt.Fprintf(&text, "subject%dword%d common%d ", s, rng.IntN(6), rng.IntN(30))
			}
			chunks = append(chunks, chunk(fmt.Sprintf("s%02d", s), n, text.String()))
		}
	}
	l := shelves{o: judge.Options{Pool: judge.PoolOptions{Depth: map[string]int{"random": 2}, Seed: 3}, Concurrency: 4}}
	l.deps = judge.Deps{View: judge.NewView(chunks), Members: map[string]retrieve.Retriever{}}
	for _, name := range judge.Voters() {
		spec, err := retrieve.ParseSpec(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		stream := func(yield func(corpus.Chunk, error) bool) {
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
		}
		if l.deps.Members[name], err = retrieve.Build(t.Context(), spec, retrieve.Deps{Chunks: stream}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range cases {
		c := caseOf(fmt.Sprintf("case%02d", i))
		c.Query, c.Status = fmt.Sprintf("subject%dword1 subject%dword4 common%d", i%40, i%40, i%30), datasets.Active
		l.cases = append(l.cases, c)
	}
	return l
}

func (l shelves) observe(t testing.TB) [][]judge.Observed {
	t.Helper()
	observed, err := judge.Observe(t.Context(), l.cases, l.deps, l.o)
	if err != nil {
		t.Fatal(err)
	}
	return observed
}

// labels grades every observed pair: 3 for a chunk of the case's subject.
func (l shelves) labels(observed [][]judge.Observed) []judge.HumanLabel {
	var out []judge.HumanLabel
	for i := range observed {
		for _, o := range observed[i] {
			grade := 0
			if o.Item.DocID == fmt.Sprintf("s%02d", i%40) {
				grade = 3
			}
			out = append(out, judge.HumanLabel{CaseID: l.cases[i].ID, ChunkID: o.Item.ChunkID, Grade: grade, Inclusion: 1})
		}
	}
	return out
}

func TestLabelGivesEveryPooledPairAChance(t *testing.T) {
	l := newShelves(t, 6)
	l.cases[0].Judgments = []datasets.Judgment{
		{ChunkID: "s39#2", DocID: "s39", By: datasets.ByHuman, Grade: new(int), Label: "irrelevant", Inclusion: 1},
		{ChunkID: "s00#0", DocID: "s00", By: datasets.ByLabelModel, P: new(float64), Inclusion: 1},
	}
	l.cases[5].Status = datasets.Retired
	got, err := judge.Label(t.Context(), l.cases, l.deps, l.o, prior(t))
	if err != nil {
		t.Fatal(err)
	}
	name, err := prior(t).Name()
	if err != nil {
		t.Fatal(err)
	}
	pairs := 0
	for i, c := range got.Cases {
		seen := map[string]int{}
		for _, j := range c.Judgments {
			if j.By != datasets.ByLabelModel {
				continue
			}
			pairs++
			seen[j.ChunkID]++
			if j.P == nil || len(j.PDraws) != judge.DrawCount || j.Judge != name || seen[j.ChunkID] > 1 {
				t.Errorf("%s: %+v", c.ID, j)
			}
		}
		if i == 5 && len(seen) > 0 || i < 5 && len(seen) < 10 {
			t.Errorf("%s: %d pairs", c.ID, len(seen))
		}
	}
	if pairs != got.Pairs {
		t.Errorf("%d judgments, %d counted", pairs, got.Pairs)
	}
	first := got.Cases[0].Labels(datasets.SourceJudged).Chunks
	if human := first["s39#2"]; !human.Human || human.Grade == nil || human.P != nil {
		t.Errorf("a person's label is not fixed: %+v", human)
	}
	if again := first["s00#0"]; again.P == nil || *again.P < 0.2 {
		t.Errorf("the earlier probability of the best chunk stays: %+v", again)
	}
}

func TestLabelDoesNotDependOnConcurrency(t *testing.T) {
	l := newShelves(t, 6)
	label := func(concurrency int) judge.Labels {
		o := l.o
		o.Concurrency = concurrency
		got, err := judge.Label(t.Context(), l.cases, l.deps, o, prior(t))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if diff := cmp.Diff(label(1), label(8)); diff != "" {
		t.Error(diff)
	}
}

func TestLabelNeedsTheMembersOfItsFeatures(t *testing.T) {
	l := newShelves(t, 2)
	delete(l.deps.Members, "lsa")
	if _, err := judge.Label(t.Context(), l.cases, l.deps, l.o, prior(t)); err == nil || !strings.Contains(err.Error(), "no lsa") {
		t.Errorf("got %v", err)
	}
}

func TestLabelStopsWhenCancelled(t *testing.T) {
	l := newShelves(t, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	if _, err := judge.Label(ctx, l.cases, l.deps, l.o, prior(t)); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

var errGone = errors.New("gone")

func TestCalibrate(t *testing.T) {
	l := newShelves(t, 40)
	observed := l.observe(t)
	labels := l.labels(observed)[:300]
	o := judge.CalibrateOptions{RelevantGrade: 2, From: []string{"labels.csv"}, Seed: 1, Next: 12}
	got, err := judge.Calibrate(prior(t), l.cases, observed, labels, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Profile.Validate(); err != nil {
		t.Fatal(err)
	}
	if p := got.Profile; p.Level != judge.LevelFitted || p.Training.Pairs != 300 || p.Embedder != "" || p.Judge != "" {
		t.Errorf("profile: %s, %+v", p.Level, p.Training)
	}
	if fitted, before := got.Profile.Figures, got.Prior; fitted.Brier.Value >= before.Brier.Value || fitted.AUC.Value < 0.9 {
		t.Errorf("fitted: AUC %.3f, Brier %.3f; prior: AUC %.3f, Brier %.3f", fitted.AUC.Value, fitted.Brier.Value, before.AUC.Value, before.Brier.Value)
	}
	if got.Judge != nil {
		t.Errorf("no model judged, but it agrees: %+v", got.Judge)
	}
	var sizes []int
	for _, p := range got.Curve {
		sizes = append(sizes, p.Labels)
	}
	if diff := cmp.Diff([]int{50, 100, 200}, sizes); diff != "" {
		t.Errorf("learning curve: %s", diff)
	}
	checkNext(t, got.Next, labels)
	again, err := judge.Calibrate(prior(t), l.cases, observed, labels, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("again: %s", diff)
	}
}

// checkNext: a third is drawn at random, none is labelled, none is named twice.
func checkNext(t *testing.T, next []judge.NextPair, labels []judge.HumanLabel) {
	t.Helper()
	known := map[[2]string]bool{}
	for _, l := range labels {
		known[[2]string{l.CaseID, l.ChunkID}] = true
	}
	random := 0
	for _, n := range next {
		pair := [2]string{n.CaseID, n.ChunkID}
		if known[pair] {
			t.Errorf("%v has a label, or is named twice", pair)
		}
		known[pair] = true
		if n.Why == judge.NextRandom {
			random++
			if n.Inclusion <= 0 || n.Inclusion >= 1 {
				t.Errorf("a random pair has inclusion %v", n.Inclusion)
			}
		}
	}
	if len(next) != 12 || random != 4 {
		t.Errorf("%d pairs, %d of them random; want 12 and 4", len(next), random)
	}
}

func TestCalibrateOnOneClassKeepsThePrior(t *testing.T) {
	l := newShelves(t, 10)
	observed := l.observe(t)
	labels := l.labels(observed)[:40]
	for name, list := range map[string][]judge.HumanLabel{"none": nil, "one class": labels} {
		for i := range list {
			list[i].Grade = 0
		}
		got, err := judge.Calibrate(prior(t), l.cases, observed, list, judge.CalibrateOptions{RelevantGrade: 2, Next: 5})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Kept || cmp.Diff(prior(t), got.Profile) != "" || len(got.Next) != 5 {
			t.Errorf("%s: kept %v, %d pairs to label", name, got.Kept, len(got.Next))
		}
	}
}

// TestCalibrateComparesTheJudgeWithPeople: a judge that gives each grade one too
// high, but 3 for 3.
func TestCalibrateComparesTheJudgeWithPeople(t *testing.T) {
	l := newShelves(t, 10)
	observed := l.observe(t)
	labels := l.labels(observed)
	n := 0
	for i := range observed {
		for j := range observed[i] {
			labels[n].Grade = n % 4
			if n%5 > 0 {
				given := float64(min(3, n%4+1))
				observed[i][j].Seen["grade"], observed[i][j].Seen["expected_grade"] = given, given-0.2
			}
			n++
		}
	}
	got, err := judge.Calibrate(prior(t), l.cases, observed, labels, judge.CalibrateOptions{RelevantGrade: 2, Judge: "fake", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	j := got.Judge
	if j == nil || j.Pairs+j.Unknown != n || j.Unknown != (n+4)/5 {
		t.Fatalf("of %d pairs: %+v", n, j)
	}
	for person, row := range j.Confusion {
		for given, count := range row {
			if (count > 0) != (given == min(3, person+1)) {
				t.Errorf("people %d, judge %d: %d", person, given, count)
			}
		}
	}
	if !(j.Kappa < 0.2 && j.Quadratic > 0.5) || len(j.Binary) != 3 {
		t.Errorf("kappa %.3f, quadratic %.3f", j.Kappa, j.Quadratic)
	}
	if got.Profile.Judge != "fake" || got.FeatureAUC["expected_grade"] < 0.95 {
		t.Errorf("the grades are no feature: judge %q, AUC %v", got.Profile.Judge, got.FeatureAUC["expected_grade"])
	}
}

// TestJudgeAgreementCountsSampledPairsForThoseTheyStandFor: by hand, a judge
// that is right on ten chosen pairs and wrong on one of two sampled one in ten.
func TestJudgeAgreementCountsSampledPairsForThoseTheyStandFor(t *testing.T) {
	l := newShelves(t, 1)
	observed := l.observe(t)
	var labels []judge.HumanLabel
	for i := range 12 {
		seen, person, given, inclusion := observed[0][i].Seen, 3*(i%2), 3*(i%2), 1.0
		if i >= 10 {
			person, given, inclusion = 0, 3*(i%2), 0.1
		}
		seen["grade"] = float64(given)
		labels = append(labels, judge.HumanLabel{CaseID: "case00", ChunkID: observed[0][i].Item.ChunkID, Grade: person, Inclusion: inclusion})
	}
	got, err := judge.Calibrate(prior(t), l.cases, observed, labels, judge.CalibrateOptions{RelevantGrade: 2, Judge: "fake", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Sums of weights: 15 and 10 in the row of 0, 0 and 5 in the row of 3. Of 30
	// they agree in 20; chance agrees in (25*15 + 5*15)/30 = 15.
	kappa := 0.3333
	want := &judge.JudgeAgreement{
		Pairs: 12, Confusion: [4][4]int{{6, 0, 0, 1}, {}, {}, {0, 0, 0, 5}}, Weighted: [4][4]float64{{15, 0, 0, 10}, {}, {}, {0, 0, 0, 5}},
		AUC:   datasets.Interval{Value: 0.8, High: 1}, // of the others 15 of 25 below, 10 alike
		Kappa: kappa, Quadratic: kappa, Binary: []judge.Binary{{Threshold: 1, Kappa: kappa}, {Threshold: 2, Kappa: kappa}, {Threshold: 3, Kappa: kappa}},
	}
	if diff := cmp.Diff(want, got.Judge); diff != "" {
		t.Error(diff)
	}
}

func TestTrustInRaisesTrustOnlyWhereQueriesAllow(t *testing.T) {
	p := prior(t)
	labels := judge.Labels{Pairs: 10, Outside: 2}
	for before, want := range map[string]string{
		datasets.TrustNone: datasets.TrustNone, datasets.TrustSourceOnly: datasets.TrustPrior,
		datasets.TrustJudged: datasets.TrustPrior, datasets.TrustReviewed: datasets.TrustReviewed,
	} {
		got := p.TrustIn(datasets.Trust{Level: before, Why: "queries"}, labels)
		if got.Level != want || got.Figures["label_pairs"] != 10 || got.Figures["label_auc"] != p.Figures.AUC.Value {
			t.Errorf("%s: %+v", before, got)
		}
		if again := p.TrustIn(got, labels); cmp.Diff(got, again) != "" {
			t.Errorf("%s: labelled again: %s", before, cmp.Diff(got, again))
		}
	}
}

func TestShiftsIn(t *testing.T) {
	p := prior(t)
	set := judge.Labels{Cases: []datasets.Case{{Origin: datasets.OriginSynthetic}}}
	figures := p.TrustIn(datasets.Trust{Level: datasets.TrustSourceOnly}, set).Figures
	const level = 0.5
	greatest := 0.0
	for _, s := range p.ShiftFor(set.Cases) {
		shifts, want := judge.ShiftsIn(figures, datasets.SourceMode(s.Source)), s.Variance
		if s.Queries == judge.QueriesSynthetic {
			want *= level * level
		}
		got := judge.ShiftOf(shifts, s.Metric, level)
		if d := got - want; d > 1e-4 || d < -1e-4 {
			t.Errorf("%s, %s: %v, want %v", s.Metric, s.Source, got, want)
		}
		if s.Source == "in" {
			greatest = max(greatest, got)
		}
	}
	if got := judge.ShiftOf(judge.ShiftsIn(figures, datasets.SourceIn), "rbp", level); got != greatest || got == 0 {
		t.Errorf("a measure that was not measured: %v, want the greatest, %v", got, greatest)
	}
	table := map[string]float64{"ndcg@5": 0.1, "ndcg@10": 0.3, "mrr": 0.2, "success@1": 0.9}
	for metric, want := range map[string]float64{"ndcg@5": 0.1, "ndcg@20": 0.3, "mrr@10": 0.2, "rbp": 0.9} {
		if got := judge.ShiftOf(table, metric, level); got != want {
			t.Errorf("%s: %v, want %v", metric, got, want)
		}
	}
	if got := judge.ShiftsIn(map[string]float64{"canary_auc": 0.9}, datasets.SourceIn); got != nil {
		t.Errorf("a set without a label model: %v", got)
	}
	if got := judge.ShiftOf(nil, "ndcg@10", level); got != 0 {
		t.Errorf("no shift variances: %v", got)
	}
}

// TestShiftFor: a set gets what holds for whoever wrote its queries.
func TestShiftFor(t *testing.T) {
	of := func(metric, queries string, variance float64) judge.ShiftVariance {
		return judge.ShiftVariance{Metric: metric, Source: "in", Queries: queries, Variance: variance}
	}
	byPeople, byModel := of("ndcg@10", "human", 1), of("ndcg@10", "synthetic", 2)
	mrrPeople, mrrModel := of("mrr", "human", 4), of("mrr", "synthetic", 3)
	both := []judge.ShiftVariance{byPeople, mrrPeople, byModel, mrrModel}
	old := []judge.ShiftVariance{of("ndcg@10", "", 1), of("mrr", "", 4)} // did not say whose queries
	for name, tt := range map[string]struct {
		shift   []judge.ShiftVariance
		origins []string
		want    []judge.ShiftVariance
	}{
		"synthetic":                {both, []string{"synthetic"}, []judge.ShiftVariance{byModel, mrrModel}},
		"people's":                 {both, []string{"human", "log"}, []judge.ShiftVariance{byPeople, mrrPeople}},
		"mixed":                    {both, []string{"log", "synthetic"}, both},
		"imported, by whoever":     {both, []string{"imported"}, both},
		"no case":                  {both, nil, both},
		"people's, older profile":  {old, []string{"human"}, old},
		"synthetic, older profile": {old, []string{"synthetic"}, old},
		"a retired one besides":    {both, []string{"human", "retired"}, []judge.ShiftVariance{byPeople, mrrPeople}},
	} {
		var cases []datasets.Case
		for _, origin := range tt.origins {
			c := datasets.Case{Origin: origin, Status: datasets.Active}
			if origin == "retired" {
				c = datasets.Case{Origin: datasets.OriginSynthetic, Status: datasets.Retired}
			}
			cases = append(cases, c)
		}
		p := judge.Profile{Shift: tt.shift}
		if diff := cmp.Diff(tt.want, p.ShiftFor(cases)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestProfileOfUnknownQueriesIsRefused(t *testing.T) {
	p := prior(t)
	p.Shift = []judge.ShiftVariance{{Metric: "mrr", Source: "in", Queries: "parrots"}}
	if err := p.Validate(); !errors.Is(err, judge.ErrProfile) || !strings.Contains(err.Error(), "parrots") {
		t.Errorf("%v", err)
	}
}

// TestScaleModelShift: what comes with synthetic queries stays.
func TestScaleModelShift(t *testing.T) {
	people := func(queries string, variance float64) judge.ShiftVariance {
		return judge.ShiftVariance{Metric: "map", Queries: queries, Variance: variance}
	}
	synthetic := func(variance, model float64) judge.ShiftVariance {
		return judge.ShiftVariance{Metric: "map", Queries: "synthetic", Variance: variance, Model: model}
	}
	got := judge.ScaleModelShift([]judge.ShiftVariance{people("human", 0.002), people("", 0.004), synthetic(0.05, 0.02), synthetic(0.03, 0)}, 0.5)
	want := []judge.ShiftVariance{people("human", 0.001), people("", 0.002), synthetic(0.04, 0.01), synthetic(0.03, 0)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestShiftOfBothKinds: of two kinds of queries the greater holds, and that of
// synthetic ones goes with the level of the means. What an earlier labelling of
// the set wrote is gone.
func TestShiftOfBothKinds(t *testing.T) {
	p := prior(t)
	p.Shift = []judge.ShiftVariance{
		{Metric: "ndcg@10", Source: "in", Queries: "human", Variance: 0.01}, {Metric: "ndcg@10", Source: "in", Queries: "synthetic", Variance: 0.09},
	}
	before := datasets.Trust{Level: datasets.TrustSourceOnly, Figures: map[string]float64{"shift_sd mrr in": 9, "canary_auc": 0.8}}
	figures := p.TrustIn(before, judge.Labels{Cases: []datasets.Case{{Origin: datasets.OriginHuman}, {Origin: datasets.OriginSynthetic}}}).Figures
	shifts := judge.ShiftsIn(figures, datasets.SourceIn)
	if diff := cmp.Diff(map[string]float64{"ndcg@10": 0.1 * 0.1, "ndcg@10/level": 0.3 * 0.3}, shifts, cmpopts.EquateApprox(0, 1e-12)); diff != "" || figures["canary_auc"] != 0.8 {
		t.Error(diff, figures)
	}
	for level, want := range map[float64]float64{0.1: 0.01, 0.5: 0.0225, 1: 0.09} {
		for _, metric := range []string{"ndcg@10", "ndcg@5", "map"} {
			if got := judge.ShiftOf(shifts, metric, level); got < want-1e-12 || got > want+1e-12 {
				t.Errorf("%s at %v: %v, want %v", metric, level, got, want)
			}
		}
	}
}
