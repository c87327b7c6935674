package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/judge"
)

// tiny is a collection about six subjects: a document is of one of them, and a
// query asks for two words of a subject, to which its documents are relevant.
func tiny() collections.Collection {
	subjects := []string{
		"wing lift drag stall flap airfoil", "shell buckling plate stress panel load", "heat flux boundary layer plasma wall",
		"index query term ranking thesaurus library", "compiler parser grammar syntax token stack", "orbit satellite decay drift launch gravity",
	}
	rng := rand.New(rand.NewPCG(3, 5))
	words := func(subject, n int) string {
		list := strings.Fields(subjects[subject])
		var out []string
		for range n {
			out = append(out, list[rng.IntN(len(list))])
		}
		return strings.Join(out, " ")
	}
	c := collections.Collection{Name: "tiny", Qrels: map[string]map[string]int{}}
	for i := range 60 {
		subject := i % len(subjects)
		title := words(subject, 2)
		text := fmt.Sprintf("%s\n%s %s report %d", title, words(subject, 9), words(rng.IntN(len(subjects)), 5), i)
		c.Documents = append(c.Documents, collections.Document{ID: fmt.Sprintf("d%d", i), Title: title, Text: text})
	}
	for i := range 45 {
		id := fmt.Sprintf("q%d", i)
		c.Queries = append(c.Queries, collections.Query{ID: id, Text: words(i%len(subjects), 2) + " " + id})
		c.Qrels[id] = map[string]int{}
		for j := i % len(subjects); j < len(c.Documents); j += len(subjects) {
			c.Qrels[id][c.Documents[j].ID] = 1
		}
	}
	return c
}

