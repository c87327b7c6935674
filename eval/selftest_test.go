package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

func TestSelfTest(t *testing.T) {
	for name, in := range map[string]eval.CompareInput{"certain": sides(60, 25), "uncertain": uncertainSides()} {
		got, err := eval.SelfTest(in, 400)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Identical || got.Shuffles != 400 || got.Cases != 60 || got.Clusters != 60 {
			t.Errorf("%s: %+v", name, got)
		}
		first := got.Alarms[0]
		if first.Measure != "recall@1" || *first.Rate > 0.075 || *first.Low > 0.05 || *first.High < *first.Rate {
			t.Errorf("%s: %d alarms, rate %v [%v, %v]", name, first.Alarms, *first.Rate, *first.Low, *first.High)
		}
		if other := got.Alarms[1]; other.Rate != nil || other.Why != "0 of 60 cases changed" {
			t.Errorf("%s: %+v", name, other)
		}
		again, err := eval.SelfTest(in, 400)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSelfTestIsRefused(t *testing.T) {
	in := sides(60, 25)
	if _, err := eval.SelfTest(in, -1); err == nil || err.Error() != "-1 shuffles: want 1 or more" {
		t.Errorf("got %v", err)
	}
	in.Candidate.Corpus = "d"
	if _, err := eval.SelfTest(in, 10); err == nil || !strings.HasPrefix(err.Error(), "not comparable: corpus: c and d") {
		t.Errorf("got %v", err)
	}
}
