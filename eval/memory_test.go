package eval_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// ranked makes a case with "new" relevant and "old1", "old2" stale.
func ranked(id string, ranking ...string) eval.Case {
	return eval.Case{
		ID: id, Ranking: ranking,
		Labels:     []eval.Label{{ID: "new", Grade: 3}, {ID: "old1", Grade: 2}, {ID: "old2", Grade: 0}},
		Background: &eval.Background{Stale: []string{"old1", "old2"}},
	}
}

func TestStaleHits(t *testing.T) {
	plain := found("plain", 2)
	for _, test := range []struct {
		name  string
		cases []eval.Case
		want  *eval.StaleHits
	}{
		{"below the current one", []eval.Case{ranked("q", "x", "new", "old1")}, &eval.StaleHits{Cases: 1, Returned: 1}},
		{"above, though graded relevant", []eval.Case{ranked("q", "old1", "x", "old2", "new"), plain}, &eval.StaleHits{Cases: 1, Returned: 2, AboveCurrent: 2, CasesAboveCurrent: 1}},
		{"without the current one", []eval.Case{ranked("q", "old2", "x"), ranked("r", "new")}, &eval.StaleHits{Cases: 2, Returned: 1, AboveCurrent: 1, CasesAboveCurrent: 1}},
		{"repeated", []eval.Case{ranked("q", "old2", "old2", "new")}, &eval.StaleHits{Cases: 1, Returned: 1, AboveCurrent: 1, CasesAboveCurrent: 1}},
		{"no result", []eval.Case{ranked("q")}, &eval.StaleHits{Cases: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := evaluate(t, input("mrr,rbp", test.cases...)).Memory
			if diff := cmp.Diff(&eval.Memory{Scopes: eval.SliceBy{Name: "scope"}, Stale: test.want}, m); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if m := evaluate(t, input("mrr", plain)).Memory; m != nil {
		t.Errorf("no case is about memory: %+v", m)
	}
}

// Where the current chunk is relevant in some draws only, the stale one stands
// above it in all: above it, or without it.
func TestStaleHitsUnderDrawnLabels(t *testing.T) {
	c := ranked("q", "new", "old2")
	c.Labels = append(c.Labels, eval.Label{ID: "sure", Grade: 3})
	c.Labels[0].Uncertain = &eval.Probability{P: 0.5}
	in := input("success@1", c)
	in.Seed = 3
	r := evaluate(t, in)
	if s := r.Memory.Stale; s.AboveCurrent != 1-*r.Metrics[0].Mean || s.AboveCurrent <= 0 || s.AboveCurrent >= 1 {
		t.Errorf("%+v where the mean of success is %v", s, *r.Metrics[0].Mean)
	}
}

func TestMemoryScopes(t *testing.T) {
	scoped := func(id string, rank int, keys ...string) eval.Case {
		c := found(id, rank)
		c.Background.Scope = corpus.Scope{}
		for _, k := range keys {
			c.Background.Scope[k] = []string{"v"}
		}
		return c
	}
	r := evaluate(t, input("mrr", scoped("a", 1, "user"), scoped("b", 2, "session", "user"), scoped("c", 4, "tenant"), found("d", 4)))
	var got []string
	for _, s := range r.Memory.Scopes.Slices {
		got = append(got, fmt.Sprintf("%s %d %.2f", s.Value, s.N, *s.Metrics[0].Mean))
	}
	if diff := cmp.Diff([]string{"session 1 0.50", "user 2 0.75"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var back eval.Memory
	if err := json.Unmarshal(must(json.Marshal(r.Memory)), &back); err != nil {
		t.Fatal(err)
	}
	back.Scopes.Name = "scope"
	if diff := cmp.Diff(r.Memory, &back); diff != "" {
		t.Errorf("through JSON (-want +got):\n%s", diff)
	}
}

func TestSources(t *testing.T) {
	expects := func(id, kind string, returned ...string) eval.Case {
		c := eval.Case{ID: id, Labels: []eval.Label{{ID: "a", Grade: 3}}, Background: &eval.Background{ExpectedSource: kind}, Sources: returned}
		for i := range returned {
			c.Ranking = append(c.Ranking, fmt.Sprint("x", i))
		}
		return c
	}
	unknown := expects("e", "note")
	unknown.Ranking = []string{"x"}
	r := evaluate(t, input("mrr", expects("a", "note", "note", "ticket"), expects("b", "note", "ticket", "note"),
		expects("c", "note"), expects("d", "ticket", "note"), unknown))
	want := []eval.SourceCounts{
		{Expected: "note", Cases: 3, First: 1, Found: 2, Returned: map[string]int{"note": 1, "ticket": 1}},
		{Expected: "ticket", Cases: 1, Returned: map[string]int{"note": 1}},
	}
	if diff := cmp.Diff(want, r.Memory.Sources); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
