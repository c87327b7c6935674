package eval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

// The p-value of up to 20 changed clusters is the share of sign-flips whose
// mean is as far from 0, counted one by one.
func TestSignFlipsAreCounted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(10, 13).Draw(rt, "clusters")
		tenths := rapid.SliceOfN(rapid.IntRange(0, 10), 2*n, 2*n).Draw(rt, "recall")
		values := make([]float64, 2*n)
		diffs := make([]int, n)
		for i, x := range tenths {
			values[i] = float64(x) / 10
		}
		for i := range diffs {
			diffs[i] = tenths[n+i] - tenths[i]
		}
		c := compare(t, eval.CompareInput{Base: ofTopics(withRecall(values[:n]), "recall@10"), Candidate: ofTopics(withRecall(values[n:]), "recall@10")})
		if got, want := *c.Metrics[0].P, flipped(diffs); math.Abs(got-want) > 1e-12 {
			rt.Fatalf("p = %v, want %v for %v", got, want, diffs)
		}
	})
}

func flipped(diffs []int) float64 {
	observed, far := 0, 0
	for _, d := range diffs {
		observed += d
	}
	for signs := range 1 << len(diffs) {
		sum := 0
		for i, d := range diffs {
			sum += d * (2*(signs>>i&1) - 1)
		}
		if max(sum, -sum) >= max(observed, -observed) {
			far++
		}
	}
	return float64(far) / float64(int(1)<<len(diffs))
}

// 25 of 40 cases changed, 20 for the better: as many heads or more come up in
// 2 * 0.00204 of 25 throws of a coin.
func TestDrawnSignFlipsAreNearTheTruth(t *testing.T) {
	base, candidate := sides(40, 5).Candidate, sides(40, 0).Candidate
	for i := 20; i < 40; i++ {
		base.Cases[i].Ranking, base.Cases[i].Scores = []string{"x1", "a"}, nil
	}
	for i := range 5 {
		base.Cases[i], candidate.Cases[i] = candidate.Cases[i], base.Cases[i]
	}
	c := compare(t, eval.CompareInput{Base: base, Candidate: candidate, Seed: 3})
	d, _ := c.Metrics.Get("recall@1")
	near(t, "p", *d.P, 0.00408, 0.0008) // four standard errors
	if d.Better != 20 || d.Worse != 5 || d.Same != 15 {
		t.Errorf("%d better, %d worse, %d same", d.Better, d.Worse, d.Same)
	}
}

func TestSidesAreMirrored(t *testing.T) {
	in := sides(50, 12)
	there, _ := compare(t, in).Metrics.Get("recall@1")
	in.Base, in.Candidate = in.Candidate, in.Base
	back, _ := compare(t, in).Metrics.Get("recall@1")
	near(t, "difference", *back.Difference, -*there.Difference, 0)
	if *back.P != *there.P || back.Better != there.Worse || *back.SmallestDetectable != *there.SmallestDetectable {
		t.Errorf("there %+v, back %+v", there, back)
	}
}

// 12 of 48 cases worse by 1: the variance of the mean is .25 * .75 / 47, the t
// quantiles at 47 degrees of freedom are 2.0117 and .8493.
func TestSmallestDetectableDifference(t *testing.T) {
	d, _ := compare(t, sides(48, 12)).Metrics.Get("recall@1")
	near(t, "smallest detectable", *d.SmallestDetectable, (2.0117+0.8493)*math.Sqrt(0.25*0.75/47), 2e-5)
	near(t, "effect size", *d.EffectSize, -0.25/math.Sqrt(0.25*0.75*48/47), 1e-9)
}

func TestHolmOverMeasuresAndOverADimension(t *testing.T) {
	in := sides(60, 20)
	for i := range 8 { // of those, some are not found in five either
		in.Candidate.Cases[i].Ranking, in.Candidate.Cases[i].Scores = []string{"x1"}, nil
	}
	in.Base.Dimensions = []eval.Dimension{eval.NewDimension("half", 60, func(i int) []string { return []string{[]string{"a", "b"}[i%2]} })}
	c := compare(t, in)
	checkHolm(t, c.Metrics)
	var family eval.Differences
	for _, s := range c.Slices.Get("half") {
		family = append(family, s.Metrics...)
	}
	if len(family) != 4 {
		t.Fatalf("%d tests of slices", len(family))
	}
	checkHolm(t, family)
}

