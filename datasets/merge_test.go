package datasets_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/datasets"
)

// human is a person's judgment of chunk b#0.
func human(grade int, who string) datasets.Judgment {
	return datasets.Judgment{ChunkID: "b#0", DocID: "b", Grade: &grade, By: datasets.ByHuman, Judge: who, Inclusion: 1}
}

// branches are three versions of a set of the cases a, b and c: v1, and two that
// were made of it.
func branches(t *testing.T, ours, theirs func(*datasets.Draft)) (s *datasets.Store, base, a, b *datasets.Set) {
	t.Helper()
	s = newStore(t)
	d := draft("x?")
	d.Cases = nil
	for _, id := range []string{"a", "b", "c"} {
		d.Cases = append(d.Cases, caseNamed(id, id+"?"))
	}
	write(t, s, "set", d)
	base = load(t, s, "set")
	for i, change := range []func(*datasets.Draft){ours, theirs} {
		next := datasets.Derive(base, "edited")
		next.Branch = true
		change(&next)
		write(t, s, "set", next)
		if i == 0 {
			a = load(t, s, "set")
		}
	}
	return s, base, a, load(t, s, "set")
}

func TestMergeTakesWhatOneSideChanged(t *testing.T) {
	s, _, a, b := branches(t, func(d *datasets.Draft) {
		d.Cases[0].Query = "reworded?"
		d.Cases[1].Tags = []string{"critical"}
		d.Cases = append(d.Cases, caseNamed("ours", "ours?"))
		d.Manifest.Notes = []string{"from ours"}
	}, func(d *datasets.Draft) {
		d.Cases[1].Judgments = append(d.Cases[1].Judgments, human(3, "ada"))
		d.Cases = append(d.Cases[:2:2], caseNamed("theirs", "theirs?"))
		d.Rejects = nil
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustReviewed, Why: "people"}
		d.Manifest.Notes = []string{"from theirs"}
	})
	ancestor, err := datasets.CommonAncestor(ref(a), ref(b))
	if err != nil || ancestor.Version != 1 {
		t.Fatalf("the common ancestor is %v (%v)", ancestor, err)
	}
	merged, report, err := datasets.Merge(load(t, s, ancestor.Path), a, b, "")
	if err != nil {
		t.Fatal(err)
	}
	merged.Branch = true
	write(t, s, "set", merged)
	got := load(t, s, "set")
	want := datasets.Derive(a, "").Cases
	want = append(want[:2:2], want[3], caseNamed("theirs", "theirs?"))
	want[1].Judgments = append(slices.Clone(want[1].Judgments), human(3, "ada"))
	if diff := cmp.Diff(rowsOf(want), rowsOf(got.Cases)); diff != "" {
		t.Error(diff)
	}
	m := got.Manifest
	if m.Trust.Level != datasets.TrustReviewed || m.ParentVersion != 2 || m.Merged != b.Manifest.Digest || m.MergedVersion != 3 || len(got.Rejects) != 0 || len(m.Funnel) != 0 {
		t.Errorf("manifest: %+v", m)
	}
	if diff := cmp.Diff([]string{"from ours", "from theirs"}, m.Notes); diff != "" {
		t.Error(diff)
	}
	if len(report.Conflicts) != 0 || len(report.Taken.Added) != 1 || len(report.Taken.Removed) != 1 || len(report.Taken.Changed) != 1 {
		t.Errorf("report: %+v", report)
	}
	log, err := s.Log("set")
	if err != nil || len(log) != 4 || log[0].Merged != b.Manifest.Digest {
		t.Errorf("log: %+v (%v)", log, err)
	}
}

// rowsOf are cases without what the store writes in them.
func rowsOf(cases []datasets.Case) []datasets.Case {
	out := make([]datasets.Case, len(cases))
	for i := range cases {
		out[i] = cases[i].Canonical()
		out[i].Since, out[i].RetiredIn = "", ""
	}
	return out
}

func ref(s *datasets.Set) datasets.Ref {
	r := s.Ref()
	r.Path = s.Dir
	return r
}

