package judge_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

func prior(t testing.TB) *judge.Profile {
	t.Helper()
	p, err := judge.Prior()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPriorIsShippedWhole(t *testing.T) {
	p := prior(t)
	if diff := cmp.Diff([]string{"cranfield", "cacm", "cisi"}, p.Training.From); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(judge.PriorFeatures(), p.Model.Features); diff != "" {
		t.Error(diff)
	}
	if p.Level != judge.LevelPrior || p.Training.Pairs == 0 || !strings.HasPrefix(p.Training.Digest, datasets.DigestPrefix) {
		t.Errorf("provenance: %+v", p.Training)
	}
	if p.Figures.AUC.Low < 0.65 {
		t.Errorf("AUC %+v on collections left out: docs/trust.md says more", p.Figures.AUC)
	}
}

// TestPriorPutsWhatAllFindFirst: a chunk that every retriever has first is
// likelier than one that a single retriever has at rank 60, and that than one
// which none returned.
func TestPriorPutsWhatAllFindFirst(t *testing.T) {
	pool := []map[string]float64{{"random": 1}}
	for rank := 1; rank <= 60; rank++ {
		seen := map[string]float64{}
		for _, member := range judge.Voters() {
			if rank <= 10 || member == "ngram" {
				seen["rank_"+member], seen["score_"+member] = float64(rank), 1/float64(rank)
			}
		}
		pool = append(pool, seen)
	}
	m := prior(t).Model
	x := judge.Vectors(m.Features, pool)
	first, sixtieth, random := m.Probability(x[1]).P, m.Probability(x[60]).P, m.Probability(x[0]).P
	if !(first > 2*sixtieth && sixtieth > random && random < 0.1) {
		t.Errorf("p of the first %v, of rank 60 of one %v, of a random one %v", first, sixtieth, random)
	}
}

func TestProfileSurvivesBeingKept(t *testing.T) {
	p := prior(t)
	data, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := judge.ParseProfile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, back); diff != "" {
		t.Error(diff)
	}
}

func TestProfilesThatCannotBeUsedAreRefusedByName(t *testing.T) {
	change := func(old, by string) string {
		data, err := prior(t).JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), old) {
			t.Fatalf("no %s in the profile", old)
		}
		return strings.Replace(string(data), old, by, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "judge profile: EOF"},
		"cut short":         {change("}", "")[:400], "judge profile: unexpected EOF"},
		"another format":    {change(`"format": 2`, `"format": 9`), "judge profile: format 9, this goldgen reads 2"},
		"other features":    {change(judge.FeatureVersion, "chunk-only/7"), "judge profile: made for features chunk-only/7, this goldgen computes " + judge.FeatureVersion},
		"an unknown one":    {change(`"votes"`, `"mood"`), `judge profile: feature "mood" is not one that this goldgen computes`},
		"no level":          {change(`"level": "prior"`, `"level": "best"`), `judge profile: level "best": want prior or fitted`},
		"an unknown key":    {change(`"penalty"`, `"fee"`), `judge profile: json: unknown field "fee"`},
		"a coefficient off": {change(`"scale": [`, `"scale": [1,`), "judge profile: scale: 12 numbers for 11 features"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := judge.ParseProfile(strings.NewReader(c.text))
			if err == nil || err.Error() != c.want || !errors.Is(err, judge.ErrProfile) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestProfileIsBoundToItsEmbedderAndJudge(t *testing.T) {
	p := *prior(t)
	if err := p.CheckUse("", ""); err != nil {
		t.Errorf("the prior needs neither: %v", err)
	}
	p.Model.Features = append([]string{"dense_z"}, p.Model.Features[1:]...)
	p.Embedder = "aaaa"
	if err := p.CheckUse("bbbb", ""); !errors.Is(err, judge.ErrProfile) || !strings.Contains(err.Error(), "aaaa") || !strings.Contains(err.Error(), "bbbb") {
		t.Errorf("another embedder: %v", err)
	}
	p.Model.Features[0], p.Judge = "p_yes", "ollama/a"
	if err := p.CheckUse("", "ollama/b"); !errors.Is(err, judge.ErrProfile) || !strings.Contains(err.Error(), "ollama/b") {
		t.Errorf("another judge: %v", err)
	}
}

func FuzzParseProfile(f *testing.F) {
	p, err := judge.Prior()
	if err != nil {
		f.Fatal(err)
	}
	data, err := p.JSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := judge.ParseProfile(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, judge.ErrProfile) {
				t.Errorf("%v is no ErrProfile", err)
			}
			return
		}
		x := make([]float64, len(p.Model.Features))
		if got := p.Model.Probability(x); got.P < 0 || got.P > 1 || math.IsNaN(got.P) {
			t.Errorf("p is %v", got.P)
		}
	})
}

