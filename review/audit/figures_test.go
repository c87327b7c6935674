package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/review"
	"github.com/goldgen/goldgen/review/audit"
)

// all answers every question: y is valid, n is not natural.
func all(letter rune) audit.Answers {
	return audit.Answers{audit.Answerable: true, audit.SelfContained: true, audit.Natural: letter == 'y', audit.RightType: true}
}

// person answers the frame's items in turn: y, n, or - for nothing.
func person(f *audit.Frame, name, letters string) audit.Person {
	p := audit.Person{Name: name, Said: map[string]audit.Answers{}}
	for i, letter := range letters {
		if letter != '-' {
			p.Said[f.Items[i].Key] = all(letter)
		}
	}
	return p
}

// drawnWith is all of a frame, each item with that chance.
func drawnWith(f *audit.Frame, chances ...float64) *audit.Sample {
	s := &audit.Sample{N: len(f.Items), Seed: 1}
	for i, item := range f.Items {
		if chances[i] > 0 {
			s.Items = append(s.Items, audit.Drawn{Item: item, Inclusion: chances[i]})
		}
	}
	return s
}

func shareOf(n int, effective, value, low, high float64) audit.Share {
	return audit.Share{N: n, Effective: effective, Value: &value, Low: &low, High: &high}
}

var near = cmpopts.EquateApprox(0, 1e-4)

// TestFiguresByHand: of 8 kept cases 4 are drawn with a chance of one half, and one
// is valid; both of 2 rejects are drawn, and both are bad. Wilson's interval of 1 of 4 is
// [.0456, .6994], that of 0 of 2 [0, .6576]. Lost are 0 of 8/4 = 2 good ones; at the
// bounds 2 (.6576) of that and 8 (.0456).
func TestFiguresByHand(t *testing.T) {
	f := crowd(8, 0, 0, 0)
	f.Items = append(f.Items, crowd(0, 0, 2, 0).Items...)
	s := drawnWith(f, .5, .5, .5, .5, 0, 0, 0, 0, 1, 1)
	a := audit.Figure(f, s, []audit.Person{person(f, "ann", "ynnn----nn")})

	if diff := cmp.Diff(shareOf(4, 4, .25, .0456, .6994), a.Kept.All.Valid, near); diff != "" {
		t.Error("kept, valid", diff)
	}
	if diff := cmp.Diff(shareOf(4, 4, 1, .5101, 1), a.Kept.ByType[0].Questions[audit.RightType], near); diff != "" {
		t.Error("kept, right type", diff)
	}
	if diff := cmp.Diff(shareOf(2, 2, 1, .3424, 1), a.Rejected.ByGate[0].Bad, near); diff != "" {
		t.Error("rejected, bad", diff)
	}
	if diff := cmp.Diff(&datasets.Interval{Value: 0, Low: 0, High: .7829}, a.GoodLost, near); diff != "" {
		t.Error("good lost", diff)
	}
	if a.Labelled != 6 || a.Asked != 6 || a.Rejected.ByGate[0].Name != "copied_run" || a.Rejected.ByGate[0].Cases != 2 {
		t.Errorf("%d of %d labelled, gates %+v", a.Labelled, a.Asked, a.Rejected.ByGate)
	}
}

// TestGoodOnesLost: valid are 1 of 2 kept, 2 of 2 held and 1 of 2 rejected queries.
func TestGoodOnesLost(t *testing.T) {
	held := []datasets.Case{keptCase("h0", "factual", "d5"), keptCase("h1", "factual", "d6")}
	for i := range held {
		held[i].Status, held[i].Reason = datasets.NeedsReview, "source graded below 2"
	}
	f := frameOf(append([]datasets.Case{keptCase("a", "factual", "d1"), keptCase("b", "factual", "d2")}, held...),
		[]datasets.Reject{refused("r", "factual", "d3", "length"), refused("s", "factual", "d4", "copied_run")})
	a := audit.Figure(f, drawnWith(f, 1, 1, 1, 1, 1, 1), []audit.Person{person(f, "ann", "ynyyyn")})
	if a.GoodLost == nil || a.GoodLost.Value != .25 {
		t.Errorf("good lost: %+v, want .25", a.GoodLost)
	}
	gates := map[string]float64{}
	for _, g := range a.Rejected.ByGate {
		gates[g.Name] = *g.Bad.Value
	}
	if diff := cmp.Diff(map[string]float64{"length": 0, "copied_run": 1}, gates); diff != "" {
		t.Error(diff)
	}
	if got := a.Held.ByGate[0]; got.Name != "source graded below 2" || *got.Bad.Value != 0 {
		t.Errorf("held: %+v", got)
	}
}

