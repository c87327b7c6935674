package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/prompts"
)

// passing is a client that says that it was asked.
type passing struct{}

func (passing) Complete(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: "asked", FinishReason: llm.FinishStop}, nil
}

// Checks are told by their prompt, not by how much they want to read.
func TestUncheckedAnswersChecksAlone(t *testing.T) {
	client, err := newUnchecked(passing{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := prompts.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		vars := map[string]string{}
		for _, name := range slices.Concat(p.Vars, p.Data) {
			vars[name] = "opening hours of the " + name
		}
		messages, err := p.Render(vars)
		if err != nil {
			t.Fatal(err)
		}
		want := "asked"
		if strings.HasPrefix(p.ID, checkPrompts) {
			want = "yes"
		}
		if got, err := client.Complete(t.Context(), llm.Request{Messages: messages, Options: llm.Options{NumPredict: 1}}); err != nil || got.Text != want {
			t.Errorf("%s: %q, %v, want %q", p.ID, got.Text, err, want)
		}
	}
}

// A run goes on from the queries of an earlier one, and asks for the others.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	had := []study.Written{{Document: "d1", Place: 0, Type: "factual", Query: "who?"}, {Document: "d1", Place: 2, Type: "reformulated", Refused: "copied"}}
	if err := study.KeepLines(filepath.Join(dir, "c.jsonl"), had); err != nil {
		t.Fatal(err)
	}
	c := collections.Collection{Name: "c", Documents: []collections.Document{{ID: "d1", Title: "Kilns", Text: "Kilns\n" + strings.Repeat("A kiln of the workshop must cool down for six hours before anybody opens its door. ", 3)}}}
	count := &counting{}
	w, err := newWriter(options{queries: 1, concurrency: 1}, count, llm.Model{Name: "m"}, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.goOnFrom(filepath.Join(dir, "c.jsonl")); err != nil {
		t.Fatal(err)
	}
	lines, err := w.document(t.Context(), 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 3 || !cmp.Equal(lines[0], had[0]) || !cmp.Equal(lines[2], had[1]) || lines[1].Type != "keyword" || count.calls == 0 {
		t.Errorf("%d calls: %+v", count.calls, lines)
	}
	if lines, err = w.document(t.Context(), 0, false); err != nil || !cmp.Equal(lines, had[:1]) {
		t.Errorf("%+v, %v", lines, err)
	}
}

// counting answers with keywords.
type counting struct{ calls int }

func (c *counting) Complete(context.Context, llm.Request) (llm.Reply, error) {
	c.calls++
	return llm.Reply{Text: `{"keywords": ["kiln", "cool", "door"]}`, FinishReason: llm.FinishStop}, nil
}
