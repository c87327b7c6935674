package datasets_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/datasets"
)

// caseNamed is a sound case of its own id.
func caseNamed(id, query string) datasets.Case {
	c := draft(query).Cases[0]
	c.ID, c.Origin = id, datasets.OriginImported
	return c
}

// laterClock is a day after the stores of tests.
func laterClock() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

func load(t *testing.T, s *datasets.Store, ref string) *datasets.Set {
	t.Helper()
	set, err := s.Load(ref)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestCompareTellsCasesApart(t *testing.T) {
	s := newStore(t)
	d := draft("kept?")
	for _, id := range []string{"gone", "retired", "worded", "labelled", "evidenced"} {
		d.Cases = append(d.Cases, caseNamed(id, id+"?"))
	}
	write(t, s, "set", d)
	before := load(t, s, "set")
	next := datasets.Derive(before, "by hand")
	next.Cases = append(next.Cases[:1:1], next.Cases[2:]...)
	next.Cases[1].Status, next.Cases[1].Reason = datasets.Retired, "wrong"
	next.Cases[2].Query = "other words?"
	next.Cases[3].Judgments = append(next.Cases[3].Judgments, datasets.Judgment{ChunkID: "b#0", DocID: "b", Grade: new(1), By: datasets.ByHuman, Inclusion: 1})
	next.Cases[4].Evidence = []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#0", Start: 0, End: 2, Quote: "ab"}}
	next.Cases = append(next.Cases, caseNamed("new", "new?"))
	next.Manifest.Pins.Seed, next.Manifest.RelevantGrade = 8, 1
	write(t, s, "set", next)

	got := datasets.Compare(before, load(t, s, "set"))
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	note := func(id string) datasets.CaseNote {
		return datasets.CaseNote{CaseID: id, Query: id + "?", QueryType: "factual"}
	}
	retired := note("retired")
	retired.Reason = "wrong"
	judged := `{"chunk_id":"b#0","doc_id":"b","grade":1,"p":null,"p_draws":null,"label":"","by":"human","judge":"","features":{},"inclusion":1,"spans":[]}`
	want := datasets.Diff{
		Added: []datasets.CaseNote{note("new")}, Removed: []datasets.CaseNote{note("gone")}, Retired: []datasets.CaseNote{retired},
		Changed: []datasets.CaseChange{
			{CaseID: "worded", Query: "other words?", What: []string{"query"}, Fields: []datasets.FieldChange{{Field: "query", Before: raw(`"worded?"`), After: raw(`"other words?"`)}}},
			{CaseID: "labelled", Query: "labelled?", What: []string{"labels"}, Fields: []datasets.FieldChange{{Field: `judgments["b#0",human]`, After: raw(judged)}}},
			{CaseID: "evidenced", Query: "evidenced?", What: []string{"evidence"}, Fields: []datasets.FieldChange{{Field: "evidence", Before: raw(`[]`), After: raw(`[{"doc_id":"a.md","chunk_id":"a.md#0","start":0,"end":2,"quote":"ab"}]`)}}},
		},
		Pins:     []datasets.FieldChange{{Field: "pins.seed", Before: raw(`7`), After: raw(`8`)}},
		Manifest: []datasets.FieldChange{{Field: "relevant_grade", Before: raw(`2`), After: raw(`1`)}},
		Rejects:  [2]int{1, 1},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(datasets.Diff{}, "From", "To")); diff != "" {
		t.Error(diff)
	}
}

// A version is as itself, and what a way forth adds a way back removes.
func TestCompareIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drafts.Draw(t, "x"), drafts.Draw(t, "y")
		a, b := &datasets.Set{Manifest: x.Manifest, Cases: x.Cases, Rejects: x.Rejects}, &datasets.Set{Manifest: y.Manifest, Cases: y.Cases, Rejects: y.Rejects}
		if d := datasets.Compare(a, a); !d.Same {
			t.Errorf("a set differs from itself: %+v", d)
		}
		forth, back := datasets.Compare(a, b), datasets.Compare(b, a)
		if diff := cmp.Diff(forth.Added, back.Removed); diff != "" {
			t.Error(diff)
		}
		if len(forth.Changed) != len(back.Changed) {
			t.Errorf("%d cases changed forth and %d back", len(forth.Changed), len(back.Changed))
		}
	})
}

