package generate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/sample"
)

// rows makes a plan of one stratum: main rows, then reserves.
func rows(stratum, queryType string, main, reserves int) []sample.Row {
	var list []sample.Row
	for i := range main + reserves {
		id := fmt.Sprintf("%s-%s-%d", stratum, queryType, i)
		list = append(list, sample.Row{CaseID: id, ChunkIDs: []string{id + "#0"}, QueryType: queryType, Stratum: stratum, Reserve: i >= main})
	}
	return list
}

// made is an outcome whose query is its own, unless one is given.
func made(row sample.Row, query string) generate.Outcome {
	if query == "" {
		query = "unique " + strings.ReplaceAll(row.CaseID, "-", "x")
	}
	return generate.Outcome{Calls: 2, Case: &datasets.Case{
		ID: row.CaseID, Query: query, QueryType: row.QueryType, Source: row.ChunkIDs, Provenance: datasets.Provenance{Stratum: row.Stratum},
	}}
}

func refused(row sample.Row, reason string) generate.Outcome {
	return generate.Outcome{Calls: 1, Reject: &datasets.Reject{CaseID: row.CaseID, QueryType: row.QueryType, Stratum: row.Stratum, Reason: reason}}
}

// decide plays a selection to its end and returns the rounds asked.
func decide(t interface{ Fatal(...any) }, plan []sample.Row, spare float64, outcome func(sample.Row) generate.Outcome) (*generate.Selection, [][]int) {
	s := generate.NewSelection(plan, spare)
	return s, play(t, s, plan, outcome)
}

func play(t interface{ Fatal(...any) }, s *generate.Selection, plan []sample.Row, outcome func(sample.Row) generate.Outcome) [][]int {
	var rounds [][]int
	for {
		asked := s.Next()
		if len(asked) == 0 {
			return rounds
		}
		rounds = append(rounds, asked)
		var outcomes []generate.Outcome
		for _, i := range asked {
			outcomes = append(outcomes, outcome(plan[i]))
		}
		if err := s.Settle(outcomes); err != nil {
			t.Fatal(err)
		}
	}
}

// marks writes the records in short: id, and + for a case, s for a spare one, -
// for a reject.
func marks(records []generate.Record) []string {
	var list []string
	for _, r := range records {
		switch {
		case r.Reject != nil:
			list = append(list, "-"+r.Reject.CaseID+" "+r.Reject.Reason)
		case r.Spare:
			list = append(list, "s"+r.Case.ID)
		default:
			list = append(list, "+"+r.Case.ID)
		}
	}
	return list
}

