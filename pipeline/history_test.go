package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/pipeline"
)

// entry is the least that a line must hold.
const entry = `{"format":2,"time":"2026-11-30T12:00:00Z","golden":{"name":"records","ref":"records@v1"},"path":"results/a","metrics":{"ndcg@5":{"mean":0.5,"n":3}}}`

func TestReadHistory(t *testing.T) {
	for name, tt := range map[string]struct {
		text    string
		entries int
		skipped []int
	}{
		"nothing":                 {"", 0, []int{}},
		"one line":                {entry + "\n", 1, []int{}},
		"without its end":         {entry, 1, []int{}},
		"empty lines":             {"\n\n" + entry + "\r\n\n", 1, []int{}},
		"torn":                    {entry + "\n" + entry[:40] + "\n" + entry + "\n", 2, []int{2}},
		"of a merge":              {"<<<<<<< HEAD\n" + entry + "\n=======\n>>>>>>> other\n", 1, []int{1, 3, 4}},
		"of another program":      {`{"a":1}` + "\n" + `[1]` + "\n" + entry, 1, []int{1, 2}},
		"of a later version":      {strings.Replace(entry, `"format":2`, `"format":3`, 1) + "\n" + entry, 1, []int{1}},
		"of an earlier version":   {strings.Replace(entry, `"format":2`, `"format":1`, 1), 1, []int{}},
		"a line of 100,000 bytes": {strings.Replace(entry, "results/a", strings.Repeat("a", 100_000), 1), 1, []int{}},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := pipeline.ReadHistory(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.skipped, h.Skipped); diff != "" || len(h.Entries) != tt.entries {
				t.Errorf("%d entries, want %d; skipped (-want +got):\n%s", len(h.Entries), tt.entries, diff)
			}
		})
	}
}

// FuzzReadHistory holds that every line that is not blank is an entry or is
// counted, whatever it holds.
func FuzzReadHistory(f *testing.F) {
	f.Add(entry + "\n")
	f.Add("<<<<<<<\n" + entry)
	f.Add("\xff\x00\n{\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := pipeline.ReadHistory(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		if got := len(h.Entries) + len(h.Skipped); got != lines {
			t.Errorf("%d lines, and %d entries or skipped", lines, got)
		}
	})
}

// TestHistoryOfOneSet holds what a set can be called.
func TestHistoryOfOneSet(t *testing.T) {
	b := newBench(t, nil)
	b.score(t, b.run(t, "mine", func(int) int { return 1 }), pipeline.EvalOptions{})
	for set, want := range map[string]int{"": 1, "records": 1, "records@v1": 1, "records@" + b.set.Digest: 1, "record": 0, "records@v2": 0} {
		h, err := b.History(set)
		if err != nil || len(h.Entries) != want {
			t.Errorf("%q: %d results and error %v, want %d", set, len(h.Entries), err, want)
		}
	}
}

// A line names the version that was asked and the result as it was written, by what
// is in them.
func TestHistoryNamesResultsByDigest(t *testing.T) {
	b := newBench(t, nil)
	e := b.score(t, b.run(t, "base", func(int) int { return 1 }), pipeline.EvalOptions{})
	data, err := os.ReadFile(filepath.Join(e.Path, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Digest string }
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	h, err := b.History("records")
	if err != nil || len(h.Entries) != 1 {
		t.Fatalf("%+v, %v", h, err)
	}
	if got := h.Entries[0]; kept.Digest == "" || got.Digest != kept.Digest || got.Golden.Digest != b.set.Digest {
		t.Errorf("digest %q of the result and %q of the set, want %q and %q", got.Digest, got.Golden.Digest, kept.Digest, b.set.Digest)
	}
}
