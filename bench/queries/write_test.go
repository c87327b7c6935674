package main

import (
	"context"
	"slices"
	"strings"
	"testing"

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