func TestJudgedShareIsNoChange(t *testing.T) {
	in := sides(40, 0)
	in.Base.Measures = must(eval.ParseMeasures("recall@1,judged@5"))
	in.Candidate.Measures = in.Base.Measures
	for i := range 20 {
		in.Candidate.Cases[i].Ranking, in.Candidate.Cases[i].Scores = []string{"a", "unseen"}, nil
	}
	c := compare(t, in)
	j, _ := c.Metrics.Get("judged@5")
	if c.Changed != 0 || j.Worse != 20 || j.P == nil || j.PHolm != nil {
		t.Errorf("%d changed, %+v", c.Changed, j)
	}
	if r, _ := c.Metrics.Get("recall@1"); *r.PHolm != 1 {
		t.Errorf("%+v", r)
	}
}

// checkHolm multiplies the smallest p by the number of tests, the next by one
// less, and never falls.
func checkHolm(t *testing.T, family eval.Differences) {
	t.Helper()
	sorted := slices.SortedFunc(slices.Values(family), func(a, b eval.NamedDifference) int { return int(1e9 * (*a.P - *b.P)) })
	last := 0.0
	for i, d := range sorted {
		last = max(last, min(1, *d.P*float64(len(sorted)-i)))
		if math.Abs(*d.PHolm-last) > 1e-12 {
			t.Errorf("%s: p %v, after Holm %v, want %v", d.Name, *d.P, *d.PHolm, last)
		}
	}
}

func TestTheSameOnAnyNumberOfProcessors(t *testing.T) {
	cases := 3000
	if testing.Short() {
		cases = 1100 // two blocks still
	}
	for _, draws := range []bool{false, true} {
		base, candidate := generated(cases, 10, draws), generated(cases, 10, draws)
		for i := range candidate.Cases {
			slices.Reverse(candidate.Cases[i].Ranking)
			candidate.Cases[i].Scores = nil
		}
		base.Dimensions = base.Dimensions[:1]
		in := eval.CompareInput{Base: base, Candidate: candidate, Seed: 5}
		in.Gates = gates(t, "recall@5 drop <= 0.02", "ndcg@10 >= 0.3")
		in.Candidate.Trust, in.Base.Trust = "reviewed", "reviewed"
		before := runtime.GOMAXPROCS(1)
		one := compare(t, in)
		runtime.GOMAXPROCS(7)
		seven := compare(t, in)
		runtime.GOMAXPROCS(before)
		if diff := cmp.Diff(one, seven); diff != "" {
			t.Errorf("draws %v: %s", draws, diff)
		}
	}
}

