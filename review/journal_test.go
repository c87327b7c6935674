package review_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review"
)

var kim = review.Head{Set: "handbook@v1", Digest: "sha256:01", Reviewer: "kim"}

func openJournal(t *testing.T, dir string, head review.Head) *review.Journal {
	t.Helper()
	j, err := review.OpenJournal(dir, head)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func appendAll(t *testing.T, j *review.Journal, list ...review.Event) {
	t.Helper()
	for _, e := range list {
		if _, err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAJournalGoesOnWhereItEnded(t *testing.T) {
	dir := t.TempDir()
	want := events(says("c0 d0", 3), says("c0 d1", 0), review.Event{Kind: review.KindUndo, Undone: 2})
	j := openJournal(t, dir, kim)
	appendAll(t, j, want[0])
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = openJournal(t, dir, kim)
	appendAll(t, j, want[1], want[2])
	reads, err := review.ReadJournals(dir)
	if err != nil {
		t.Fatal(err)
	}
	head := kim
	head.Goldgen, head.Format = "review", review.JournalFormat
	if diff := cmp.Diff([]review.Read{{Path: j.Path, Head: head, Events: want}}, reads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASecondWriterOfAPersonIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir, kim)
	if _, err := review.OpenJournal(dir, kim); !errors.Is(err, review.ErrBusy) {
		t.Errorf("error %v, want ErrBusy", err)
	}
	other := kim
	other.Reviewer = "ann"
	openJournal(t, dir, other)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	openJournal(t, dir, kim)
}

func TestWhatAKillLeftOfALineIsCutOffAndSaid(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir, kim)
	appendAll(t, j, events(says("c0 d0", 3), says("c0 d1", 1))...)
	j.Close()
	whole, err := os.ReadFile(j.Path)
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndexByte(strings.TrimRight(string(whole), "\n"), '\n') + 1
	for cut := last + 1; cut < len(whole); cut++ {
		if err := os.WriteFile(j.Path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		again, err := review.OpenJournal(dir, kim)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Events) != 1 || len(again.Notes) != 1 || !strings.Contains(again.Notes[0], "cut off") {
			t.Fatalf("cut at %d: %d events, notes %q", cut, len(again.Events), again.Notes)
		}
		appendAll(t, again, events(says("c0 d2", 2))...)
		again.Close()
		reads, err := review.ReadJournals(dir)
		if err != nil || len(reads[0].Events) != 2 || len(reads[0].Notes) != 0 {
			t.Fatalf("cut at %d: after a further label %+v, %v", cut, reads, err)
		}
	}
}

func TestALineThatCannotBeReadCostsNoOther(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir, kim)
	appendAll(t, j, events(says("c0 d0", 3), says("c0 d1", 1), says("c0 d2", 2))...)
	j.Close()
	data, err := os.ReadFile(j.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for name, bad := range map[string]string{"no JSON": "{\"n\":2,\n", "grade 9": strings.Replace(lines[2], `"grade":1`, `"grade":9`, 1), "empty": "\n"} {
		t.Run(name, func(t *testing.T) {
			text := lines[0] + lines[1] + bad + lines[3]
			if err := os.WriteFile(j.Path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			again := openJournal(t, dir, kim)
			defer again.Close()
			if len(again.Events) != 2 || len(again.Notes) != 1 || !strings.Contains(again.Notes[0], "line 3") {
				t.Errorf("%d events, notes %q", len(again.Events), again.Notes)
			}
			kept, err := os.ReadFile(j.Path)
			if err != nil || string(kept) != text {
				t.Errorf("the file was changed: %q, %v", kept, err)
			}
		})
	}
}

func TestAJournalOfAnotherPersonSetOrFormatIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"another digest": `{"goldgen":"review","format":1,"set":"handbook@v1","digest":"sha256:02","reviewer":"kim"}`,
		"another person": `{"goldgen":"review","format":1,"set":"handbook@v1","digest":"sha256:01","reviewer":"ann"}`,
		"a later format": `{"goldgen":"review","format":2,"set":"handbook@v1","digest":"sha256:01","reviewer":"kim"}`,
		"something else": `{"goldgen":"plan","format":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "kim.jsonl")
			if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := review.OpenJournal(dir, kim); err == nil {
				t.Error("it was opened")
			}
			if kept, err := os.ReadFile(path); err != nil || string(kept) != text+"\n" {
				t.Errorf("the file was changed: %q, %v", kept, err)
			}
		})
	}
}

func TestEveryNameHasAFileOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]string{}
	for _, name := range []string{"kim", "Kim", "kim park", "../kim", "kim/..", ".", "..", "%6bim", "김", "CON: 1", "a@b.example"} {
		head := kim
		head.Reviewer = name
		path := openJournal(t, dir, head).Path
		key := strings.ToLower(path)
		if before, taken := seen[key]; taken || filepath.Dir(path) != dir {
			t.Errorf("%q has the file %s, as %q", name, path, before)
		}
		seen[key] = name
	}
}

func TestVersionsOfOneNameHaveFoldersOfTheirOwn(t *testing.T) {
	a := review.JournalDir("r", datasets.Ref{Name: "handbook", Version: 3, Digest: "sha256:0123456789abcdef"})
	b := review.JournalDir("r", datasets.Ref{Name: "handbook", Version: 3, Digest: "sha256:fedcba9876543210"})
	want := filepath.Join("r", "handbook", "v0003-0123456789ab")
	if a != want || a == b {
		t.Errorf("folders %s and %s, want %s and another", a, b, want)
	}
}

func FuzzReadJournals(f *testing.F) {
	head := `{"goldgen":"review","format":1,"set":"s@v1","digest":"sha256:01","reviewer":"kim"}` + "\n"
	f.Add([]byte(head + `{"n":1,"kind":"label","case_id":"c","chunk_id":"d","grade":2}` + "\n"))
	f.Add([]byte(head + `{"n":1,"kind":"undo","undone":1}` + "\n" + `{"n":`))
	f.Add([]byte("{}\n"))
	f.Add([]byte(head + "\n\n" + head))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "kim.jsonl"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		reads, err := review.ReadJournals(dir)
		if err != nil {
			return
		}
		for _, r := range reads {
			stand := review.StandOf("kim", r.Events)
			for _, e := range stand.Given() {
				if e.Grade == nil || *e.Grade < 0 || *e.Grade > 3 {
					t.Errorf("a label without a grade came through: %+v", e)
				}
			}
		}
	})
}

// What a name may hold, each byte escaped, stays below the 255 bytes that file
// systems give a name, and no two names share a file.
func TestEveryNameHasAJournal(t *testing.T) {
	names := []string{
		"ann", "Ann", "ANN", ".", "..", "../../x", "a/b", "a%2fb", "a:b*c?", "kim@example.org", " a ",
		strings.Repeat("é", 30), strings.Repeat("😀", 15), strings.Repeat("X", 60), strings.Repeat("人", 20),
	}
	dir := t.TempDir()
	for _, name := range names {
		head := kim
		head.Reviewer = name
		appendAll(t, openJournal(t, dir, head), says("c0 d0", 3))
	}
	reads, err := review.ReadJournals(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, r := range reads {
		got = append(got, r.Head.Reviewer)
	}
	slices.Sort(got)
	slices.Sort(names)
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