// TestIntervalsCover draws samples of a set of which the truth is known: of kept
// factual queries 9 in 10 are valid, of keyword ones 6 in 10, and of rejects 1 in 5.
func TestIntervalsCover(t *testing.T) {
	f := crowd(200, 20, 60, 30)
	truth := audit.Person{Name: "truth", Said: map[string]audit.Answers{}}
	for i, item := range f.Items {
		valid := i%10 > 0
		if item.Type == "keyword" {
			valid = i%10 > 3
		}
		if item.Verdict == audit.Rejected {
			valid = i%5 == 0
		}
		truth.Said[item.Key] = all(map[bool]rune{true: 'y', false: 'n'}[valid])
	}
	want := audit.Figure(f, ref(audit.Draw(f, len(f.Items), 1)), []audit.Person{truth})
	const runs = 400
	kept, bad, lost := 0, 0, 0
	for seed := range int64(runs) {
		s := audit.Draw(f, 50, seed)
		got := audit.Figure(f, &s, []audit.Person{truth})
		kept += holds(got.Kept.All.Valid, *want.Kept.All.Valid.Value)
		bad += holds(got.Rejected.All.Bad, *want.Rejected.All.Bad.Value)
		if v := want.GoodLost.Value; got.GoodLost.Low <= v && v <= got.GoodLost.High {
			lost++
		}
	}
	// .92 is three standard deviations of 400 below .95
	for name, n := range map[string]int{"kept, valid": kept, "rejected, bad": bad, "good lost": lost} {
		if share := float64(n) / runs; share < .92 {
			t.Errorf("%s: the interval holds the truth in %.3f of the samples", name, share)
		}
	}
}

func ref(s audit.Sample) *audit.Sample { return &s }

func holds(s audit.Share, truth float64) int {
	if *s.Low <= truth && truth <= *s.High {
		return 1
	}
	return 0
}

// TestWeights: one of type factual stands for 10, one keyword for 1, so 10 of 11
// are valid, with an effective size of 121/101.
func TestWeights(t *testing.T) {
	f := crowd(1, 1, 0, 0)
	f.Items[1].Evidence = evidence("other")
	s := drawnWith(f, .1, 1)
	a := audit.Figure(f, s, []audit.Person{person(f, "ann", "yn")})
	if got := a.Kept.All.Valid; *got.Value != .9091 || got.N != 2 {
		t.Errorf("valid %v of %d, want .9091 of 2", *got.Value, got.N)
	}
}

// TestQueriesOfOneDocumentCountAsOne: three queries, two of one document, are
// (2 + 1)^2 / (4 + 1) = 1.8.
func TestQueriesOfOneDocumentCountAsOne(t *testing.T) {
	f := frameOf([]datasets.Case{keptCase("a", "factual", "d1"), keptCase("b", "factual", "d1"), keptCase("c", "factual", "d2")}, nil)
	a := audit.Figure(f, drawnWith(f, 1, 1, 1), []audit.Person{person(f, "ann", "yyy")})
	if got := a.Kept.All.Valid.Effective; got != 1.8 {
		t.Errorf("effective size %v, want 1.8", got)
	}
	if a.GoodLost != nil {
		t.Errorf("good ones are lost without a reject: %v", *a.GoodLost)
	}
}

// TestLabelledStandForTheirStratum: of two factual queries one is labelled and
// counts twice, beside one keyword query.
func TestLabelledStandForTheirStratum(t *testing.T) {
	f := crowd(2, 1, 0, 0)
	a := audit.Figure(f, drawnWith(f, 1, 1, 1), []audit.Person{person(f, "ann", "y-n")})
	if got := a.Kept.All.Valid; *got.Value != .6667 {
		t.Errorf("valid %v, want two thirds", *got.Value)
	}
}

