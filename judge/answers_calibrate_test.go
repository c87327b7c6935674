package judge_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

func question(caseID int, kind judge.QuestionKind, claim int) judge.AnswerQuestion {
	return judge.AnswerQuestion{CaseID: fmt.Sprintf("q%02d", caseID), Kind: kind, Claim: claim}
}

// decided is a finding by P(yes); below 0 it is unknown.
func decided(q judge.AnswerQuestion, p float64) judge.AskedFinding {
	if p < 0 {
		return judge.AskedFinding{AnswerQuestion: q, Finding: judge.Finding{Unknown: judge.UnknownEmpty}}
	}
	value := 0.0
	if p >= 0.5 {
		value = 1
	}
	return judge.AskedFinding{AnswerQuestion: q, Finding: judge.Finding{Value: &value, P: &p}}
}

// By hand: eight claims, of which the judge finds six supported; people say no to
// two of the three yes that they were shown one in four, and yes to the one no.
func TestCalibrateAnswersByHand(t *testing.T) {
	var findings []judge.AskedFinding
	for i, p := range []float64{.9, .8, .7, .6, .9, .8, .2, .1} {
		findings = append(findings, decided(question(i, judge.Supported, 1), p))
	}
	findings = append(findings, decided(question(8, judge.Supported, 1), -1), decided(question(0, judge.Relevant, 0), .9))
	label := func(i int, yes bool, inclusion float64) judge.AnswerVerdictLabel {
		return judge.AnswerVerdictLabel{AnswerQuestion: question(i, judge.Supported, 1), Yes: yes, Inclusion: inclusion}
	}
	got := judge.CalibrateAnswers(findings, []judge.AnswerVerdictLabel{
		label(0, true, 1), label(1, false, .25), label(2, false, .25), label(6, true, 1), label(8, true, 1), label(40, true, 1),
	}, 0, 1)
	// Weights: yes-yes 1, yes-no 1, no-yes 8. They agree in 1 of 10; chance in
	// (2*9 + 8*1)/100 = .26. The judge says yes to 6 of 8; people less by
	// (1 - 8)/10 = -.7: .05.
	want := []judge.KindCalibration{{
		Kind: judge.Supported, Labels: 4, Unknown: 1, Confusion: [2][2]int{{0, 2}, {1, 1}}, Kappa: -.2162, Asked: 8, Yes: .75,
		Corrected: datasets.Interval{Value: .05, Low: 0, High: 1},
		Figures: judge.Figures{
			Pairs: 4, Queries: 4, Share: .2, AUC: datasets.Interval{Value: .5, High: 1},
			Brier:       datasets.Interval{Value: .517, High: 1}, // (.01 + 4*.64 + 4*.49 + .64) / 10
			Sensitivity: datasets.Interval{Value: .5, High: 1}, Specificity: datasets.Interval{Value: 0, High: 1}, Reliability: []judge.Bin{},
		},
	}}
	if diff := cmp.Diff(want, got.Kinds, cmpopts.EquateApprox(0, 1e-9), cmpopts.IgnoreFields(datasets.Interval{}, "Low", "High")); diff != "" {
		t.Error(diff)
	}
	if c := got.Kinds[0].Corrected; !(c.Low <= c.Value && c.Value <= c.High && c.High <= 1) {
		t.Errorf("corrected %+v", c)
	}
	if len(got.Next) != 0 {
		t.Errorf("next %+v", got.Next)
	}
}

