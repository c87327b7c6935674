package judge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

func candidate(id, stratum, queryType string, spare bool) judge.Candidate {
	return judge.Candidate{Spare: spare, Case: datasets.Case{
		ID: id, QueryType: queryType, Provenance: datasets.Provenance{Stratum: stratum},
	}}
}

func graded(pairs ...any) map[string]*int {
	out := map[string]*int{}
	for i := 0; i < len(pairs); i += 2 {
		if g, ok := pairs[i+1].(int); ok {
			out[pairs[i].(string)] = &g
		} else {
			out[pairs[i].(string)] = nil
		}
	}
	return out
}

func TestSettle(t *testing.T) {
	plan := []judge.Candidate{
		candidate("a1", "a", "factual", false),
		candidate("a2", "a", "factual", false),
		candidate("s1", "a", "factual", true),
		candidate("k1", "a", "keyword", false),
		candidate("b1", "b", "factual", false),
		candidate("s2", "b", "factual", true),
		candidate("s3", "a", "factual", true),
	}
	const active, review = datasets.Active, datasets.NeedsReview
	type outcome struct {
		Status map[string]string
		Order  []string
		Need   []string
		Short  []datasets.Shortfall
	}
	for _, tt := range []struct {
		name  string
		state string
		best  map[string]*int
		want  outcome
	}{
		{
			"all good", judge.Passed, graded("a1", 3, "a2", 2, "k1", 2, "b1", 3),
			outcome{Status: map[string]string{"a1": active, "a2": active, "k1": active, "b1": active}, Order: []string{"a1", "a2", "k1", "b1"}},
		},
		{
			"a spare of the same stratum and type steps in", judge.Passed, graded("a1", 3, "a2", 1, "k1", 2, "b1", 3),
			outcome{
				Status: map[string]string{"a1": active, "a2": review, "s1": active, "k1": active, "b1": active},
				Order:  []string{"a1", "a2", "s1", "k1", "b1"}, Need: []string{"s1"},
			},
		},
		{
			"a spare that fails is replaced too", judge.Passed, graded("a1", 0, "a2", 3, "k1", 2, "b1", 3, "s1", 0, "s3", 2),
			outcome{
				Status: map[string]string{"a1": review, "a2": active, "s1": review, "k1": active, "b1": active, "s3": active},
				Order:  []string{"a1", "a2", "s1", "k1", "b1", "s3"},
			},
		},
		{
			"no spare left", judge.Passed, graded("a1", 3, "a2", 3, "k1", 0, "b1", 3),
			outcome{
				Status: map[string]string{"a1": active, "a2": active, "k1": review, "b1": active}, Order: []string{"a1", "a2", "k1", "b1"},
				Short: []datasets.Shortfall{{Stratum: "a", QueryType: "keyword", Wanted: 1, Got: 0, Reason: "judge: source graded below 2, no spare left"}},
			},
		},
		{
			"unknown is no reason", judge.Passed, graded("a1", nil, "a2", 2, "k1", 2, "b1", 3),
			outcome{Status: map[string]string{"a1": active, "a2": active, "k1": active, "b1": active}, Order: []string{"a1", "a2", "k1", "b1"}},
		},
		{
			"a blind judge decides nothing", judge.Blind, graded("a1", 0, "a2", 0, "k1", 0, "b1", 0),
			outcome{Status: map[string]string{"a1": active, "a2": active, "k1": active, "b1": active}, Order: []string{"a1", "a2", "k1", "b1"}},
		},
		{
			"nor does an untested one", judge.Untested, graded("a1", 0, "a2", 0, "k1", 0, "b1", 0),
			outcome{Status: map[string]string{"a1": active, "a2": active, "k1": active, "b1": active}, Order: []string{"a1", "a2", "k1", "b1"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := judge.Settle(plan, judge.Verdict{State: tt.state}, tt.best)
			got := outcome{Status: map[string]string{}, Need: s.Need, Short: s.Shortfall}
			for _, c := range s.Cases {
				got.Status[c.ID] = c.Status
				got.Order = append(got.Order, c.ID)
				if (c.Status == review) != (c.Reason == judge.ReasonSourceGrade) {
					t.Errorf("case %s: status %s, reason %q", c.ID, c.Status, c.Reason)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("settlement (-want +got):\n%s", diff)
			}
		})
	}
}

// A spare as difficult as the case that it stands in for comes before one that is
// next in the plan.
func TestSettleKeepsDifficulty(t *testing.T) {
	ranked := func(c judge.Candidate, rank int) judge.Candidate {
		c.Case.Source = []string{"c"}
		c.Case.Difficulty = datasets.Difficulty{SourceRankBM25: &rank, Overlap: 1}
		return c
	}
	plan := []judge.Candidate{
		ranked(candidate("hard", "a", "factual", false), 40),
		ranked(candidate("easy", "a", "factual", false), 1),
		ranked(candidate("easy spare", "a", "factual", true), 1),
		ranked(candidate("hard spare", "a", "factual", true), 40),
	}
	settled := judge.Settle(plan, judge.Verdict{State: judge.Passed}, graded("hard", 0, "easy", 0))
	if diff := cmp.Diff([]string{"hard spare", "easy spare"}, settled.Need); diff != "" {
		t.Errorf("spares that stand in (-want +got):\n%s", diff)
	}
}
