package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

func TestCount(t *testing.T) {
	yes, no := eval.PairDifference{Separated: true}, eval.PairDifference{}
	got := agreement{how: "prior"}
	got.count([]eval.AgreementPair{
		{Reference: yes, Tested: yes, Outcome: eval.PairRight},
		{Reference: yes, Tested: yes, Outcome: eval.PairReversed},
		{Reference: yes, Tested: no, Outcome: eval.PairMissed},
		{Reference: no, Tested: yes, Outcome: eval.PairRight},
		{Reference: no, Tested: yes, Outcome: eval.PairOther},
		{Reference: no, Tested: no, Outcome: eval.PairUndecided},
	})
	want := agreement{how: "prior", draws: 1, people: 3, both: 2, against: 1, separated: 4, right: 2}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(agreement{})); diff != "" {
		t.Error(diff)
	}
}
