package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/review"
	"github.com/goldgen/goldgen/review/audit"
)

// evident gives cases evidence in their documents, and the set two rejects.
func evident(d *datasets.Draft) {
	span := func(doc string) []datasets.Evidence {
		return []datasets.Evidence{{DocID: doc, ChunkID: doc, Start: 0, End: len("Record ") + len(doc), Quote: "Record " + doc}}
	}
	for i := range d.Cases {
		d.Cases[i].Evidence = span(document(i))
	}
	for i := range 2 {
		d.Rejects = append(d.Rejects, datasets.Reject{
			CaseID: "r" + caseID(i), Query: "what does it hold?", QueryType: datasets.Factual, ChunkID: document(30 + i), Stage: "generate",
			Reason: "self_contained", Checks: []datasets.Check{{Name: "self_contained"}}, Evidence: span(document(30 + i)),
		})
	}
}

func desk(t *testing.T, b *bench, n int, name string) *pipeline.AuditDesk {
	t.Helper()
	d, err := b.OpenAudit(pipeline.AuditOptions{Golden: "records", N: n, Seed: 1, Reviewer: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func answer(t *testing.T, d *pipeline.AuditDesk, yes bool, times int) {
	t.Helper()
	for range times {
		if err := d.Answer(yes); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOnePersonSitsAtOneDesk(t *testing.T) {
	b := newBench(t, evident)
	first := desk(t, b, 6, "ann")
	answer(t, first, true, 5)
	_, err := b.OpenAudit(pipeline.AuditOptions{Golden: "records", N: 6, Seed: 1, Reviewer: "ann"})
	var hint *pipeline.HintedError
	if !errors.Is(err, review.ErrBusy) || !errors.As(err, &hint) {
		t.Errorf("a second desk of ann: %v", err)
	}
	second := desk(t, b, 6, "bob")
	answer(t, second, false, 4)

	// what both said so far, while both desks are open
	r, err := b.AuditReport(pipeline.AuditOptions{Golden: "records", N: 50, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	tallies := []audit.Tally{{Name: "ann", Labelled: 1, Begun: 1}, {Name: "bob", Labelled: 1}}
	if diff := cmp.Diff(tallies, r.People); diff != "" || r.Sample != "n=6 seed=1" {
		t.Errorf("sample %s %s", r.Sample, diff)
	}
	if len(r.Conflicts) != 4 || r.Agreement[0].Valid.Both != 1 {
		t.Errorf("%d conflicts, %+v", len(r.Conflicts), r.Agreement)
	}
}

// The process ends without a word: its lock goes with it, and every answer that
// was given is there. What was being written is not.
func TestAnswersOutliveTheProcess(t *testing.T) {
	b := newBench(t, evident)
	d := desk(t, b, 6, "ann")
	answer(t, d, true, 7)
	data, err := os.ReadFile(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	other := newBench(t, evident)
	path := filepath.Join(other.Dir, ".goldgen", "audits", "records", "ann.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, string(data)+`{"n":8,"kind":"aud`)
	again := desk(t, other, 6, "ann")
	if diff := cmp.Diff(d.Person(), again.Person()); diff != "" {
		t.Error(diff)
	}
	if len(again.Notes) != 1 {
		t.Errorf("notes %q, want that a line was cut off", again.Notes)
	}
}

func TestLabelsCarryOverToTheNextVersion(t *testing.T) {
	b := newBench(t, evident)
	d := desk(t, b, 26, "ann")
	answer(t, d, true, 4*26)
	s, _, err := b.MakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	b.commit(t, s, func(d *datasets.Draft) {
		evident(d)
		d.Cases[3].Query = "asked in other words"
		d.Cases = slices.Delete(d.Cases, 5, 6)
	})
	r, err := b.AuditReport(pipeline.AuditOptions{Golden: "records", N: 26, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Golden.Version != 2 || r.Asked != 25 || r.Labelled != 24 {
		t.Errorf("version %d, %d of %d labelled; want 24 of 25 of version 2", r.Golden.Version, r.Labelled, r.Asked)
	}
}

func TestASetThatNobodyCanBeAskedAbout(t *testing.T) {
	b := newBench(t, nil) // queries of people, without evidence
	if _, err := b.AuditReport(pipeline.AuditOptions{Golden: "records", N: 6}); err == nil {
		t.Error("a report on nothing")
	}
	for _, o := range []pipeline.AuditOptions{{Golden: "records"}, {Golden: "records", N: -1}} {
		if _, err := b.AuditReport(o); !errors.Is(err, pipeline.ErrConfig) {
			t.Errorf("n %d: %v", o.N, err)
		}
	}
	if _, err := b.OpenAudit(pipeline.AuditOptions{Golden: "records", N: 6, Reviewer: " "}); !errors.Is(err, pipeline.ErrConfig) {
		t.Errorf("a blank name: %v", err)
	}
}
