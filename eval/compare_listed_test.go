package eval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/eval"
)

// A set that lists right answers and nothing else has few of the results judged by
// its nature: gates decide on it, and say so. One label of another kind, on any
// case, makes it a judged set.
func TestAListOfRightAnswersLetsGatesDecide(t *testing.T) {
	const listed = "; the set lists relevant chunks only, so all others are taken as not relevant"
	for name, tt := range map[string]struct {
		further             *eval.Label
		drop, floor, reason string
	}{
		"right answers only":   {nil, eval.Fail, eval.Pass, listed},
		"one not relevant":     {&eval.Label{ID: "x9"}, eval.CannotTell, eval.CannotTell, "label them with"},
		"one unknown":          {&eval.Label{ID: "x9", Grade: eval.Unknown}, eval.CannotTell, eval.CannotTell, "label them with"},
		"one perhaps relevant": {&eval.Label{ID: "x9", Grade: 1, Uncertain: &eval.Probability{P: .5}}, eval.CannotTell, eval.CannotTell, "label them with"},
		"one surely relevant":  {&eval.Label{ID: "x9", Uncertain: &eval.Probability{P: 1}}, eval.Fail, eval.Pass, listed},
	} {
		t.Run(name, func(t *testing.T) {
			in := sides(100, 30)
			for _, side := range []*eval.Input{&in.Base, &in.Candidate} {
				for i := range side.Cases {
					c := &side.Cases[i]
					c.Labels = slices.DeleteFunc(slices.Clone(c.Labels), func(l eval.Label) bool { return l.Grade == 0 })
					if i == 0 && tt.further != nil {
						c.Labels = append(c.Labels, *tt.further)
					}
				}
			}
			in.Gates = gates(t, "recall@1 drop <= 0.02")
			c := compare(t, in)
			said := c.Gates[0].Why + strings.Join(c.Notes, "\n")
			if c.Verdict != tt.drop || !strings.Contains(said, "judged@1 is 1.000 (base) and 0.700 (candidate)") || !strings.Contains(said, tt.reason) {
				t.Errorf("drop: %s: %s", c.Verdict, said)
			}
			got, err := eval.CheckGates(in.Candidate, eval.GateOptions{Gates: gates(t, "recall@1 >= 0.5")})
			if err != nil {
				t.Fatal(err)
			}
			said = got.Gates[0].Why + strings.Join(got.Notes, "\n")
			if got.Verdict != tt.floor || !strings.Contains(said, "judged@1 is 0.700") || !strings.Contains(said, tt.reason) {
				t.Errorf("floor: %s: %s", got.Verdict, said)
			}
		})
	}
}
