package datasets_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

func testStore(root string) *datasets.Store {
	return &datasets.Store{
		Root: filepath.Join(root, "golden"), Locks: filepath.Join(root, "locks"),
		Now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
	}
}

func newStore(t *testing.T) *datasets.Store { return testStore(t.TempDir()) }

// draft is a small sound draft whose rows depend on query.
func draft(query string) datasets.Draft {
	grade := 3
	return datasets.Draft{
		Cases: []datasets.Case{{
			ID: datasets.CaseID(7, "a.md", "d0", datasets.Factual, "plain", 0), Query: query,
			QueryType: datasets.Factual, Unit: corpus.UnitChunk, Origin: datasets.OriginSynthetic, Status: datasets.Active,
			Source:    []string{"a.md#0"},
			Judgments: []datasets.Judgment{{ChunkID: "a.md#0", DocID: "a.md", Grade: &grade, Label: datasets.LabelRelevant, By: datasets.BySynthetic, Inclusion: 1}},
		}},
		Rejects: []datasets.Reject{{CaseID: "00000000000000ff", Query: "this passage?", QueryType: datasets.Factual, Stage: "generate", Reason: "refers_to_text"}},
		Manifest: datasets.Manifest{
			RelevantGrade: 2, Trust: datasets.Trust{Level: datasets.TrustSourceOnly, Why: "no judge ran"},
			Pins:   datasets.Pins{Corpus: datasets.CorpusPin{Digest: "c1", Documents: 1, Chunks: 1}, Seed: 7, Goldgen: "0.1"},
			Funnel: map[string]int{"refers_to_text": 1},
		},
	}
}

