package judge_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

func drawn(caseID string, inclusion float64, relevant ...bool) []judge.Drawn {
	var out []judge.Drawn
	for _, r := range relevant {
		out = append(out, judge.Drawn{CaseID: caseID, Relevant: r, Inclusion: inclusion})
	}
	return out
}

func TestMissed(t *testing.T) {
	few := func(d ...[]judge.Drawn) (all []judge.Drawn) {
		for _, x := range d {
			all = append(all, x...)
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		drawn []judge.Drawn
		want  *datasets.Interval
	}{
		{"nothing drawn", nil, nil},
		{"all that is outside was drawn", few(drawn("a", 1, true, false), drawn("b", 1, false, false)), &datasets.Interval{Value: .5, Low: .5, High: .5}},
		// 2 of 100 outside drawn, none relevant: Wilson 0 of 2 is [0, .657620].
		{"none relevant", drawn("a", .02, false, false), &datasets.Interval{Value: 0, Low: 0, High: 65.7620}},
		// 1 of 4 drawn in two cases with 100 outside each: Wilson 1 of 4 is [.045587, .699358].
		{"one of four", few(drawn("a", .02, true, false), drawn("b", .02, false, false)), &datasets.Interval{Value: 25, Low: 4.5587, High: 69.9358}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, judge.Missed(tt.drawn), cmpopts.EquateApprox(0, 1e-3)); diff != "" {
				t.Errorf("missed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMissedOfFewLabels: where only some of the drawn chunks have a label, these
// speak for all, by the chance that they were shown.
func TestMissedOfFewLabels(t *testing.T) {
	unlabelled := judge.Drawn{CaseID: "b", Inclusion: .02, Unlabelled: true}
	relevant := judge.Drawn{CaseID: "a", Inclusion: .02, Relevant: true, Shown: 1}
	other := judge.Drawn{CaseID: "a", Inclusion: .02, Shown: 1. / 3}
	// A quarter of the weight of the labels is relevant, of 100 chunks outside each;
	// they count as (50 + 150)^2 / (50^2 + 150^2) = 1.6 of equal weight.
	got := judge.Missed([]judge.Drawn{relevant, other, unlabelled, unlabelled})
	if got == nil || math.Abs(got.Value-25) > 1e-9 || got.Low > 5 || got.High < 75 {
		t.Errorf("missed %+v, want 25 with a wide interval", got)
	}
	if got := judge.Missed([]judge.Drawn{unlabelled}); got != nil {
		t.Errorf("missed %+v without a label", got)
	}
}

// TestMissedInALargeCorpus: a chunk that was drawn of a million keeps its chance in
// the set, and stands for as many.
func TestMissedInALargeCorpus(t *testing.T) {
	const chance = 3e-6
	c := datasets.Case{ID: "a", Judgments: []datasets.Judgment{
		{ChunkID: "x", DocID: "x", By: datasets.ByLLM, Grade: new(int), Features: map[string]float64{"random": 1}, Inclusion: chance},
		{ChunkID: "y", DocID: "y", By: datasets.ByLLM, Grade: new(int), Features: map[string]float64{"random": 1}},
	}}
	got := judge.MissedIn([]datasets.Case{c.Canonical()}, judge.RelevantGrade, true)
	// Wilson 0 of 1 is [0, .793451].
	if got == nil || got.Value != 0 || math.Abs(got.High-.79345069/chance) > 1 {
		t.Errorf("missed %+v", got)
	}
}

// A case in which a draw stands for more chunks counts for more.
func TestMissedWeighsDraws(t *testing.T) {
	m := judge.Missed(append(drawn("a", .1, true), drawn("b", .01, false)...))
	if math.Abs(m.Value-5) > 1e-9 || m.Low > 5 || m.High < 5 {
		t.Errorf("missed %+v, want 10 chunks over two cases", m)
	}
}

// TestMissedTakesPeoplesGrades: where a person found a random chunk relevant that
// the judge did not, that counts.
func TestMissedTakesPeoplesGrades(t *testing.T) {
	d := deps(judgedBy(sharp), 30)
	result, err := judge.Run(t.Context(), plan(30, 0), d, settings(2))
	if err != nil || result.Missed == nil || result.Missed.Value != 0 {
		t.Fatalf("missed %+v, error %v", result.Missed, err)
	}
	three, inclusion := 3, 0.0
	for _, j := range result.Cases[4].Judgments {
		if j.Features["random"] == 1 {
			inclusion = j.Inclusion
			result.Cases[4].Judgments = append(result.Cases[4].Judgments, datasets.Judgment{
				ChunkID: j.ChunkID, DocID: j.DocID, Grade: &three, Label: datasets.LabelRelevant, By: datasets.ByHuman, Inclusion: 1,
			})
			break
		}
	}
	ext, err := judge.Extend(t.Context(), result.Cases, judge.Tops{Depth: 3}, d, settings(2))
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 / inclusion / float64(len(result.Cases)); ext.Missed == nil || math.Abs(ext.Missed.Value-want) > 1e-3 {
		t.Errorf("missed %+v a query, want %.4f: one of the random chunks of one case", ext.Missed, want)
	}
}