func TestMergeNamesConflicts(t *testing.T) {
	judged := func(grade int, who string) json.RawMessage {
		c := caseNamed("b", "b?")
		c.Judgments = []datasets.Judgment{human(grade, who)}
		row := c.Canonical()
		text, _ := json.Marshal(row.Judgments[0])
		return text
	}
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	cases := []struct {
		name         string
		ours, theirs func(*datasets.Draft)
		want         []datasets.Conflict
		ourQuery     string // of case b, with ours and with theirs
		theirQuery   string
	}{
		{
			"both reworded it",
			func(d *datasets.Draft) { d.Cases[1].Query = "ours?" },
			func(d *datasets.Draft) { d.Cases[1].Query = "theirs?" },
			[]datasets.Conflict{{CaseID: "b", Field: "query", Base: raw(`"b?"`), Ours: raw(`"ours?"`), Theirs: raw(`"theirs?"`)}},
			"ours?", "theirs?",
		},
		{
			"both graded it",
			func(d *datasets.Draft) {
				d.Cases[1].Judgments = append(slices.Clone(d.Cases[1].Judgments), human(3, "ada"))
			},
			func(d *datasets.Draft) {
				d.Cases[1].Judgments = append(slices.Clone(d.Cases[1].Judgments), human(0, "bob"))
			},
			[]datasets.Conflict{{CaseID: "b", Field: `judgments["b#0",human]`, Ours: judged(3, "ada"), Theirs: judged(0, "bob")}},
			"b?", "b?",
		},
		{
			"one reworded what the other graded",
			func(d *datasets.Draft) { d.Cases[1].Query = "ours?" },
			func(d *datasets.Draft) {
				d.Cases[1].Judgments = append(slices.Clone(d.Cases[1].Judgments), human(3, "ada"))
			},
			[]datasets.Conflict{
				{CaseID: "b", Field: `judgments["b#0",human]`, Theirs: judged(3, "ada")},
				{CaseID: "b", Field: "query", Base: raw(`"b?"`), Ours: raw(`"ours?"`), Theirs: raw(`"b?"`)},
			},
			"ours?", "b?",
		},
		{
			"trust",
			func(d *datasets.Draft) { d.Manifest.RelevantGrade = 1 },
			func(d *datasets.Draft) { d.Manifest.RelevantGrade = 3 },
			[]datasets.Conflict{{Field: "relevant_grade", Base: raw("2"), Ours: raw("1"), Theirs: raw("3")}},
			"b?", "b?",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, base, a, b := branches(t, c.ours, c.theirs)
			_, report, err := datasets.Merge(base, a, b, "")
			if !errors.Is(err, datasets.ErrConflicts) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(c.want, report.Conflicts); diff != "" {
				t.Error(diff)
			}
			for prefer, query := range map[string]string{datasets.PreferOurs: c.ourQuery, datasets.PreferTheirs: c.theirQuery} {
				d, report, err := datasets.Merge(base, a, b, prefer)
				if err != nil || len(report.Conflicts) != len(c.want) {
					t.Fatalf("%s: %d conflicts, %v", prefer, len(report.Conflicts), err)
				}
				winner := map[string]*datasets.Set{datasets.PreferOurs: a, datasets.PreferTheirs: b}[prefer]
				if diff := cmp.Diff(rowsOf(winner.Cases), rowsOf(d.Cases)); diff != "" || d.Cases[1].Query != query {
					t.Errorf("%s: %s", prefer, diff)
				}
				if d.Manifest.RelevantGrade != winner.Manifest.RelevantGrade {
					t.Errorf("%s: relevant from %d", prefer, d.Manifest.RelevantGrade)
				}
			}
		})
	}
}

func TestMergeOfACaseThatOneSideRemoved(t *testing.T) {
	_, base, a, b := branches(t,
		func(d *datasets.Draft) { d.Cases = d.Cases[:1] }, // b and c go
		func(d *datasets.Draft) { d.Cases[1].Category = "changed" })
	_, report, err := datasets.Merge(base, a, b, "")
	if !errors.Is(err, datasets.ErrConflicts) || len(report.Conflicts) != 1 || report.Conflicts[0].CaseID != "b" || report.Conflicts[0].Field != "case" || report.Conflicts[0].Ours != nil {
		t.Fatalf("%v, %+v", err, report.Conflicts)
	}
	for prefer, want := range map[string]int{datasets.PreferOurs: 1, datasets.PreferTheirs: 2} {
		d, _, err := datasets.Merge(base, a, b, prefer)
		if err != nil || len(d.Cases) != want {
			t.Errorf("%s: %d cases, %v", prefer, len(d.Cases), err)
		}
	}
}

func TestUnrelatedVersionsAreNotMerged(t *testing.T) {
	s, other := newStore(t), newStore(t)
	write(t, s, "set", draft("one?"))
	write(t, other, "set", draft("two?"))
	if _, err := datasets.CommonAncestor(ref(load(t, s, "set")), ref(load(t, other, "set"))); !errors.Is(err, datasets.ErrUnrelated) {
		t.Errorf("two sets that were made apart: %v", err)
	}
	a := load(t, s, "set")
	d := draft("elsewhere?")
	d.Manifest.Pins.Corpus.Digest = "c2"
	write(t, s, "set", d)
	if _, _, err := datasets.Merge(a, a, load(t, s, "set"), datasets.PreferOurs); err == nil {
		t.Error("sets over different corpora were merged")
	}
}

