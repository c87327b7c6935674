package judge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// refill asks for spares until no more can help, and returns the ids that are kept
// of candidates of which those in answered are refused.
func refill(planned []judge.Candidate, answered map[string]bool, passed bool) (kept []string, left judge.Abstentions, rounds int) {
	for now := planned; ; rounds++ {
		var cases []datasets.Case
		for _, c := range now {
			if grade := 0; !c.Spare {
				if answered[c.Case.ID] {
					grade = 3
				}
				c.Case.Judgments = []datasets.Judgment{said("a", datasets.ByLLM, 1, grade, -1)}
				cases = append(cases, c.Case)
			}
		}
		proven := judge.ProveAbstention(cases, 2, passed)
		next, promoted := judge.Refill(planned, now, proven, passed)
		if len(promoted) > 0 {
			now = next
			continue
		}
		for _, c := range proven.Cases {
			kept = append(kept, c.ID)
		}
		return kept, proven.Refilled(planned), rounds
	}
}

func TestSparesMakeGoodWhatIsAnswered(t *testing.T) {
	candidate := func(id, stratum string, spare bool) judge.Candidate {
		c := abstaining(id, datasets.OutOfScope)
		c.Provenance.Stratum = stratum
		return judge.Candidate{Case: c, Spare: spare}
	}
	planned := []judge.Candidate{
		candidate("a1", "a", false), candidate("a2", "a", false), candidate("b1", "b", false),
		candidate("a3", "a", true), candidate("a4", "a", true), candidate("b2", "b", true), candidate("a5", "a", true),
	}
	short := func(stratum string, wanted, got int, reason string) []datasets.Shortfall {
		return []datasets.Shortfall{{Stratum: stratum, QueryType: datasets.OutOfScope, Wanted: wanted, Got: got, Reason: reason}}
	}
	for name, tc := range map[string]struct {
		answered map[string]bool
		passed   bool
		kept     []string
		rejects  int
		rounds   int
		short    []datasets.Shortfall
	}{
		"nothing is refused":            {nil, true, []string{"a1", "a2", "b1"}, 0, 0, nil},
		"one, made good":                {map[string]bool{"a2": true}, true, []string{"a1", "b1", "a3"}, 1, 1, nil},
		"its spare, too":                {map[string]bool{"a2": true, "a3": true}, true, []string{"a1", "b1", "a4"}, 2, 2, nil},
		"another stratum's are no help": {map[string]bool{"b1": true, "b2": true}, true, []string{"a1", "a2"}, 2, 1, short("b", 1, 0, "judge: answered_elsewhere 2")},
		"some of a stratum":             {map[string]bool{"a1": true, "a2": true, "a3": true, "a4": true}, true, []string{"b1", "a5"}, 4, 2, short("a", 2, 1, "judge: answered_elsewhere 4")},
		"a judge that proves no case":   {nil, false, nil, 3, 0, append(short("a", 2, 0, "judge: unproven 2"), short("b", 1, 0, "judge: unproven 1")...)},
	} {
		t.Run(name, func(t *testing.T) {
			kept, left, rounds := refill(planned, tc.answered, tc.passed)
			if diff := cmp.Diff(tc.kept, kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.short, left.Shortfall); diff != "" {
				t.Errorf("shortfall (-want +got):\n%s", diff)
			}
			if len(left.Rejects) != tc.rejects || rounds != tc.rounds {
				t.Errorf("%d rejects after %d rounds, want %d after %d", len(left.Rejects), rounds, tc.rejects, tc.rounds)
			}
		})
	}
}
