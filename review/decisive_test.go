package review_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/review"
)

func measure(t *testing.T, name string) eval.Measure {
	t.Helper()
	m, err := eval.ParseMeasure(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func likely(id string, draws ...float64) eval.Label {
	p := 0.0
	for _, d := range draws {
		p += d / float64(len(draws))
	}
	return eval.Label{ID: id, Uncertain: &eval.Probability{P: p, Draws: draws}}
}

// ranked is an input of cases c0, c1 ... with the same labels.
func ranked(m eval.Measure, labels [][]eval.Label, rankings [][]string) eval.Input {
	in := eval.Input{Measures: []eval.Measure{m}, MinGrade: 1, Seed: 7, KeepEmpty: true}
	for i := range labels {
		in.Cases = append(in.Cases, eval.Case{ID: fmt.Sprintf("c%d", i), Labels: labels[i], Ranking: rankings[i]})
	}
	return in
}

func poolOf(in eval.Input) (out []review.Pair) {
	for _, c := range in.Cases {
		for _, l := range c.Labels {
			out = append(out, review.Pair{CaseID: c.ID, ChunkID: l.ID})
		}
	}
	return out
}

// Chances of 0 and 1 under two vectors make the differences exact: D is 1 under
// the first and 0 under the second, since only a decides it. b has a's chances
// and tells the same; c has the same mean under both and tells nothing; d leans
// with a, by half.
func TestALabelThatTellsTheVectorsApartDecides(t *testing.T) {
	m := measure(t, "P@1")
	labels := [][]eval.Label{
		{likely("a", 1, 0), {ID: "x", Grade: 0}},
		{likely("b", 1, 0), likely("c", .5, .5)},
		{likely("d", .75, .25)},
	}
	base := ranked(m, labels, [][]string{{"x"}, {"b"}, {"d"}})
	candidate := ranked(m, labels, [][]string{{"a"}, {"b"}, {"d"}})
	got, err := review.Decisive(base, candidate, m, poolOf(base), 5)
	if err != nil {
		t.Fatal(err)
	}
	// D is 1/3 or 0: its variance is 1/36, and a tells all of it
	want := []review.Worth{{Pair: pair("c0 a"), Worth: 1.0 / 36}}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// where nobody may be asked about those, the leaning one is left
	got, err = review.Decisive(base, candidate, m, []review.Pair{pair("c1 c"), pair("c2 d")}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]review.Worth{{Pair: pair("c2 d"), Worth: 1.0 / 36}}, got, near); diff != "" {
		t.Errorf("without the clear ones (-want +got):\n%s", diff)
	}
}

func TestNothingDecidesWithoutVectors(t *testing.T) {
	m := measure(t, "P@1")
	labels := [][]eval.Label{{{ID: "a", Uncertain: &eval.Probability{P: .5}}, {ID: "b", Grade: 1}}}
	in := ranked(m, labels, [][]string{{"a"}})
	got, err := review.Decisive(in, ranked(m, labels, [][]string{{"b"}}), m, poolOf(in), 5)
	if err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// Settling decisive labels leaves less doubt about the difference than settling
// as many at random: the posterior over a label model's vectors given the labels,
// in the mean over worlds whose labels come from one of the vectors.
func TestDecisiveLabelsTellMoreThanRandomOnes(t *testing.T) {
	m := measure(t, "ndcg@5")
	random := rand.New(rand.NewPCG(1, 2))
	decisive, other := 0.0, 0.0
	for range 10 {
		w := newWorld(m, random)
		worths, err := review.Decisive(w.base, w.candidate, m, poolOf(w.base), 30)
		if err != nil {
			t.Fatal(err)
		}
		var chosen []review.Pair
		perCase := map[string]int{}
		for _, x := range worths {
			chosen = append(chosen, x.Pair)
			perCase[x.CaseID]++
		}
		if len(chosen) == 0 {
			t.Fatal("nothing decides")
		}
		for id, n := range perCase {
			if n > 2 {
				t.Errorf("%d labels of case %s", n, id)
			}
		}
		s, err := review.Draw("random", poolOf(w.base), nil, len(chosen), random.Int64())
		if err != nil {
			t.Fatal(err)
		}
		var drawn []review.Pair
		for _, d := range s.Pairs {
			drawn = append(drawn, d.Pair)
		}
		for range 20 {
			decisive += w.doubt(chosen, random)
			other += w.doubt(drawn, random)
		}
	}
	t.Logf("variance left: %.4g after decisive labels, %.4g after random ones (ratio %.2f)", decisive/200, other/200, decisive/other)
	if decisive > .8*other {
		t.Errorf("the variance left is %.3g after decisive labels, %.3g after random ones", decisive/200, other/200)
	}
}

// world is a comparison under a label model of three features with 64 vectors.
type world struct {
	base, candidate eval.Input
	chances         map[review.Pair][]float64
	differences     []float64 // by vector
}

const worldVectors = 64

func newWorld(m eval.Measure, random *rand.Rand) *world {
	coefficients := make([][4]float64, worldVectors)
	for t := range coefficients {
		for f := range coefficients[t] {
			coefficients[t][f] = random.NormFloat64()
		}
		coefficients[t][0]--
	}
	w := &world{chances: map[review.Pair][]float64{}}
	var labels [][]eval.Label
	var a, b [][]string
	for i := range 30 {
		var of []eval.Label
		var ids []string
		for j := range 10 {
			id := fmt.Sprintf("d%d", j)
			x := [4]float64{1, random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
			draws := make([]float64, worldVectors)
			for t, c := range coefficients {
				draws[t] = 1 / (1 + math.Exp(-(c[0] + c[1]*x[1] + c[2]*x[2] + c[3]*x[3])))
			}
			of, ids = append(of, likely(id, draws...)), append(ids, id)
			w.chances[review.Pair{CaseID: fmt.Sprintf("c%d", i), ChunkID: id}] = draws
		}
		other := append([]string{}, ids...)
		random.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		labels, a, b = append(labels, of), append(a, ids), append(b, other)
	}
	w.base, w.candidate = ranked(m, labels, a), ranked(m, labels, b)
	w.differences = precisionDifferences(w, a, b)
	return w
}

// precisionDifferences is the difference of the expected precision at 5, which
// is what nDCG mostly follows, worked out without the code under test.
func precisionDifferences(w *world, a, b [][]string) []float64 {
	out := make([]float64, worldVectors)
	for i := range a {
		for rank := range 5 {
			discount := 1 / math.Log2(float64(rank+2))
			for t := range out {
				id := fmt.Sprintf("c%d", i)
				out[t] += discount * (w.chances[review.Pair{CaseID: id, ChunkID: b[i][rank]}][t] - w.chances[review.Pair{CaseID: id, ChunkID: a[i][rank]}][t])
			}
		}
	}
	return out
}

// doubt is the variance of the difference over the vectors, weighed by how well
// they explain labels that one of them made.
func (w *world) doubt(pairs []review.Pair, random *rand.Rand) float64 {
	truth := random.IntN(worldVectors)
	logs := make([]float64, worldVectors)
	for _, p := range pairs {
		relevant := random.Float64() < w.chances[p][truth]
		for t, c := range w.chances[p] {
			if !relevant {
				c = 1 - c
			}
			logs[t] += math.Log(max(c, 1e-12))
		}
	}
	total, mean, square := 0.0, 0.0, 0.0
	for t, l := range logs {
		weight := math.Exp(l - logs[truth])
		total += weight
		mean += weight * w.differences[t]
		square += weight * w.differences[t] * w.differences[t]
	}
	mean /= total
	return square/total - mean*mean
}