func TestReservesReplaceRejects(t *testing.T) {
	plan := rows("a", "factual", 2, 3)
	bad := map[string]bool{"a-factual-0": true, "a-factual-2": true}
	s, rounds := decide(t, plan, 0, func(r sample.Row) generate.Outcome {
		if bad[r.CaseID] {
			return refused(r, "answered")
		}
		return made(r, "")
	})
	if diff := cmp.Diff([][]int{{0, 1}, {2}, {3}}, rounds); diff != "" {
		t.Errorf("rounds (-want +got):\n%s", diff)
	}
	want := []string{"-a-factual-0 answered", "+a-factual-1", "-a-factual-2 answered", "+a-factual-3"}
	if diff := cmp.Diff(want, marks(s.Records())); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	wantSum := generate.Summary{
		Asked: 4, Accepted: 2, Rejected: 2, Calls: 6, CallsPerCase: 3, Rounds: 3, Reasons: map[string]int{"answered": 2},
		ByType:    map[string]generate.TypeTally{"factual": {Asked: 4, Accepted: 2, Calls: 6, KeepRate: .5}},
		Shortfall: []datasets.Shortfall{},
	}
	if diff := cmp.Diff(wantSum, s.Summary()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestShortfallNamesStratumTypeAndReasons(t *testing.T) {
	plan := append(rows("a", "factual", 2, 1), rows("a", "keyword", 1, 0)...)
	s, _ := decide(t, plan, 0, func(r sample.Row) generate.Outcome {
		if r.QueryType == "factual" {
			return refused(r, map[bool]string{true: "copied", false: "answered"}[r.Reserve])
		}
		return made(r, "")
	})
	want := []datasets.Shortfall{{Stratum: "a", QueryType: "factual", Wanted: 2, Got: 0, Reason: "all reserves used; rejected: answered 2, copied 1"}}
	if diff := cmp.Diff(want, s.Summary().Shortfall); diff != "" {
		t.Errorf("shortfall (-want +got):\n%s", diff)
	}
}

func TestSparesArePerStratumAndSpread(t *testing.T) {
	// 20 % of 10 rows are 2 spares: 1 for the 6 factual ones, 1 for the 4 keyword ones.
	plan := append(rows("a", "factual", 6, 4), rows("a", "keyword", 4, 4)...)
	plan = append(plan, rows("b", "factual", 1, 2)...) // 20 % of 1, rounded up
	s, rounds := decide(t, plan, generate.DefaultSpare, func(r sample.Row) generate.Outcome {
		if r.CaseID == "a-factual-1" {
			return refused(r, "answered")
		}
		return made(r, "")
	})
	if len(rounds) != 2 || len(rounds[0]) != 11+3 || len(rounds[1]) != 1 {
		t.Errorf("rounds %v, want 14 rows and then 1", rounds)
	}
	var spare []string
	for _, m := range marks(s.Records()) {
		if m[0] == 's' {
			spare = append(spare, m)
		}
	}
	want := []string{"sa-factual-7", "sa-keyword-4", "sb-factual-1"}
	if diff := cmp.Diff(want, spare); diff != "" {
		t.Errorf("spares (-want +got):\n%s", diff)
	}
	if sum := s.Summary(); sum.Spare != 3 || sum.SpareWanted != 3 || sum.Accepted != 14 {
		t.Errorf("summary %+v", sum)
	}
}

func TestNearDuplicates(t *testing.T) {
	ask := func(query string, scope corpus.Scope) generate.Outcome {
		return generate.Outcome{Calls: 2, Case: &datasets.Case{Query: query, Scope: scope, Source: []string{"c"}}}
	}
	for _, tc := range []struct {
		name, first, second string
		firsts, scope       corpus.Scope
		duplicate           bool
		value               float64
	}{
		{name: "exact but for case and punctuation", first: "When does the valve close?", second: "when does the VALVE close", duplicate: true, value: 1},
		{name: "other word forms and order", first: "closing valves of the ceramic pump seals", second: "Pump seal ceramics: valve closes", duplicate: true, value: 1},
		{name: "one word of nine", first: "install pump hose valve seal warehouse Lyon noon order", second: "install pump hose valve seal warehouse Lyon noon", duplicate: true, value: .8889},
		{name: "half", first: "install the pump valve", second: "replace the pump valve", duplicate: false},
		{name: "another version", first: "install relief valve hose seal cartridge for version 2 pump", second: "install relief valve hose seal cartridge for version 3 pump", duplicate: false},
		{name: "another scope", first: "When does the valve close?", second: "When does the valve close?", scope: corpus.Scope{"team": {"red"}}, duplicate: false},
		{name: "one scope", first: "When does the valve close?", second: "When does the valve close?", firsts: corpus.Scope{"team": {"red"}}, scope: corpus.Scope{"team": {"red"}}, duplicate: true, value: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := rows("a", "factual", 2, 0)
			s := generate.NewSelection(plan, 0)
			s.Next()
			if err := s.Settle([]generate.Outcome{ask(tc.first, tc.firsts), ask(tc.second, tc.scope)}); err != nil {
				t.Fatal(err)
			}
			last := s.Records()[1]
			if (last.Reject != nil) != tc.duplicate {
				t.Fatalf("reject %+v, want duplicate %v", last.Reject, tc.duplicate)
			}
			var checks []datasets.Check
			if last.Reject != nil {
				checks = last.Reject.Checks
				if diff := cmp.Diff(tc.scope, last.Reject.Scope); diff != "" || last.Reject.Calls != 2 {
					t.Errorf("%d calls, scope (-want +got):\n%s", last.Reject.Calls, diff)
				}
			} else {
				checks = last.Case.Checks
			}
			want := []datasets.Check{{Name: "near_duplicate", Passed: !tc.duplicate, Value: tc.value}}
			if diff := cmp.Diff(want, checks); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
		})
	}
}

// Which of two equal queries is kept is decided by the plan.
func TestFirstInPlanOrderIsKept(t *testing.T) {
	plan := rows("a", "factual", 3, 1)
	s, _ := decide(t, plan, 0, func(r sample.Row) generate.Outcome {
		if r.Reserve {
			return made(r, "")
		}
		return made(r, "the same query about pumps")
	})
	want := []string{"+a-factual-0", "-a-factual-1 near_duplicate", "-a-factual-2 near_duplicate", "+a-factual-3"}
	if diff := cmp.Diff(want, marks(s.Records())); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// A dry run asks for no reserves in the place of what is not known yet.
func TestDryRun(t *testing.T) {
	plan := rows("a", "factual", 2, 3)
	s, rounds := decide(t, plan, 0, func(r sample.Row) generate.Outcome { return refused(r, generate.ReasonDryRun) })
	if sum := s.Summary(); len(rounds) != 1 || sum.Pending != 2 || sum.Rejected != 0 || len(sum.Shortfall) != 0 {
		t.Errorf("%d rounds, %+v", len(rounds), sum)
	}
}

func TestSettleRefusesWhatWasNotAsked(t *testing.T) {
	s := generate.NewSelection(rows("a", "factual", 2, 0), 0)
	s.Next()
	if err := s.Settle(nil); err == nil {
		t.Error("no error for missing outcomes")
	}
	if err := s.Settle(make([]generate.Outcome, 2)); err == nil {
		t.Error("no error for outcomes with neither a case nor a reject")
	}
}

func TestRecordsAsJSON(t *testing.T) {
	plan := rows("a", "factual", 2, 1)
	s, _ := decide(t, plan, .5, func(r sample.Row) generate.Outcome {
		if r.CaseID == "a-factual-1" {
			return refused(r, "copied")
		}
		return made(r, "")
	})
	for _, r := range s.Records() {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back generate.Record
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// Whatever is rejected: no cell has more than it wants, reserves are used in
// order, and as many as possible are accepted.
func TestSelectionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var plan []sample.Row
		for _, stratum := range []string{"a", "b"} {
			for _, queryType := range []string{"factual", "keyword"} {
				plan = append(plan, rows(stratum, queryType, rapid.IntRange(0, 4).Draw(t, "main"), rapid.IntRange(0, 4).Draw(t, "reserves"))...)
			}
		}
		plan = rapid.Permutation(plan).Draw(t, "plan")
		good := map[string]bool{}
		for _, r := range plan {
			good[r.CaseID] = rapid.Bool().Draw(t, "good")
		}
		share := rapid.SampledFrom([]float64{0, .2, 1}).Draw(t, "spare")
		s, _ := decide(t, plan, share, func(r sample.Row) generate.Outcome {
			if good[r.CaseID] {
				return made(r, "")
			}
			return refused(r, "answered")
		})
		kept, possible, main := map[[2]string]int{}, map[[2]string]int{}, map[[2]string]int{}
		for _, r := range plan {
			cell := [2]string{r.Stratum, r.QueryType}
			if good[r.CaseID] {
				possible[cell]++
			}
			if !r.Reserve {
				main[cell]++
			}
		}
		spare := 0
		for _, r := range s.Records() {
			if r.Case != nil && !r.Spare {
				kept[[2]string{r.Case.Provenance.Stratum, r.Case.QueryType}]++
			}
			if r.Spare {
				spare++
			}
		}
		for cell, n := range main {
			if want := min(n, possible[cell]); kept[cell] != want {
				t.Fatalf("cell %v: %d cases, want %d of %d good rows", cell, kept[cell], want, possible[cell])
			}
		}
		if sum := s.Summary(); spare > sum.SpareWanted || sum.Asked != sum.Accepted+sum.Rejected {
			t.Fatalf("%d spares, %+v", spare, sum)
		}
	})
}