func write(t *testing.T, s *datasets.Store, name string, d datasets.Draft) datasets.Ref {
	t.Helper()
	ref, _, err := s.Write(context.Background(), name, d)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// tree maps each file under dir to its text; lock files are left out.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

// Trap 9: every score and provenance field survives saving.
func TestEveryFieldSurvives(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s := testStore(filepath.Join(root, fmt.Sprint(n)))
		d := drafts.Draw(rt, "draft")
		ref, changed, err := s.Write(context.Background(), "set", d)
		if err != nil || !changed {
			rt.Fatalf("write: changed %v, error %v", changed, err)
		}
		set, err := s.Load("set")
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(d.Cases, set.Cases); diff != "" {
			rt.Fatalf("cases (-written +read):\n%s", diff)
		}
		if diff := cmp.Diff(d.Rejects, set.Rejects); diff != "" {
			rt.Fatalf("rejects (-written +read):\n%s", diff)
		}
		if got := datasets.Digest(set.Cases, set.Rejects); got != ref.Digest {
			rt.Fatalf("digest of what was read %s, of what was written %s", got, ref.Digest)
		}
		if err := os.RemoveAll(s.Root); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestNumbersAreStoredToFourDecimals(t *testing.T) {
	s := newStore(t)
	d := draft("q")
	p := 0.123456
	d.Cases[0].Judgments = append(d.Cases[0].Judgments, datasets.Judgment{
		ChunkID: "a.md#1", By: datasets.ByLabelModel, P: &p, PDraws: []float64{0.023456, 0.223456},
		Features: map[string]float64{"cosine": 0.98765432}, Inclusion: 1,
	})
	write(t, s, "set", d)
	set, err := s.Load("set")
	if err != nil {
		t.Fatal(err)
	}
	rounded := 0.1235
	want := datasets.Judgment{
		ChunkID: "a.md#1", By: datasets.ByLabelModel, P: &rounded, PDraws: []float64{0.0235, 0.2235},
		Features: map[string]float64{"cosine": 0.9877}, Inclusion: 1, Spans: []datasets.Span{},
	}
	if diff := cmp.Diff(want, set.Cases[0].Judgments[1]); diff != "" {
		t.Error(diff)
	}
	if p != 0.123456 {
		t.Error("Write changed the caller's draft")
	}
}

func TestSameBytes(t *testing.T) {
	a, b := newStore(t), newStore(t)
	write(t, a, "set", draft("q"))
	write(t, b, "set", draft("q"))
	if diff := cmp.Diff(tree(t, a.Root), tree(t, b.Root)); diff != "" {
		t.Error(diff)
	}
}

func TestVersions(t *testing.T) {
	s := newStore(t)
	one := write(t, s, "set", draft("first"))
	before := tree(t, s.Root)

	again := draft("first")
	again.Manifest.Pins.Goldgen = "0.2" // a newer program that makes the same
	again.Manifest.Costs.CallsMade = 99
	ref, changed, err := s.Write(context.Background(), "set", again)
	if err != nil || changed {
		t.Fatalf("equal result: changed %v, error %v", changed, err)
	}
	if diff := cmp.Diff(one, ref); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, tree(t, s.Root)); diff != "" {
		t.Errorf("an equal result wrote something:\n%s", diff)
	}

	two := draft("first")
	added := two.Cases[0]
	added.ID = "00000000000000aa"
	two.Cases[0].Status = datasets.Retired
	two.Cases = append(two.Cases, added)
	write(t, s, "set", two)
	set, err := s.Load("set")
	if err != nil {
		t.Fatal(err)
	}
	m := set.Manifest
	got := []any{m.Version, m.Parent, m.ParentVersion, set.Cases[0].Since, set.Cases[0].RetiredIn, set.Cases[1].Since}
	if diff := cmp.Diff([]any{2, one.Digest, 1, "v1", "v2", "v2"}, got); diff != "" {
		t.Error(diff)
	}
	want := datasets.Counts{Cases: 2, Active: 1, Retired: 1, Rejected: 1, Judgments: 2, ByType: map[string]int{"factual": 2}}
	if diff := cmp.Diff(want, m.Counts); diff != "" {
		t.Error(diff)
	}
}

// Trap 8: a set made under another configuration is another version, never
// merged into the old one.
func TestOtherPinsAreAnotherVersion(t *testing.T) {
	changes := map[string]func(*datasets.Manifest){
		"corpus":         func(m *datasets.Manifest) { m.Pins.Corpus.Digest = "c2" },
		"seed":           func(m *datasets.Manifest) { m.Pins.Seed = 8 },
		"judge":          func(m *datasets.Manifest) { m.Pins.Judge = &datasets.ModelPin{Model: "other"} },
		"relevant grade": func(m *datasets.Manifest) { m.RelevantGrade = 1 },
		"trust":          func(m *datasets.Manifest) { m.Trust.Level = datasets.TrustReviewed },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			one := write(t, s, "set", draft("q"))
			d := draft("q")
			change(&d.Manifest)
			two := write(t, s, "set", d)
			if two.Version != 2 || two.Digest != one.Digest {
				t.Errorf("got %v %s after %v %s", two, two.Digest, one, one.Digest)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	s := newStore(t)
	one := write(t, s, "set", draft("first"))
	two := write(t, s, "set", draft("second"))
	write(t, s, "other", draft("first"))
	empty := t.TempDir()
	tests := []struct {
		name, ref string
		want      datasets.Ref
		err       string
	}{
		{"newest", "set", two, ""},
		{"version", "set@v1", one, ""},
		{"digest", "set@" + one.Digest, one, ""},
		{"prefix of a digest", "set@" + two.Digest[:15], two, ""},
		{"folder of a version", one.Path, one, ""},
		{"no such set", "missing", datasets.Ref{}, "holds other, set"},
		{"no such version", "set@v7", datasets.Ref{}, "it has v1, v2"},
		{"no such digest", "set@sha256:0000", datasets.Ref{}, "it has v1, v2"},
		{"bad selector", "set@latest", datasets.Ref{}, "golden set set has no tag latest"},
		{"folder that is no set", empty, datasets.Ref{}, "is no golden set"},
		{"folder of a set", filepath.Dir(one.Path), datasets.Ref{}, "name one, such as " + two.Path},
		{"outside of the store", "../set", datasets.Ref{}, `begins with '.'`},
		{"empty", "", datasets.Ref{}, "name is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Resolve(tt.ref)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			checkError(t, err, tt.err)
		})
	}
}

// checkError wants an error that holds text, or none when text is empty.
func checkError(t *testing.T, err error, text string) {
	t.Helper()
	switch {
	case err == nil && text != "":
		t.Errorf("no error, want one that holds %q", text)
	case err != nil && (text == "" || !strings.Contains(err.Error(), text)):
		t.Errorf("error %q, want it to hold %q", err, text)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"handbook", "Handbuch-2026", "a", "v1", "übersicht_é", "日本語", "a.b"} {
		if err := datasets.ValidateName(name); err != nil {
			t.Error(err)
		}
	}
	bad := []string{
		"", ".", "..", ".hidden", "-flag", "a/b", `a\b`, "/abs", "a\x00b", "a\nb", "a\x1b[31m", "a@v1", "a:b", "a*", "a?", "a b",
		"a.", "con", "NUL.txt", "com1", "e\u0301", "a\xff", "a\u202eb", strings.Repeat("x", 101), "#a", "~a", `a"b`, "a|b", "<a>",
	}
	for _, name := range bad {
		if datasets.ValidateName(name) == nil {
			t.Errorf("%q was accepted", name)
		}
		s := newStore(t)
		if _, _, err := s.Write(context.Background(), name, draft("q")); err == nil {
			t.Errorf("a set was written under the name %q", name)
		}
		if files := tree(t, filepath.Dir(s.Root)); len(files) > 0 {
			t.Errorf("name %q left %v", name, files)
		}
	}
}

func TestUnfinishedVersionIsReplaced(t *testing.T) {
	s := newStore(t)
	for _, left := range []string{"set/v0001", "set/.tmp-123"} {
		dir := filepath.Join(s.Root, left)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cases.parquet"), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Load("set"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unfinished set: error %v, want ErrNotExist", err)
	}
	_, err := s.Load(filepath.Join(s.Root, "set", "v0001"))
	checkError(t, err, "is an unfinished version")
	ref := write(t, s, "set", draft("q"))
	if ref.Version != 1 {
		t.Errorf("version %d, want 1", ref.Version)
	}
	names := []string{}
	for name := range tree(t, s.Root) {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"set/v0001/README.md", "set/v0001/cases.parquet", "set/v0001/manifest.json", "set/v0001/rejects.parquet"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// Nothing is deleted for a version but what a write began.
func TestOnlyUnfinishedVersionsAreReplaced(t *testing.T) {
	cases := []struct {
		name  string
		stand func(target string) error
		want  string // of the error
	}{
		{"an empty folder", func(target string) error { return os.Mkdir(target, 0o755) }, ""},
		{"files of somebody's own", func(target string) error {
			return errors.Join(os.Mkdir(target, 0o755), os.WriteFile(filepath.Join(target, "notes.txt"), []byte("mine"), 0o644))
		}, "v0002 holds notes.txt"},
		{"a file", func(target string) error { return os.WriteFile(target, []byte("mine"), 0o644) }, "v0002 is no folder"},
		{"a link", func(target string) error { return os.Symlink(filepath.Join("v0001", "README.md"), target) }, "v0002 is no folder"},
		{"a version without its manifest", func(target string) error {
			return errors.Join(os.CopyFS(target, os.DirFS(filepath.Join(filepath.Dir(target), "v0001"))), os.Remove(filepath.Join(target, "manifest.json")))
		}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			write(t, s, "set", draft("one?"))
			if err := c.stand(filepath.Join(s.Root, "set", "v0002")); err != nil {
				t.Skip(err) // a system without links
			}
			before := tree(t, s.Root)
			_, _, err := s.Write(context.Background(), "set", draft("two?"))
			checkError(t, err, c.want)
			if c.want == "" {
				return
			}
			if !errors.Is(err, datasets.ErrOccupied) {
				t.Errorf("error %v, want ErrOccupied", err)
			}
			if diff := cmp.Diff(before, tree(t, s.Root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCommitsAtOnce(t *testing.T) {
	s := newStore(t)
	var wg sync.WaitGroup
	errs := make(chan error, 12)
	for i := range 12 {
		wg.Go(func() {
			_, _, err := s.Write(context.Background(), "set", draft(fmt.Sprint("query ", i%4)))
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	checkChain(t, s, 4)
}

// checkChain checks that versions follow each other without a gap, each the
// child of the one before, and that there are at least n.
func checkChain(t *testing.T, s *datasets.Store, n int) {
	t.Helper()
	entries, err := s.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("listing %v, error %v", entries, err)
	}
	versions := entries[0].Versions
	if len(versions) < n {
		t.Errorf("%d versions, want at least %d", len(versions), n)
	}
	parent := ""
	for i, v := range versions {
		set, err := s.Load(fmt.Sprintf("set@v%d", v))
		if err != nil {
			t.Fatal(err)
		}
		if v != i+1 || set.Manifest.Parent != parent || set.Manifest.Digest == parent {
			t.Errorf("version %d at %d has parent %s and digest %s, want parent %s", v, i, set.Manifest.Parent, set.Manifest.Digest, parent)
		}
		parent = set.Manifest.Digest
	}
}

func TestCommitHeedsContext(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := s.Write(ctx, "set", draft("q"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if files := tree(t, s.Root); len(files) > 0 {
		t.Errorf("left %v", files)
	}
}

func TestList(t *testing.T) {
	s := newStore(t)
	if entries, err := s.List(); err != nil || len(entries) != 0 {
		t.Errorf("no folder yet: %v, %v", entries, err)
	}
	write(t, s, "b", draft("q"))
	write(t, s, "a", draft("q"))
	two := write(t, s, "a", draft("r"))
	broken := write(t, s, "c", draft("q"))
	if err := os.WriteFile(filepath.Join(broken.Path, "manifest.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	entries, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Name     string
		Versions []int
		Trust    string
		Created  string
		Broken   bool
	}
	got := []line{}
	for _, e := range entries {
		got = append(got, line{e.Ref.Name, e.Versions, e.Manifest.Trust.Level, e.Manifest.CreatedAt, e.Problem != ""})
	}
	want := []line{
		{"a", []int{1, 2}, "source_only", "2026-11-30T12:00:00Z", false},
		{"b", []int{1}, "source_only", "2026-11-30T12:00:00Z", false},
		{"c", []int{}, "", "", true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(two, entries[0].Ref); diff != "" {
		t.Error(diff)
	}
}
