package eval_test

import (
	"math/rand/v2"
	"testing"

	"github.com/goldgen/goldgen/eval"
)

// Sets of 50 cases are drawn anew for retrievers whose true means are known. The
// interval of right must hold the share that an endless reference would order the
// same, that of tau its mean over sets of this size.
func TestIntervalsOfAgreementCover(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 60 pairs of sets")
	}
	const sets, cases = 60, 50
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	people := []float64{0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65}
	made := []float64{0.35, 0.5, 0.4, 0.6, 0.45, 0.55, 0.7} // of another opinion
	var taus []eval.AgreementEstimate
	covered, meanTau := 0, 0.0
	for n := range sets {
		rng := rand.New(rand.NewPCG(uint64(n), 11))
		a := agree(t, eval.AgreementInput{
			Reference: rankedSet("people", "reviewed", names, noisy(rng, cases, people...)),
			Tested:    rankedSet("made", "judged", names, noisy(rng, cases, made...)), Seed: int64(n),
		}, "success@1")
		taus = append(taus, a.Tau)
		meanTau += *a.Tau.Value / sets
		if truth := rightBy(a, people); within(truth, *a.Right.Low, *a.Right.High) {
			covered++
		}
	}
	if covered < 53 {
		t.Errorf("the interval of right holds the truth in %d of %d", covered, sets)
	}
	covered = 0
	for _, tau := range taus {
		if within(meanTau, *tau.Low, *tau.High) {
			covered++
		}
	}
	if covered < 53 {
		t.Errorf("the interval of tau holds its mean in %d of %d", covered, sets)
	}
}

func within(x, low, high float64) bool { return low-1e-9 <= x && x <= high+1e-9 }

// rightBy is the share of the separated pairs that the true means order the same.
func rightBy(a *eval.Agreement, truth []float64) float64 {
	right, separated := 0.0, 0.0
	for _, p := range a.Pairs {
		if !p.Tested.Separated {
			continue
		}
		separated++
		if p.Tested.Difference*(truth[p.B]-truth[p.A]) > 0 {
			right++
		}
	}
	return right / separated
}