func TestAnUnfinishedLabelIsKnownWhereItSaysNo(t *testing.T) {
	for name, x := range map[string]struct {
		answers      audit.Answers
		valid, known bool
	}{
		"nothing":       {audit.Answers{}, true, false},
		"one yes":       {audit.Answers{audit.Natural: true}, true, false},
		"one no":        {audit.Answers{audit.Natural: false}, false, true},
		"all yes":       {all('y'), true, true},
		"three and one": {all('n'), false, true},
	} {
		valid, known := x.answers.Valid()
		if known != x.known || known && valid != x.valid {
			t.Errorf("%s: valid %v, known %v", name, valid, known)
		}
	}
}

// TestTwoPeople by hand: they agree on 3 of 4, by chance on one half: kappa .5.
// Where they differ, no counts.
func TestTwoPeople(t *testing.T) {
	f := crowd(4, 0, 0, 0)
	people := []audit.Person{person(f, "bob", "yyny"), person(f, "ann", "yynn")}
	a := audit.Figure(f, drawnWith(f, 1, 1, 1, 1), people)
	half := .5
	agreement := []audit.Agreement{{A: "ann", B: "bob", Valid: audit.Kappa{Both: 4, Same: 3, Kappa: &half}, Questions: map[audit.Question]audit.Kappa{
		audit.Answerable: {Both: 4, Same: 4}, audit.SelfContained: {Both: 4, Same: 4}, audit.RightType: {Both: 4, Same: 4},
		audit.Natural: {Both: 4, Same: 3, Kappa: &half},
	}}}
	if diff := cmp.Diff(agreement, a.Agreement); diff != "" {
		t.Error(diff)
	}
	conflict := []audit.Conflict{{CaseID: "f3", Key: f.Items[3].Key, Question: audit.Natural, Query: "query f3", Said: map[string]bool{"ann": false, "bob": true}}}
	if diff := cmp.Diff(conflict, a.Conflicts); diff != "" {
		t.Error(diff)
	}
	if *a.Kept.All.Valid.Value != .5 {
		t.Errorf("valid %v, want 2 of 4", *a.Kept.All.Valid.Value)
	}
	a = audit.Figure(f, drawnWith(f, 1, 1, 1, 1), append(people, person(f, "cy", "yyyy")))
	if *a.Kept.All.Valid.Value != .75 {
		t.Errorf("valid %v by the majority of three, want 3 of 4", *a.Kept.All.Valid.Value)
	}
}