func TestFiguresOf(t *testing.T) {
	predicted := []judge.Predicted{
		{Query: "a", P: 0.9, Relevant: true, Weight: 1}, {Query: "a", P: 0.2, Weight: 1},
		{Query: "b", P: 0.6, Weight: 1}, {Query: "b", P: 0.4, Relevant: true, Weight: 2},
	}
	got := judge.FiguresOf(predicted, 1)
	// Of relevant weight 3 and other weight 2: pairs ordered right are .9 over .2
	// and .6 (2) and, twice, .4 over .2 (2), of 3 x 2.
	want := judge.Figures{
		Pairs: 4, Queries: 2, Share: 0.6,
		AUC:         datasets.Interval{Value: 0.6667, High: 1},
		Brier:       datasets.Interval{Value: datasets.Round((0.01 + 0.04 + 0.36 + 2*0.36) / 5), High: 1},
		Sensitivity: datasets.Interval{Value: 0.3333, High: 1},
		Specificity: datasets.Interval{Value: 0.5, High: 1},
		Reliability: []judge.Bin{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFiguresCoverTheTruth: over 100 sets of predictions whose AUC is known, the
// interval holds it in 95 % of them, less what 100 sets can tell.
func TestFiguresCoverTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	truth := judge.AUC(normalPredictions(rng, 2000))
	covered := 0
	for range 100 {
		f := judge.FiguresOf(normalPredictions(rng, 40), 1)
		if f.AUC.Low <= truth && truth <= f.AUC.High {
			covered++
		}
	}
	if covered < 88 {
		t.Errorf("%d of 100 intervals hold the AUC %.4f", covered, truth)
	}
}

func normalPredictions(rng *rand.Rand, queries int) []judge.Predicted {
	var out []judge.Predicted
	for q := range queries {
		ease := rng.NormFloat64() / 2
		for range 8 {
			relevant, x := rng.IntN(4) == 0, rng.NormFloat64()+ease
			if relevant {
				x++
			}
			out = append(out, judge.Predicted{Query: fmt.Sprint(q), P: 1 / (1 + math.Exp(-x)), Relevant: relevant, Weight: 1})
		}
	}
	return out
}

func TestKappa(t *testing.T) {
	differ := func(i, j int) float64 {
		if i == j {
			return 0
		}
		return 1
	}
	// Cohen's kappa of 20, 5, 10, 15 is .4: agreement .7, by chance .5.
	two := [4][4]int{{20, 5}, {10, 15}}
	if got := judge.Kappa(two, differ); math.Abs(got-0.4) > 1e-12 {
		t.Errorf("kappa %v, want .4", got)
	}
	if got := judge.Kappa([4][4]int{{5}, {0, 3}, {0, 0, 2}, {0, 0, 0, 9}}, differ); got != 1 {
		t.Errorf("full agreement: %v", got)
	}
	if got := judge.Kappa([4][4]int{{0, 0, 7}, {0, 0, 9}}, differ); math.Abs(got) > 1e-12 {
		t.Errorf("one grade for everything: %v, want 0", got)
	}
	if got := judge.Kappa([4][4]int{}, differ); got != 0 {
		t.Errorf("no counts: %v", got)
	}
}

// TestScaleShift: labels that find the model right on every retriever shrink the
// shift variance, the more of them the more; labels that find it wrong by .3 on
// one retriever and right on another do not.
func TestScaleShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	shift := []judge.ShiftVariance{
		{Metric: "ndcg@10", Source: "in", Variance: 0.002}, {Metric: "precision@10", Source: "judged", Variance: 0.001},
	}
	scaled := func(labels int, bias float64) float64 {
		var residuals []judge.Residual
		for n := range labels {
			member, p := "a", 0.4
			if n%2 == 0 {
				member, p = "b", 0.4+bias
			}
			value := -0.4
			if rng.Float64() < p {
				value = 0.6
			}
			residuals = append(residuals, judge.Residual{Query: fmt.Sprint(n / 2), Value: value, Weight: 1, Members: []string{member}})
		}
		out := judge.ScaleShift(shift, []judge.ShiftShare{{Labels: 100, Share: 0.9}, {Labels: 200, Share: 0.8}}, residuals, 1)
		if math.Abs(out[1].Variance/out[0].Variance-0.5) > 1e-3 {
			t.Errorf("measures are not scaled alike: %+v", out)
		}
		return out[0].Variance / shift[0].Variance
	}
	few, some, many := scaled(4, 0), scaled(200, 0), scaled(2000, 0)
	if few != 1 || !(some < 0.9) || !(many < some) || !(many > 0) {
		t.Errorf("right: %.3f of 4 labels, %.3f of 200, %.3f of 2000", few, some, many)
	}
	if wrong := scaled(400, 0.3); wrong < 2 {
		t.Errorf("wrong by .3 on one retriever: the shift variance is %.3f of what it was", wrong)
	}
}

// TestScaleShiftReadsWhatOtherCollectionsShowed: labels that say nothing, for
// they are few and their chunks the same for both retrievers, leave the share that
// other collections showed.
func TestScaleShiftReadsWhatOtherCollectionsShowed(t *testing.T) {
	shift := []judge.ShiftVariance{{Metric: "precision@10", Source: "judged", Variance: 0.001}}
	after := []judge.ShiftShare{{Labels: 50, Share: 0.9}, {Labels: 100, Share: 0.7}}
	for labels, want := range map[int]float64{4: 1, 25: 0.95, 50: 0.9, 75: 0.8, 100: 0.7, 300: 0.7} {
		var residuals []judge.Residual
		for n := range labels {
			residuals = append(residuals, judge.Residual{Query: fmt.Sprint(n), Value: 0.4, Weight: 1, Members: []string{"a", "b"}})
		}
		got := judge.ScaleShift(shift, after, residuals, 1)[0].Variance / 0.001
		if math.Abs(got-want) > 0.01 {
			t.Errorf("%d labels: %.3f of the shift variance, want %.3f", labels, got, want)
		}
	}
	if shift[0].Variance != 0.001 {
		t.Errorf("what was handed in became %v", shift[0].Variance)
	}
}

// TestLearningGoesWithTheSet: what a profile knows of more labels is read back from
// the figures of the set that it labelled.
func TestLearningGoesWithTheSet(t *testing.T) {
	prior, err := judge.Prior()
	if err != nil {
		t.Fatal(err)
	}
	prior.ShiftAfter = []judge.ShiftShare{{Labels: 50, Share: 1}, {Labels: 100, Share: .9}, {Labels: 200, Share: .6}}
	fitted := *prior
	fitted.Level, fitted.Training.Pairs = judge.LevelFitted, 100
	for name, tt := range map[string]struct {
		profile            *judge.Profile
		more               int
		wantDraws, wantLft float64
	}{
		"of a prior":           {prior, 100, .8, .9},
		"between two":          {prior, 150, 400. / 550, .75},
		"beyond the curve":     {prior, 400, .5, .6},
		"after a hundred":      {&fitted, 100, 500. / 600, .6 / .9},
		"after all of a curve": {&fitted, 500, .5, .6 / .9},
	} {
		trust := tt.profile.TrustIn(datasets.Trust{Level: datasets.TrustSourceOnly}, judge.Labels{})
		known := judge.LearningIn(trust.Figures)
		if known == nil || cmp.Diff(prior.ShiftAfter, known.ShiftAfter) != "" {
			t.Fatalf("%s: %+v", name, known)
		}
		draws, shift := known.Leave(tt.more)
		if math.Abs(draws-tt.wantDraws) > 1e-12 || math.Abs(shift-tt.wantLft) > 1e-12 {
			t.Errorf("%s: %v of the draws and %v of the shift are left, want %v and %v", name, draws, shift, tt.wantDraws, tt.wantLft)
		}
	}
	if known := judge.LearningIn(map[string]float64{"label_auc": .8}); known != nil {
		t.Errorf("of an older set: %+v", known)
	}
}