// The corrected share covers what people would say of all questions, where the
// judge's own is far off.
func TestCalibrateAnswersCorrectsTheShare(t *testing.T) {
	const sets, cases = 60, 200
	covered, width, plainCovered := 0, 0.0, 0
	for set := range sets {
		rng := rand.New(rand.NewPCG(uint64(set), 5))
		var findings []judge.AskedFinding
		var labels []judge.AnswerVerdictLabel
		people := 0.0
		for i := range cases {
			yes := rng.Float64() < .6
			p := .2
			if yes || rng.Float64() < .5 { // half of the wrong answers pass
				p = .9
			}
			q := question(i, judge.Correct, 0)
			findings = append(findings, decided(q, p))
			if yes {
				people++
			}
			if rng.Float64() < .3 {
				labels = append(labels, judge.AnswerVerdictLabel{AnswerQuestion: q, Yes: yes, Inclusion: .3})
			}
		}
		k := judge.CalibrateAnswers(findings, labels, 0, int64(set)).Kinds[0]
		truth := people / cases
		if k.Corrected.Low <= truth && truth <= k.Corrected.High {
			covered++
		}
		if k.Yes-truth < .1 {
			plainCovered++
		}
		width += k.Corrected.High - k.Corrected.Low
	}
	if covered < sets*85/100 {
		t.Errorf("%d of %d intervals hold the true share", covered, sets)
	}
	if width /= sets; width > .35 {
		t.Errorf("intervals are %.2f wide on average", width)
	}
	if plainCovered > sets/10 {
		t.Errorf("the judge's own share is near the truth in %d of %d sets: there is nothing to correct", plainCovered, sets)
	}
}

func TestCalibrateAnswersSaysWhatIsWorthAVerdict(t *testing.T) {
	var findings []judge.AskedFinding
	for i := range 30 {
		for claim := range 3 {
			findings = append(findings, decided(question(i, judge.Supported, claim+1), float64(i)/30))
		}
	}
	findings = append(findings, decided(question(15, judge.Relevant, 0), -1))
	labels := []judge.AnswerVerdictLabel{{AnswerQuestion: question(15, judge.Supported, 1), Yes: true, Inclusion: 1}}
	next := judge.CalibrateAnswers(findings, labels, 9, 3).Next
	seen, perCase, random := map[judge.AnswerQuestion]bool{labels[0].AnswerQuestion: true}, map[string]int{}, 0
	for _, n := range next {
		if seen[n.AnswerQuestion] || n.Kind == judge.Relevant {
			t.Errorf("%+v is labelled, named twice, or was not decided", n)
		}
		seen[n.AnswerQuestion] = true
		if n.Why == judge.NextRandom {
			random++
			if n.Inclusion != .0337 { // 3 of 89
				t.Errorf("inclusion %v", n.Inclusion)
			}
			continue
		}
		perCase[n.CaseID]++
		if n.CaseID < "q13" || n.CaseID > "q17" || perCase[n.CaseID] > 2 {
			t.Errorf("%+v is not uncertain, or the third of its case", n)
		}
	}
	if len(next) != 9 || random != 3 {
		t.Errorf("%d questions, %d of them random", len(next), random)
	}
	for i := range findings {
		findings[i].Finding.P = nil
	}
	for _, n := range judge.CalibrateAnswers(findings, nil, 9, 3).Next {
		if n.Why != judge.NextRandom {
			t.Errorf("without log-probabilities nothing is uncertain: %+v", n)
		}
	}
}

func TestCalibrateAnswersOfOneClass(t *testing.T) {
	findings := []judge.AskedFinding{decided(question(0, judge.Relevant, 0), .9), decided(question(1, judge.Relevant, 0), .2)}
	labels := []judge.AnswerVerdictLabel{
		{AnswerQuestion: question(0, judge.Relevant, 0), Yes: true, Inclusion: 1}, {AnswerQuestion: question(1, judge.Relevant, 0), Yes: true, Inclusion: 1},
	}
	k := judge.CalibrateAnswers(findings, labels, 0, 1).Kinds[0]
	if !k.OneClass || k.Kappa != 0 || k.Figures.AUC != (datasets.Interval{High: 1}) || k.Corrected.Value != 1 {
		t.Errorf("%+v", k)
	}
	if got := judge.CalibrateAnswers(nil, labels, 3, 1); len(got.Kinds) != 0 || len(got.Next) != 0 {
		t.Errorf("%+v", got)
	}
}
