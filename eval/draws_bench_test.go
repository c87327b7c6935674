package eval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goldgen/goldgen/eval"
)

// withVectors gives every probability 20 coefficient vectors, which move all of
// them together.
func withVectors(in eval.Input) eval.Input {
	random := rand.New(rand.NewPCG(3, 4))
	var shift [20]float64
	for t := range shift {
		shift[t] = 0.3 * random.NormFloat64()
	}
	for i := range in.Cases {
		for j := range in.Cases[i].Labels {
			if u := in.Cases[i].Labels[j].Uncertain; u != nil {
				for _, b := range shift {
					u.Draws = append(u.Draws, logistic(math.Log(u.P/(1-u.P))+b))
				}
			}
		}
	}
	return in
}

// BenchmarkDraws is BenchmarkEvaluate with labels of a label model, beside
// certain ones in turn.
func BenchmarkDraws(b *testing.B) {
	for _, draws := range []bool{false, true} {
		in := generated(100_000, 10, draws)
		if draws {
			in = withVectors(in)
		}
		b.Run(fmt.Sprintf("rows=1000000/vectors=%v", draws), func(b *testing.B) {
			for b.Loop() {
				if _, err := eval.Evaluate(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