func TestLabelsFindTheirQueries(t *testing.T) {
	f := crowd(3, 0, 0, 0)
	yes := audit.Row{Answerable: audit.Yes, By: "ann"}
	row := func(id, key, where string) audit.Row {
		r := yes
		r.CaseID, r.Key, r.Where = id, key, where
		return r
	}
	empty := audit.Row{CaseID: "f0", Key: f.Items[0].Key}
	got := audit.Take([]audit.Row{
		row("f0", f.Items[0].Key, "line 2"), row("renamed", f.Items[1].Key, "line 3"), row("f2", "", "line 4"),
		row("f2", "k0", "line 5"), row("gone", "k0", "line 6"), row("f0", "", "line 7"), empty,
	}, f, "set@v2")
	said := map[string]audit.Answers{}
	for _, i := range f.Items {
		said[i.Key] = audit.Answers{audit.Answerable: true}
	}
	want := audit.Taken{
		People: []audit.Person{{Name: "ann", Said: said}}, Read: 6, Empty: 1, Replaced: 1,
		Left: []audit.Left{
			{Where: "line 5", CaseID: "f2", Why: "its query or its evidence is another in set@v2"},
			{Where: "line 6", CaseID: "gone", Why: "no such case in set@v2"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestASheetShowsNoVerdict(t *testing.T) {
	f := crowd(1, 0, 1, 0)
	s := drawnWith(f, 1, 1)
	got := s.Rows(person(f, "ann", "-n"))
	want := []audit.Row{
		{CaseID: "f0", Key: f.Items[0].Key, QueryType: "factual", Query: "query f0", Evidence: "d0: said of d0", Sample: "n=2 seed=1"},
		{
			CaseID: "c0", Key: f.Items[1].Key, QueryType: "factual", Query: "query c0", Evidence: "d0: said of d0", Sample: "n=2 seed=1",
			Answerable: audit.Yes, SelfContained: audit.Yes, Natural: audit.No, RightType: audit.Yes, By: "ann",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(got[0].Cells()) != len(audit.Columns()) {
		t.Error("a row has not as many cells as there are columns")
	}
}

func TestFiguresOfASet(t *testing.T) {
	overlap := func(c datasets.Case, share float64, calls int) datasets.Case {
		c.Difficulty.Overlap, c.Provenance.Calls = share, calls
		return c
	}
	again, other := keptCase("e", "factual", "d1"), keptCase("f", "factual", "d1")
	again.Query, other.Query = "Query A!", "query a"
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	other.AsOf = &at
	retired := keptCase("r", "factual", "d1")
	retired.Status = datasets.Retired
	set := &datasets.Set{Cases: []datasets.Case{
		overlap(keptCase("a", "factual", "d1"), .2, 2), overlap(keptCase("b", "factual", "d1"), .6, 4),
		overlap(keptCase("c", "keyword", "d1"), 1, 0), overlap(again, .4, 0), overlap(other, .8, 0), overlap(retired, 0, 9),
	}}
	set.Manifest.Costs = datasets.Costs{CallsMade: 10, CallsCached: 2}
	set.Rejects = []datasets.Reject{{CaseID: "x", Calls: 5}, {CaseID: "y"}}
	perKept, needed, spent := 2.4, 3.0, 5.5
	want := audit.SetFigures{
		Overlap: []audit.Overlap{
			{QueryType: "factual", Cases: 4, Median: .5, Highest: .8}, {QueryType: "keyword", Cases: 1, Median: 1, Highest: 1},
		},
		Duplicates: audit.Duplicates{Exact: 1, Cases: []generate.Duplicate{{CaseID: "e", Of: "a", Similarity: 1, Exact: true}}},
		Calls:      audit.Calls{Version: 12, PerKept: &perKept, Needed: &needed, Spent: &spent},
	}
	if diff := cmp.Diff(want, audit.FiguresOf(set)); diff != "" {
		t.Error(diff)
	}
	set.Rejects, want.Calls.Spent = []datasets.Reject{{CaseID: "x"}}, nil // of a set that did not keep them
	if diff := cmp.Diff(want.Calls, audit.FiguresOf(set).Calls); diff != "" {
		t.Errorf("calls of rejects that do not tell them (-want +got):\n%s", diff)
	}
	set.Rejects, want.Calls.Spent = nil, &needed
	if diff := cmp.Diff(want.Calls, audit.FiguresOf(set).Calls); diff != "" {
		t.Errorf("calls without rejects (-want +got):\n%s", diff)
	}
}

func TestADeskGoesOnWhereItStopped(t *testing.T) {
	f := crowd(2, 0, 0, 0)
	s := drawnWith(f, 1, 1)
	dir := t.TempDir()
	open := func() (*audit.Desk, *review.Journal) {
		j, err := review.OpenJournal(dir, review.Head{Set: "set", Reviewer: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		return audit.Sit(s, "ann", j, func() time.Time { return time.Unix(0, 0) }), j
	}
	d, j := open()
	at := func(want string) {
		t.Helper()
		got := "nothing"
		if item, q, ok := d.Current(); ok {
			got = item.CaseID + " " + string(q)
		}
		if got != want {
			t.Fatalf("the desk asks %s, want %s", got, want)
		}
	}
	say := func(answers ...bool) {
		t.Helper()
		for _, yes := range answers {
			if err := d.Answer(yes); err != nil {
				t.Fatal(err)
			}
		}
	}
	undo := func(want bool) {
		t.Helper()
		if got, err := d.Undo(); got != want || err != nil {
			t.Fatalf("undo: %v, %v", got, err)
		}
	}
	at("f0 answerable")
	undo(false)
	say(true, true)
	at("f0 natural")
	d.Skip()
	at("f1 answerable")
	undo(true)
	at("f0 natural")
	undo(true)
	at("f0 self_contained")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	d, j = open()
	at("f0 self_contained")
	say(false, true, true, true)
	at("f1 self_contained")
	undo(true)
	undo(true)
	at("f0 right_type")
	say(true, true, true, true, true)
	at("nothing")
	say(true)
	if labelled, skipped, of := d.Progress(); labelled != 2 || skipped != 0 || of != 2 {
		t.Errorf("%d labelled, %d skipped of %d", labelled, skipped, of)
	}
	want := map[string]audit.Answers{f.Items[1].Key: all('y'), f.Items[0].Key: {audit.Answerable: true, audit.SelfContained: false, audit.Natural: true, audit.RightType: true}}
	if diff := cmp.Diff(want, d.Person().Said); diff != "" {
		t.Error(diff)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