func TestAMeasuresNumbersDoNotDependOnTheOthers(t *testing.T) {
	in := sides(50, 12)
	want, _ := compare(t, in).Metrics.Get("recall@1")
	in.Base.Measures = must(eval.ParseMeasures("mrr,ndcg@5,recall@1"))
	in.Candidate.Measures = in.Base.Measures
	got, _ := compare(t, in).Metrics.Get("recall@1")
	got.PHolm = want.PHolm // of a larger family
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Probabilities of 0 and 1 say what grades say.
func TestSureProbabilitiesCompareAsGrades(t *testing.T) {
	in := sides(60, 20)
	in.Shift = func(m eval.Measure, _ float64) float64 { t.Errorf("asked for the shift of %s", m.Name); return 1 }
	want := compare(t, in)
	for i := range in.Base.Cases {
		both(&in, i, func(c *eval.Case) {
			c.Labels = slices.Clone(c.Labels)
			for j, l := range c.Labels {
				c.Labels[j] = eval.Label{ID: l.ID, Grade: eval.Unknown, Uncertain: &eval.Probability{P: float64(min(l.Grade, 1))}}
			}
		})
	}
	if diff := cmp.Diff(want, compare(t, in)); diff != "" {
		t.Error(diff)
	}
}

// uncertainSides are sides whose found item is relevant with probability .9
// under most coefficients, and .7 under one.
func uncertainSides() eval.CompareInput {
	in := sides(60, 20)
	draws := append(slices.Repeat([]float64{0.9}, 19), 0.7)
	for i := range in.Base.Cases {
		both(&in, i, func(c *eval.Case) {
			c.Labels = append(c.Labels, eval.Label{ID: "b", Grade: 3})
			c.Labels[0] = eval.Label{ID: "a", Uncertain: &eval.Probability{P: 0.89, Draws: draws}}
		})
	}
	return in
}

func TestUncertainLabelsCompared(t *testing.T) {
	in := uncertainSides()
	c := compare(t, in)
	d, _ := c.Metrics.Get("recall@1")
	// Found late in 20 of 60 cases: half a recall lost where a is relevant.
	near(t, "difference", *d.Difference, -20.0/60*0.89/2, 0.01)
	if !strings.HasPrefix(c.Method, "uncertain labels: 20 draws") || *d.LabelShare <= 0 || *d.LabelShare >= 1 {
		t.Errorf("method %q, label share %v", c.Method, *d.LabelShare)
	}
	if *d.P > 0.01 || *d.Low > *d.Difference || *d.High < *d.Difference {
		t.Errorf("%v [%v, %v], p %v", *d.Difference, *d.Low, *d.High, *d.P)
	}
	// The first results differ in 20 of 60 cases: a root of .3 counts as .1.
	in.Shift = func(eval.Measure, float64) float64 { return 0.09 }
	in.Gates = gates(t, "recall@1 drop <= 0.02")
	shifted := compare(t, in)
	s, _ := shifted.Metrics.Get("recall@1")
	if *s.High-*s.Low < 0.39 || *s.P < 0.05 || *s.LabelShare < 0.8 || *s.Difference != *d.Difference {
		t.Errorf("with a shift: %v [%v, %v], p %v, label share %v", *s.Difference, *s.Low, *s.High, *s.P, *s.LabelShare)
	}
	checkGates(t, shifted.Gates, decided{"recall@1 drop <= 0.02", "", eval.CannotTell, "not for sure worse"})
	in.Shift = func(m eval.Measure, level float64) float64 {
		d, _ := c.Metrics.Get(m.Name)
		near(t, "level of "+m.Name, level, (*d.Base+*d.Candidate)/2, 1e-12)
		return 0.09
	}
	compare(t, in)
	in.Shift = nil
	checkGates(t, compare(t, in).Gates, decided{"recall@1 drop <= 0.02", "", eval.Fail, "worse by more than the margin of 0.02"})
}

// TestWhatLabelsWouldBuy: what labels leave of the draws' and of the shift variance
// is weighed by what each is of the whole, and the width goes with the root.
func TestWhatLabelsWouldBuy(t *testing.T) {
	in := uncertainSides()
	in.Shift = func(eval.Measure, float64) float64 { return 0.09 }
	plain := compare(t, in).Labels
	if plain == nil || plain.Metric != "recall@1" || plain.ShiftShare <= 0.5 || plain.ShiftShare >= plain.Share || plain.Third != nil || plain.After != nil {
		t.Fatalf("without a curve: %+v", plain)
	}
	rest, draws := 1-plain.Share, plain.Share-plain.ShiftShare
	for name, tt := range map[string]struct {
		leave func(int) (float64, float64)
		third bool
		at200 float64
	}{
		"nothing is left": {func(int) (float64, float64) { return 0, 0 }, true, rest},
		"all is left":     {func(int) (float64, float64) { return 1, 1 }, false, 1},
		"only the shift":  {func(int) (float64, float64) { return 0, 1 }, false, rest + plain.ShiftShare},
		"half of both":    {func(n int) (float64, float64) { return 100 / float64(100+n), 0.5 }, false, rest + draws/3 + plain.ShiftShare/2},
	} {
		in.LabelsLeave = tt.leave
		got := compare(t, in).Labels
		if len(got.After) != 3 || got.After[2].Labels != 200 || (got.Third != nil) != tt.third {
			t.Fatalf("%s: %+v", name, got)
		}
		near(t, name, got.After[2].Width, math.Sqrt(tt.at200), 1e-12)
	}
	if c := compare(t, sides(60, 20)); c.Labels != nil {
		t.Errorf("certain labels: %+v", c.Labels)
	}
}

func TestCriticalCasesWithUncertainLabels(t *testing.T) {
	in := uncertainSides()
	in.Gates = gates(t, "critical failures@1 = 0")
	critical(3)(&in)
	why := func() string { return fmt.Sprint(compare(t, in).Gates[0].Verdict, ": ", compare(t, in).Gates[0].Why) }
	if got := why(); !strings.HasPrefix(got, "fail: 1 critical failure: case q003") {
		t.Error(got) // x1 is first, nobody says that it is relevant
	}
	critical(30)(&in)
	in.Candidate.Cases[3].Ranking, in.Candidate.Cases[3].Scores = []string{"b"}, nil
	if got := why(); !strings.HasPrefix(got, "cannot_tell: 1 of 2 critical cases are not sure: case q030: something relevant is in the top with probability 0.") {
		t.Error(got)
	}
}

func TestJudgedShare(t *testing.T) {
	unjudged := func(side *eval.Input, cases int) {
		for i := range cases {
			side.Cases[i].Ranking[0], side.Cases[i].Scores = "nobody looked at this", nil
		}
	}
	for name, tt := range map[string]struct {
		base, candidate int // cases of 100 whose first result is unjudged
		golden          bool
		trust           string
		verdict, why    string
	}{
		"all judged":     {0, 0, true, "reviewed", eval.Pass, ""},
		"few unjudged":   {5, 5, true, "reviewed", eval.Pass, ""},
		"too few judged": {6, 5, true, "reviewed", eval.CannotTell, "judged@1 is 0.940 (base) and 0.950 (candidate): below 0.95; label them with: goldgen judge --extend handbook@v3 --from RESULT..."},
		"too different":  {0, 3, true, "reviewed", eval.CannotTell, "judged@1 is 1.000 (base) and 0.970 (candidate): they differ by more than 0.02; label"},
		"source only":    {6, 6, true, "source_only", eval.Pass, "below 0.95"},
		"qrels":          {6, 6, false, "reviewed", eval.Pass, "judged@1 is 0.940 (base) and 0.940 (candidate): below 0.95"},
	} {
		in := sides(100, 0)
		unjudged(&in.Base, tt.base)
		unjudged(&in.Candidate, tt.candidate)
		in.Base.Trust, in.Candidate.Trust = tt.trust, tt.trust
		if !tt.golden {
			in.Base.Golden, in.Candidate.Golden = nil, nil
		}
		in.Candidate.Cases[99].Scores = nil
		in.Candidate.Cases[99].Ranking = []string{"a", "x1"} // not the same rankings
		in.Gates = gates(t, "recall@1 drop <= 0.2")
		c := compare(t, in)
		said := c.Gates[0].Why + strings.Join(c.Notes, "\n")
		if c.Verdict != tt.verdict || !strings.Contains(said, tt.why) || (tt.why == "" && strings.Contains(said, "judged@")) {
			t.Errorf("%s: %s: %s", name, c.Verdict, said)
		}
	}
}

func TestUnjudgedResultsDoNotMatterWhereNothingDiffers(t *testing.T) {
	in := sides(40, 0)
	for i := range in.Base.Cases {
		both(&in, i, func(c *eval.Case) { c.Ranking = []string{"unseen"}; c.Scores = nil })
	}
	in.Gates = gates(t, "recall@1 drop <= 0")
	if c := compare(t, in); c.Verdict != eval.Pass || c.Changed != 0 || !slices.Contains(c.Notes, "0 of 40 cases changed") {
		t.Errorf("%s: %+v, %q", c.Verdict, c.Gates, c.Notes)
	}
}

func TestSettingsThatDiffer(t *testing.T) {
	ref := func(kind string, settings ...string) eval.RetrieverRef {
		r := eval.RetrieverRef{Spec: "mine", Name: "mine", Kind: kind, Config: map[string]any{}}
		for _, s := range settings {
			key, value, _ := strings.Cut(s, "=")
			r.Config[key] = value
		}
		return r
	}
	for name, tt := range map[string]struct {
		base, candidate eval.RetrieverRef
		want            []eval.Setting
		warned          bool
	}{
		"none": {ref("bm25", "k1=0.9"), ref("bm25", "k1=0.9"), []eval.Setting{}, false},
		"one":  {ref("bm25", "k1=0.9", "b=0.4"), ref("bm25", "k1=1.2", "b=0.4"), []eval.Setting{{Name: "k1", Base: "0.9", Candidate: "1.2"}}, false},
		"two": {ref("bm25", "k1=0.9", "b=0.4"), ref("bm25", "k1=1.2", "b=0.7"),
			[]eval.Setting{{Name: "b", Base: "0.4", Candidate: "0.7"}, {Name: "k1", Base: "0.9", Candidate: "1.2"}}, true},
		"another kind": {ref("bm25", "k1=0.9"), ref("dense", "embedding=e"),
			[]eval.Setting{{Name: "kind", Base: "bm25", Candidate: "dense"}, {Name: "embedding", Candidate: "e"}, {Name: "k1", Base: "0.9"}}, false},
		"files": {eval.RetrieverRef{Spec: "run:a"}, eval.RetrieverRef{Spec: "run:b"}, []eval.Setting{{Name: "spec", Base: "run:a", Candidate: "run:b"}}, false},
	} {
		in := sides(20, 5)
		in.Base.Retriever, in.Candidate.Retriever = tt.base, tt.candidate
		c := compare(t, in)
		if diff := cmp.Diff(tt.want, c.Settings); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if warned := strings.Contains(strings.Join(c.Notes, "\n"), "settings of the retrievers differ"); warned != tt.warned {
			t.Errorf("%s: notes %q", name, c.Notes)
		}
	}
}

func TestFeaturesOfTheLabelModelAreMarked(t *testing.T) {
	for name, tt := range map[string]struct {
		ref    eval.RetrieverRef
		marked bool
	}{
		"bm25":        {eval.RetrieverRef{Spec: "bm25"}, true},
		"named":       {eval.RetrieverRef{Spec: "prod", Kind: "dense"}, true},
		"http":        {eval.RetrieverRef{Spec: "http:localhost"}, false},
		"hybrid":      {eval.RetrieverRef{Spec: "hybrid", Config: map[string]any{"member.a.kind": "bm25", "member.b.kind": "lsa"}}, true},
		"half hybrid": {eval.RetrieverRef{Spec: "hybrid", Config: map[string]any{"member.a.kind": "bm25", "member.b.kind": "qdrant"}}, false},
	} {
		for _, in := range []eval.CompareInput{uncertainSides(), sides(20, 5)} {
			in.Candidate.Retriever = tt.ref
			c := compare(t, in)
			want := tt.marked && strings.HasPrefix(c.Method, "uncertain")
			if got := strings.Contains(strings.Join(c.Notes, "\n"), "own feature: "); got != want {
				t.Errorf("%s with %s: notes %q", name, c.Method, c.Notes)
			}
		}
	}
}

func TestSaturationIsSaid(t *testing.T) {
	in := sides(20, 0)
	if c := compare(t, in); !slices.Contains(c.Notes, "recall@5 is so near 1 on both sides that these cases cannot show a regression") {
		t.Errorf("notes %q", c.Notes)
	}
	in = sides(20, 5)
	in.Base.Measures = must(eval.ParseMeasures("mrr"))
	in.Candidate.Measures = in.Base.Measures
	if c := compare(t, in); strings.Contains(strings.Join(c.Notes, "\n"), "so near 1") {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestCasesOfAComparison(t *testing.T) {
	in := sides(12, 1)
	in.PerCase = true
	in.Gates = gates(t, "critical failures = 0") // its measure is not shown
	c := compare(t, in)
	want := eval.CaseDifference{
		CaseID: "q000", Base: eval.Values{{Name: "recall@1", Value: 1}, {Name: "recall@5", Value: 1}},
		Candidate: eval.Values{{Name: "recall@1", Value: 0}, {Name: "recall@5", Value: 1}},
	}
	if diff := cmp.Diff(want, c.PerCase[0]); diff != "" {
		t.Error(diff)
	}
	if len(c.PerCase) != 12 || c.Changed != 1 {
		t.Errorf("%d cases, %d changed", len(c.PerCase), c.Changed)
	}
}

func TestTotalsAndGeometricMeansAreNotTested(t *testing.T) {
	in := sides(20, 5)
	in.Base.Measures = must(eval.ParseMeasures("num_rel_ret,gm_map"))
	in.Candidate.Measures = in.Base.Measures
	c := compare(t, in)
	total, _ := c.Metrics.Get("num_rel_ret")
	gm, _ := c.Metrics.Get("gm_map")
	if *total.Base != 20 || *total.Difference != 0 || total.P != nil || total.Why != "a total" {
		t.Errorf("%+v", total)
	}
	near(t, "gm_map", *gm.Candidate, math.Pow(1.0/3, 5.0/20), 1e-12)
	if gm.P != nil || gm.Why != "a geometric mean" {
		t.Errorf("%s", must(json.Marshal(gm)))
	}
}