// Copies of a set that went on apart, as in two checkouts, are merged by folder.
func TestMergeOfCopies(t *testing.T) {
	s := newStore(t)
	write(t, s, "set", draft("one?"))
	copied := newStore(t)
	if err := os.CopyFS(copied.Root, os.DirFS(s.Root)); err != nil {
		t.Fatal(err)
	}
	here, there := datasets.Derive(load(t, s, "set"), "here"), datasets.Derive(load(t, copied, "set"), "there")
	here.Cases[0].Category, there.Cases[0].Language = "here", "de"
	write(t, s, "set", here)
	write(t, copied, "set", there)
	a, b := load(t, s, "set"), load(t, copied, filepath.Join(copied.Root, "set", "v0002"))
	base, err := datasets.CommonAncestor(ref(a), ref(b))
	if err != nil || base != ref(load(t, s, "set@v1")) {
		t.Fatalf("ancestor %v (%v)", base, err)
	}
	d, _, err := datasets.Merge(load(t, s, base.Path), a, b, "")
	if err != nil || d.Cases[0].Category != "here" || d.Cases[0].Language != "de" {
		t.Errorf("%+v, %v", d.Cases, err)
	}
	if _, changed, err := s.Write(context.Background(), "set", d); err != nil || !changed {
		t.Error(changed, err)
	}
	alone := filepath.Join(t.TempDir(), "downloaded")
	if err := os.CopyFS(alone, os.DirFS(b.Dir)); err != nil {
		t.Fatal(err)
	}
	if log, err := s.Log(alone); err != nil || len(log) != 1 || log[0].Ref.Path != alone || !log[0].Missing {
		t.Errorf("a version that lies alone: %+v (%v)", log, err)
	}
	b.Dir = alone
	for _, pair := range [][2]datasets.Ref{{ref(a), ref(b)}, {ref(b), ref(a)}} {
		if got, err := datasets.CommonAncestor(pair[0], pair[1]); err != nil || got != base {
			t.Errorf("with a version that lies alone: %v (%v)", got, err)
		}
	}
}

// A merge of a version with its own past gives that version, on whichever side.
func TestMergeWithThePast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drafts.Draw(t, "base"), drafts.Draw(t, "next")
		base := &datasets.Set{Manifest: x.Manifest, Cases: x.Cases, Rejects: x.Rejects}
		next := &datasets.Set{Manifest: y.Manifest, Cases: y.Cases, Rejects: y.Rejects}
		for side, pair := range map[string][2]*datasets.Set{"ours": {next, base}, "theirs": {base, next}} {
			d, report, err := datasets.Merge(base, pair[0], pair[1], "")
			if err != nil || len(report.Conflicts) > 0 {
				t.Fatalf("%s: %v, %+v", side, err, report.Conflicts)
			}
			got, want := casesInOrder(d.Cases), casesInOrder(next.Cases)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", side, diff)
			}
		}
	})
}

// casesInOrder are rows by id: a merge keeps the order of ours.
func casesInOrder(cases []datasets.Case) []datasets.Case {
	out := rowsOf(cases)
	slices.SortFunc(out, func(a, b datasets.Case) int { return strings.Compare(a.ID, b.ID) })
	for i := range out {
		slices.SortFunc(out[i].Judgments, func(a, b datasets.Judgment) int { return strings.Compare(a.ChunkID+a.By, b.ChunkID+b.By) })
	}
	return out
}

// Changes of different cases never conflict, and it does not matter whose they are.
func TestMergeOfDifferentCasesCommutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drafts.Draw(t, "base")
		side := func(name string, odd int) *datasets.Set {
			out := &datasets.Set{Manifest: d.Manifest, Cases: slices.Clone(d.Cases)}
			for i := range out.Cases {
				if i%2 == odd && rapid.Bool().Draw(t, name) {
					out.Cases[i] = caseWithID(out.Cases[i].ID).Draw(t, name)
				}
			}
			return out
		}
		base := &datasets.Set{Manifest: d.Manifest, Cases: d.Cases}
		a, b := side("a", 0), side("b", 1)
		forth, report, err := datasets.Merge(base, a, b, "")
		if err != nil {
			t.Fatalf("%v: %+v", err, report.Conflicts)
		}
		back, _, err := datasets.Merge(base, b, a, "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rowsOf(forth.Cases), rowsOf(back.Cases)); diff != "" {
			t.Error(diff)
		}
		for i, c := range forth.Cases {
			want := []*datasets.Set{a, b}[i%2].Cases[i]
			if diff := cmp.Diff(rowsOf([]datasets.Case{want}), rowsOf([]datasets.Case{c})); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// Changes of different fields of one case are joined.
func TestMergeJoinsFieldsOfOneCase(t *testing.T) {
	_, base, a, b := branches(t,
		func(d *datasets.Draft) { d.Cases[1].Tags, d.Cases[1].Category = []string{"critical"}, "both" },
		func(d *datasets.Draft) { d.Cases[1].Language, d.Cases[1].Category = "de", "both" })
	d, _, err := datasets.Merge(base, a, b, "")
	if err != nil {
		t.Fatal(err)
	}
	want := base.Cases
	want[1].Tags, want[1].Language, want[1].Category = []string{"critical"}, "de", "both"
	if diff := cmp.Diff(rowsOf(want), rowsOf(d.Cases)); diff != "" {
		t.Error(diff)
	}
}
