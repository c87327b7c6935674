package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/eval"
)

func at(v float64) *float64 { return &v }

// Two draws of labels: shares count by their pairs, and the interval holds both.
func TestMeanOf(t *testing.T) {
	got := meanOf([]eval.AgreementFigures{
		{Right: eval.AgreementShare{Value: at(1), Low: at(0.9), High: at(1), Pairs: 30}, Tau: eval.AgreementEstimate{Value: at(0.5), Low: at(0.2), High: at(0.6)}},
		{Right: eval.AgreementShare{Value: at(0.9), Low: at(0.7), High: at(0.95), Pairs: 10}, Tau: eval.AgreementEstimate{Value: at(0.7)}},
	})
	want := eval.AgreementFigures{
		Right: eval.AgreementShare{Value: at(0.975), Low: at(0.7), High: at(1), Pairs: 40},
		Tau:   eval.AgreementEstimate{Value: at(0.6), Low: at(0.2), High: at(0.6)},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	none := eval.AgreementFigures{Right: eval.AgreementShare{Why: "the tested set separates no pair"}}
	if got := meanOf([]eval.AgreementFigures{none, none}).Right; got.Value != nil || got.Pairs != 0 {
		t.Errorf("draws that separate nothing give %+v", got)
	}
}

func TestMissed(t *testing.T) {
	of := func(right, reversed, power *float64) eval.AgreementFigures {
		return eval.AgreementFigures{Right: eval.AgreementShare{Value: right}, Reversed: eval.AgreementShare{Value: reversed}, Power: eval.AgreementShare{Value: power}}
	}
	g := goal{sourceOnly, 0.97, 0.005, 0.5}
	for want, f := range map[string]eval.AgreementFigures{
		"nothing":         of(at(0.97), at(0.005), at(0.5)),
		"right, reversed": of(at(0.96), at(0.006), at(0.5)),
		"right, power":    of(nil, at(0), at(0)), // it separates nothing
	} {
		if got := g.missed(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
