package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/judge"
)

func TestVectors(t *testing.T) {
	pool := []map[string]float64{
		{"rank_bm25": 1, "score_bm25": 8, "rank_lsa": 2, "score_lsa": 0.4, "cohesion": 0.5},
		{"rank_bm25": 2, "score_bm25": 4, "rank_lsa": 1, "score_lsa": 0.8, "cohesion": 0.1, "expected_grade": 1.5},
		{"rank_bm25": 40, "score_bm25": 2},
		{"random": 1},
	}
	names := []string{"bm25_z", "bm25_best", "bm25_log_rank", "lsa_best", "dense_z", "votes", "cohesion", "expected_grade"}
	nan := math.NaN()
	s := math.Sqrt(8) // of 8 and 4
	c := math.Sqrt(0.08)
	want := [][]float64{
		{2 / s, 1, 0, 0.5, nan, 2. / 3, 0.2 / c, nan},
		{-2 / s, 0.5, math.Log(2), 1, nan, 2. / 3, -0.2 / c, 1.5},
		{-4 / s, 0.25, math.Log(40), nan, nan, 0, nan, nan},
		{nan, nan, nan, nan, nan, 0, nan, nan},
	}
	got := judge.Vectors(names, pool)
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

// TestRelativeFeaturesForgetTheScale: another embedder's cosines, stretched and
// shifted, give the same z.
func TestRelativeFeaturesForgetTheScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		factor, shift := rapid.Float64Range(0.1, 9).Draw(t, "factor"), rapid.Float64Range(-3, 3).Draw(t, "shift")
		var pool, other []map[string]float64
		for i := range n {
			score := rapid.Float64Range(0, 1).Draw(t, "score")
			pool = append(pool, map[string]float64{"rank_lsa": float64(i + 1), "score_lsa": score})
			other = append(other, map[string]float64{"rank_lsa": float64(i + 1), "score_lsa": score*factor + shift})
		}
		names := []string{"lsa_z"}
		a, b := judge.Vectors(names, pool), judge.Vectors(names, other)
		for i := range a {
			if !math.IsNaN(a[i][0]) && math.Abs(a[i][0]-b[i][0]) > 1e-3*math.Max(1, math.Abs(a[i][0])) {
				if spread(pool) > 1e-6 {
					t.Fatalf("pair %d: %v and %v", i, a[i][0], b[i][0])
				}
			}
		}
	})
}

func spread(pool []map[string]float64) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, seen := range pool[:min(10, len(pool))] {
		least, most = min(least, seen["score_lsa"]), max(most, seen["score_lsa"])
	}
	return most - least
}

// simulated makes pairs of two features whose log-odds are intercept + 2 a - b;
// b is missing for a quarter of them, whose log-odds are 1 + 2 a.
func simulated(rng *rand.Rand, queries, each int, intercept float64) []judge.LabelledPair {
	var pairs []judge.LabelledPair
	for q := range queries {
		for range each {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			p := 1 / (1 + math.Exp(-(intercept + 2*a - b)))
			if rng.IntN(4) == 0 {
				p, b = 1/(1+math.Exp(-(1+2*a))), math.NaN()
			}
			pairs = append(pairs, judge.LabelledPair{
				Query: fmt.Sprint(q), X: []float64{a, b}, Relevant: rng.Float64() < p, Weight: 1,
			})
		}
	}
	return pairs
}

func TestFitPriorFindsTheCoefficients(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	collections := [][]judge.LabelledPair{simulated(rng, 200, 20, -1), simulated(rng, 100, 20, -1)}
	m, err := judge.FitPrior(collections, judge.PriorOptions{Features: []string{"a", "b"}, Penalty: 0.1, Pairs: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 1}, {1, -1}} {
		want := 1 / (1 + math.Exp(-(-1 + 2*x[0] - x[1])))
		if got := m.Probability(x[:]); math.Abs(got.P-want) > 0.1 {
			t.Errorf("at %v: %.3f, want about %.3f", x, got.P, want)
		}
	}
	if missing := m.Probability([]float64{0, math.NaN()}); math.Abs(missing.P-0.73) > 0.1 {
		t.Errorf("with b missing: %.3f, want about .73: missing is no value", missing.P)
	}
}

func TestProbabilityIsTheMeanOfItsDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	m, err := judge.FitPrior([][]judge.LabelledPair{simulated(rng, 40, 10, 0)}, judge.PriorOptions{Features: []string{"a", "b"}, Penalty: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{{0, 0}, {2, -1}, {50, math.NaN()}} {
		got, sum := m.Probability(x), 0.0
		for _, p := range got.Draws {
			sum += p
		}
		if len(got.Draws) != judge.DrawCount || math.Abs(got.P-sum/judge.DrawCount) > 5e-5 {
			t.Errorf("at %v: p %v of %d draws with mean %v", x, got.P, len(got.Draws), sum/judge.DrawCount)
		}
	}
	if out := m.Probability([]float64{50, 0}); out.Outside != 1 || cmp.Diff(out.Draws, m.Probability([]float64{m.High[0], 0}).Draws) != "" {
		t.Errorf("far outside of the training range: %+v", out)
	}
}

func TestFitPriorIsSeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pairs := [][]judge.LabelledPair{simulated(rng, 40, 10, 0)}
	fit := func(seed int64) *judge.LabelModel {
		m, err := judge.FitPrior(pairs, judge.PriorOptions{Features: []string{"a", "b"}, Penalty: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if diff := cmp.Diff(fit(1), fit(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Diff(fit(1), fit(2)) == "" {
		t.Error("another seed gives the same model")
	}
	if cmp.Diff(fit(1).Draws[0], fit(1).Draws[1]) == "" {
		t.Error("two coefficient vectors are the same")
	}
}

func TestFitPriorNeedsPairs(t *testing.T) {
	for name, c := range map[string][][]judge.LabelledPair{"no collection": nil, "an empty one": {{}, nil}} {
		if _, err := judge.FitPrior(c, judge.PriorOptions{Features: []string{"a"}, Penalty: 1}); err == nil {
			t.Errorf("%s: fitted", name)
		}
	}
}

// TestFewLabelsDoNotHurt: over 200 draws of labels from a collection that the
// prior's resemble, 20 labels lose nothing to the prior on the mean, and 400
// labels of a collection that differs gain.
func TestFewLabelsDoNotHurt(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	prior, err := judge.FitPrior([][]judge.LabelledPair{simulated(rng, 100, 20, -1.2), simulated(rng, 100, 20, -0.8)},
		judge.PriorOptions{Features: []string{"a", "b"}, Penalty: 1})
	if err != nil {
		t.Fatal(err)
	}
	gain := func(intercept float64, queries, draws int) float64 {
		test, sum := simulated(rng, 200, 20, intercept), 0.0
		for n := range draws {
			own, err := judge.FitOwn(prior, simulated(rng, queries, 2, intercept), judge.OwnOptions{Features: prior.Features, Seed: int64(n)})
			if err != nil {
				t.Fatal(err)
			}
			sum += meanLogLoss(prior, test) - meanLogLoss(own, test)
		}
		return sum / float64(draws)
	}
	if g := gain(-1, 10, 200); g < -0.002 {
		t.Errorf("20 labels: log loss gets worse by %.4f", -g)
	}
	if g := gain(1, 200, 5); g < 0.03 {
		t.Errorf("400 labels of another collection: log loss gets better by %.4f only", g)
	}
}

func meanLogLoss(m *judge.LabelModel, pairs []judge.LabelledPair) float64 {
	sum := 0.0
	for _, p := range pairs {
		q := min(max(m.Probability(p.X).P, 1e-4), 1-1e-4)
		if !p.Relevant {
			q = 1 - q
		}
		sum -= math.Log(q)
	}
	return sum / float64(len(pairs))
}

func TestFitOwnOnLabelsOfOneClassKeepsThePrior(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pairs := simulated(rng, 40, 10, 0)
	prior, err := judge.FitPrior([][]judge.LabelledPair{pairs}, judge.PriorOptions{Features: []string{"a", "b"}, Penalty: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pairs {
		pairs[i].Relevant = true
	}
	own, err := judge.FitOwn(prior, pairs, judge.OwnOptions{Features: prior.Features})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(prior, own); diff != "" {
		t.Error(diff)
	}
}

// TestFitOwnTakesFurtherFeatures: a feature that the prior does not know is
// learnt from the labels.
func TestFitOwnTakesFurtherFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	prior, err := judge.FitPrior([][]judge.LabelledPair{simulated(rng, 100, 20, -1)}, judge.PriorOptions{Features: []string{"a", "b"}, Penalty: 1})
	if err != nil {
		t.Fatal(err)
	}
	pairs := simulated(rng, 100, 4, -1)
	for i := range pairs {
		grade := rng.NormFloat64()
		pairs[i].Relevant = grade > 0
		pairs[i].X = append(pairs[i].X, grade)
	}
	own, err := judge.FitOwn(prior, pairs, judge.OwnOptions{Features: []string{"a", "b", "expected_grade"}})
	if err != nil {
		t.Fatal(err)
	}
	if low, high := own.Probability([]float64{0, 0, -2}).P, own.Probability([]float64{0, 0, 2}).P; low > 0.1 || high < 0.9 {
		t.Errorf("p is %.2f at -2 and %.2f at 2", low, high)
	}
}

// voted makes pairs with the score of each voter, of which lsa's alone says what
// is relevant.
func voted(rng *rand.Rand, queries, each int) []judge.LabelledPair {
	var pairs []judge.LabelledPair
	for q := range queries {
		for range each {
			x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			p := 1 / (1 + math.Exp(1-3*x[1]))
			pairs = append(pairs, judge.LabelledPair{Query: fmt.Sprint(q), X: x, Relevant: rng.Float64() < p, Weight: 1})
		}
	}
	return pairs
}

// TestPriorPrefersNoVoter: which voter other collections prefer is no part of a
// prior; a team's labels say which is better here.
func TestPriorPrefersNoVoter(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	features := []string{"bm25_z", "lsa_z", "ngram_z"}
	prior, err := judge.FitPrior([][]judge.LabelledPair{voted(rng, 100, 20), voted(rng, 100, 20)}, judge.PriorOptions{Features: features, Penalty: 1})
	if err != nil {
		t.Fatal(err)
	}
	byVoter := func(m *judge.LabelModel) (bm25, lsa, ngram float64) {
		return m.Probability([]float64{2, 0, 0}).P, m.Probability([]float64{0, 2, 0}).P, m.Probability([]float64{0, 0, 2}).P
	}
	if bm25, lsa, ngram := byVoter(prior); math.Abs(bm25-lsa) > 0.1 || math.Abs(ngram-lsa) > 0.1 || lsa < 0.5 {
		t.Errorf("prior: p %.2f by bm25 alone, %.2f by lsa, %.2f by ngram", bm25, lsa, ngram)
	}
	own, err := judge.FitOwn(prior, voted(rng, 200, 4), judge.OwnOptions{Features: features})
	if err != nil {
		t.Fatal(err)
	}
	if bm25, lsa, ngram := byVoter(own); lsa < bm25+0.2 || lsa < ngram+0.2 {
		t.Errorf("with labels: p %.2f by bm25 alone, %.2f by lsa, %.2f by ngram", bm25, lsa, ngram)
	}
}