// tinySubject has the prior that goldgen ships: mechanics are tested, not it.
func tinySubject(t *testing.T) *subject {
	t.Helper()
	m, err := study.Gather(t.Context(), tiny(), 8)
	if err != nil {
		t.Fatal(err)
	}
	prior, err := judge.Prior()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSubject(t.Context(), m, prior)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tinyLines are three queries of each of 20 documents, the second of every
// fourth of which was refused, and a single one of 5 others.
func tinyLines() []study.Written {
	var lines []study.Written
	for i := range 25 {
		for place := range 3 {
			if i >= 20 && place > 0 {
				break
			}
			l := study.Written{Document: fmt.Sprintf("d%d", i), Place: place, Type: datasets.Keyword, Query: strings.Join(strings.Fields(tiny().Documents[i].Text)[2+place:4+place], " ") + fmt.Sprint(" d", i)}
			if place == 1 && i%4 == 0 {
				l.Refused = "copied"
			}
			lines = append(lines, l)
		}
	}
	return lines
}

func TestSetsOf(t *testing.T) {
	type shape struct {
		Kind             string
		Cases, Documents int
	}
	var got []shape
	for _, set := range setsOf(tinyLines(), 200) {
		documents := map[string]bool{}
		for _, c := range set.cases {
			documents[c.Source[0]] = true
		}
		got = append(got, shape{set.kind, len(set.cases), len(documents)})
	}
	want := []shape{
		{study.OneADocument, 25, 25},   // the first of each document, with fewer than 50
		{study.ThreeADocument, 50, 19}, // file order; 55 are no set of a hundred
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range setsOf(tinyLines(), 200)[1].cases {
		if c.ID == "d4-1" {
			t.Error("a query that was refused is in a set")
		}
	}
}

func TestRows(t *testing.T) {
	s := tinySubject(t)
	t.Run("queries that gave labels are left out", func(t *testing.T) { labelledAreLeftOut(t, s) })
	t.Run("queries of a document share a cluster", func(t *testing.T) { documentsAreClusters(t, s) })
	t.Run("the same twice", func(t *testing.T) { theSameTwice(t, s) })
	t.Run("a model's grades", func(t *testing.T) { gradesCount(t, s) })
}

// No query that gave a label is in the reference.
func labelledAreLeftOut(t *testing.T, s *subject) {
	if len(s.draws) != study.LabelDraws {
		t.Fatalf("%d draws of labels", len(s.draws))
	}
	for _, o := range s.draws {
		var reference []string
		for _, c := range o.rest.People().Retrievers[0].Cases {
			reference = append(reference, c.ID)
		}
		if len(reference) != 30 {
			t.Errorf("%d queries in the reference, want two thirds of 45", len(reference))
		}
		for i, n := range o.sizes {
			if len(o.labels[i]) != n {
				t.Errorf("%d labels, want %d", len(o.labels[i]), n)
			}
			for _, l := range o.labels[i] {
				if slices.Contains(reference, l.CaseID) {
					t.Fatalf("query %s gave a label and is in the reference", l.CaseID)
				}
			}
			if p := o.fitted[i]; p.Level != judge.LevelFitted || p.Training.Pairs != n || p.Training.Queries > 15 {
				t.Errorf("fitted on %+v, level %s", p.Training, p.Level)
			}
		}
	}
}

// Three queries of a document are one cluster of the tested set.
func documentsAreClusters(t *testing.T, s *subject) {
	set := setsOf(tinyLines(), 200)[1]
	l := &looked{subject: s, set: set}
	var err error
	if l.rankings, err = s.Ask(t.Context(), study.Questions(set.cases)); err != nil {
		t.Fatal(err)
	}
	labels, err := s.label(t.Context(), set.cases, s.prior, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.compare(byPriorIn(datasets.SourceIn), labels, datasets.SourceIn)
	if err != nil {
		t.Fatal(err)
	}
	if got := [2]int{a.Tested.Cases, a.Tested.Clusters}; got != [2]int{50, 19} {
		t.Errorf("%d cases in %d clusters, want 50 in 19", got[0], got[1])
	}
	if !a.Tested.SignRule || a.Tested.Trust != datasets.TrustPrior || a.Tested.Labels != "uncertain" {
		t.Errorf("the tested set is %+v: want probabilities, and the sign rule", a.Tested)
	}
	if a.Reference.Clusters != 45 || a.Reference.SignRule {
		t.Errorf("the reference is %+v", a.Reference)
	}
}

func theSameTwice(t *testing.T, s *subject) {
	set := setsOf(tinyLines(), 200)[0]
	one := *s
	one.draws = s.draws[:1]
	var pages []string
	for range 2 {
		rows, err := one.rows(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, tables(rows))
	}
	if diff := cmp.Diff(pages[0], pages[1]); diff != "" {
		t.Error(diff)
	}
	for _, how := range []string{
		sourceOnly, "prior, source in", "prior, source judged", "prior, source out", placebo, ceiling,
		"prior, source in, all results pooled", "prior, source in, reference as below", "200 labels, source in", "50 labels, source out",
	} {
		if n := strings.Count(pages[0], "| 25 | "+how+" |"); n != 1 {
			t.Errorf("%d rows of %q, want one:\n%s", n, how, pages[0])
		}
	}
}

// A model that grades right ranks variants as people do, and its grade is learnt.
func gradesCount(t *testing.T, s *subject) {
	set := setsOf(tinyLines(), 200)[0]
	one := *s
	one.draws, one.grades = s.draws[:1], grades{}
	asked, _ := s.Split(0)
	for _, cases := range [][]datasets.Case{set.cases, asked.Questioned()} {
		pairs, err := s.Pooled(t.Context(), cases)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			one.grades[p.Case.Query] = append(one.grades[p.Case.Query], graded(p, s.Qrels))
		}
	}
	rows, err := one.rows(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	tau := map[string]float64{}
	for _, r := range rows {
		if r.figures.Tau.Value != nil {
			tau[r.how] = *r.figures.Tau.Value
		}
	}
	labels := len(one.grades.of(asked))
	for _, mode := range study.Modes()[:2] {
		alone := fmt.Sprintf("the model's grades alone, source %s", mode)
		if v, ok := tau[alone]; !ok || v < 0.9 {
			t.Errorf("%s: tau %v (found %v), want nearly 1: the grades are people's", alone, v, ok)
		}
		fitted := fmt.Sprintf("%d labels of graded pairs", labels)
		with, ok := tau[fmt.Sprintf("%s with the grade, source %s", fitted, mode)]
		without, both := tau[fmt.Sprintf("%s, source %s", fitted, mode)]
		if !ok || !both || with < without+0.5 {
			t.Errorf("fitted on %d graded pairs: tau %v with the grade, %v without (found %v, %v)", labels, with, without, ok, both)
		}
	}
}

// graded is the judgment of a model that grades as people do: by the subject of
// the document, as a synthetic query asks for its document's.
func graded(p study.Pair, qrels map[string]map[string]int) datasets.Judgment {
	var of, is int
	grade := 0
	if judged, people := qrels[p.Case.ID]; people {
		grade = 3 * judged[p.Chunk.ID]
	} else {
		fmt.Sscanf(p.Case.Source[0], "d%d", &of)
		fmt.Sscanf(p.Chunk.ID, "d%d", &is)
		if of%6 == is%6 {
			grade = 3
		}
	}
	expected := float64(grade)
	line := study.GradedAs("model", p, judge.Grade{Grade: &grade, Expected: &expected, Probs: oneOf(grade)})
	return line.Judgment(relevantGrade)
}

func oneOf(grade int) (probs [4]float64) {
	probs[grade] = 1
	return probs
}