func TestLogFollowsParents(t *testing.T) {
	s := newStore(t)
	d := draft("one?")
	d.Manifest.Why = "generated and judged"
	v1 := write(t, s, "set", d)
	write(t, s, "set", draft("two?"))
	branch := datasets.Derive(load(t, s, "set@v1"), "edited")
	branch.Cases[0].Query, branch.Branch = "three?", true
	v3 := write(t, s, "set", branch)
	if _, _, err := s.SetTag(context.Background(), v1, "base", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Log("set")
	if err != nil {
		t.Fatal(err)
	}
	counts := load(t, s, "set").Manifest.Counts
	entry := func(r datasets.Ref, parent, why string, tags ...string) datasets.LogEntry {
		return datasets.LogEntry{
			Ref: r, Parent: parent, Why: why, Counts: counts, Trust: datasets.TrustSourceOnly,
			CreatedAt: "2026-11-30T12:00:00Z", Tags: append([]string{}, tags...),
		}
	}
	want := []datasets.LogEntry{entry(v3, "v1", "edited"), entry(v1, "", "generated and judged", "base")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestADerivedDraftKnowsItsParent(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	v1 := write(t, s, "set", draft("one?"))
	stale := datasets.Derive(load(t, s, "set"), "edited")
	write(t, s, "set", draft("two?"))
	stale.Cases[0].Query = "three?"
	if _, _, err := s.Write(ctx, "set", stale); !errors.Is(err, datasets.ErrNotNewest) || !strings.Contains(err.Error(), "v1: not the newest version: that is v2") {
		t.Errorf("an edit of v1 would lose what v2 has: %v", err)
	}
	stale.Branch = true
	ref := write(t, s, "set", stale)
	m := load(t, s, ref.String()).Manifest
	if m.Version != 3 || m.ParentVersion != 1 || m.Parent != v1.Digest {
		t.Errorf("the branch is v%d of v%d", m.Version, m.ParentVersion)
	}
}

// What a derived version was made from stays as old as it was.
func TestDerivedVersionsKeepWhenTheyWereRefreshed(t *testing.T) {
	s := newStore(t)
	write(t, s, "set", draft("one?"))
	made := load(t, s, "set").Manifest.CreatedAt
	later := *s
	later.Now = laterClock
	d := datasets.Derive(load(t, s, "set"), "edited")
	d.Cases[0].Query = "two?"
	write(t, &later, "set", d)
	m := load(t, s, "set").Manifest
	if m.RefreshedAt != made || m.CreatedAt == made {
		t.Errorf("refreshed at %s, created at %s; v1 was made at %s", m.RefreshedAt, m.CreatedAt, made)
	}
	anew := write(t, &later, "set", draft("three?"))
	if m := load(t, s, "set").Manifest; m.RefreshedAt != m.CreatedAt {
		t.Errorf("a set made anew was refreshed at %s, created at %s", m.RefreshedAt, m.CreatedAt)
	}
	// Two runs that make the same set differ in one time alone.
	if data, err := os.ReadFile(filepath.Join(anew.Path, "manifest.json")); err != nil || bytes.Contains(data, []byte("refreshed_at")) {
		t.Errorf("a set made anew says when it was refreshed (%v):\n%s", err, data)
	}
}

// Manifests from before why and refreshed_at are read as made when created.
func TestOlderManifestsAreRead(t *testing.T) {
	s := newStore(t)
	r := write(t, s, "set", draft("one?"))
	path := filepath.Join(r.Path, "manifest.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "why")
	delete(m, "refreshed_at")
	if data, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	old := load(t, s, "set")
	if old.Manifest.RefreshedAt != m["created_at"] || old.Manifest.Why != "" {
		t.Errorf("refreshed at %q, why %q", old.Manifest.RefreshedAt, old.Manifest.Why)
	}
	if log, err := s.Log("set"); err != nil || len(log) != 1 {
		t.Errorf("log %+v (%v)", log, err)
	}
}
