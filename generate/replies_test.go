package generate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/llm"
)

// kept is a reply as a real model gave it (testdata/replies.jsonl: Cranfield,
// prompts write-*@2, Ollama 0.17.4), what it said when it was asked to check its
// query, and what has to become of it.
type kept struct {
	Model          string  `json:"model"`
	QueryType      string  `json:"query_type"`
	Document       string  `json:"document"`
	Title          string  `json:"title"`
	Sentence       string  `json:"sentence"`
	Reply          string  `json:"reply"`
	PSelfContained float64 `json:"p_self_contained"`
	PAnswered      float64 `json:"p_answered"`
	Query          string  `json:"query"`
	Reason         string  `json:"reason"` // "" is a case
}

// replay answers as the model did.
func (k kept) replay(_ context.Context, req llm.Request) (llm.Reply, error) {
	switch {
	case req.Schema != nil:
		return llm.Reply{Text: k.Reply, FinishReason: llm.FinishStop}, nil
	case strings.Contains(user(req), "<evidence>"):
		return yesNo(k.PAnswered), nil
	}
	return yesNo(k.PSelfContained), nil
}

func TestRepliesOfRealModels(t *testing.T) {
	f, err := os.Open("testdata/replies.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var k kept
		if err := json.Unmarshal(lines.Bytes(), &k); err != nil {
			t.Fatal(err)
		}
		t.Run(k.QueryType+" "+k.Query, func(t *testing.T) {
			doc := corpus.Document{ID: k.Document, Title: k.Title, Text: k.Sentence}
			o := write(t, newModel(t, clientFunc(k.replay), options(), k.Sentence), unit(doc, 0, len(k.Sentence), k.QueryType, 0))
			query, reason := "", ""
			if o.Case != nil {
				query = o.Case.Query
			} else {
				query, reason = o.Reject.Query, o.Reject.Reason
			}
			if query != k.Query || reason != k.Reason {
				t.Errorf("query %q, reason %q; want %q, %q", query, reason, k.Query, k.Reason)
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
