package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/collections"
)

func TestReadLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cacm.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"document":"7","place":0,"type":"factual","query":"What is a heap?"}` + "\n" + `{"document":"7","place":1,"type":"keyword","refused":"copied"}` + "\n")
	got, err := ReadLines[Written](path)
	want := []Written{{Document: "7", Type: "factual", Query: "What is a heap?"}, {Document: "7", Place: 1, Type: "keyword", Refused: "copied"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	write("{\"document\":\"7\"}\n{\"document\"\n")
	if _, err := ReadLines[Written](path); err == nil || !strings.Contains(err.Error(), "cacm.jsonl: line 2") {
		t.Errorf("a damaged line gives %v", err)
	}
	if _, err := ReadLines[Written](filepath.Join(t.TempDir(), "cisi.jsonl")); err == nil || !strings.Contains(err.Error(), "cisi.jsonl") {
		t.Errorf("no file gives %v", err)
	}
}

// The fixtures of bench/trust are what KeepLines writes, to the byte.
func TestKeepLines(t *testing.T) {
	for _, name := range collections.Names() {
		fixture, kept := filepath.Join("../trust/testdata", name+".jsonl"), filepath.Join(t.TempDir(), "new", name+".jsonl")
		lines, err := ReadLines[Written](fixture)
		if err != nil {
			t.Fatal(err)
		}
		if err := KeepLines(kept, lines); err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(fixture)
		got, err := os.ReadFile(kept)
		if diff := cmp.Diff(string(want), string(got)); err != nil || len(got) == 0 || diff != "" {
			t.Error(name, err, diff)
		}
	}
}
