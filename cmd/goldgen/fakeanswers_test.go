package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/pipeline"
)

// answersActor replies to the questions about a system's answers; ok is false
// for other prompts. It says yes where most words of the one text, and all of
// its numbers, stand in the other.
func answersActor(req llm.Request, last string) (llm.Reply, bool) {
	lines := strings.Split(strings.TrimSpace(last), "\n")
	switch lines[len(lines)-1] {
	case "Supported?":
		return oneWord(req, holds(tagged(last, "context"), tagged(last, "claim"), 0.8)), true
	case "Correct?":
		return oneWord(req, holds(tagged(last, "answer"), tagged(last, "reference"), 0.6)), true
	case "Relevant?":
		return oneWord(req, holds(tagged(last, "answer"), tagged(last, "question"), 0.2)), true
	case "Declined?":
		return oneWord(req, strings.Contains(tagged(last, "answer"), "do not know")), true
	}
	return llm.Reply{}, false
}

// holds reports whether a text has the given share of another one's long words,
// and every number of it.
func holds(text, of string, share float64) bool {
	there := map[string]bool{}
	for _, w := range llmtest.Words(text) {
		there[w] = true
	}
	n, held := 0, 0
	for _, w := range llmtest.Words(of) {
		number := strings.Trim(w, "0123456789") == ""
		if number && !there[w] {
			return false
		}
		if len(w) >= 5 {
			n++
			if there[w] {
				held++
			}
		}
	}
	return n > 0 && float64(held) >= share*float64(n)
}

func oneWord(req llm.Request, yes bool) llm.Reply {
	text, other := "Yes", "No"
	if !yes {
		text, other = other, text
	}
	r := llm.Reply{Text: text}
	if req.Options.TopLogprobs > 0 {
		r.Logprobs = []llm.TokenLogprob{{Token: text, Logprob: math.Log(.9), Top: []llm.TopLogprob{
			{Token: text, Logprob: math.Log(.9)}, {Token: other, Logprob: math.Log(.1)},
		}}}
	}
	return r
}

// credulous is actor, but for a yes to every question about an answer.
func credulous(req llm.Request) llm.Reply {
	if _, ok := answersActor(req, req.Messages[len(req.Messages)-1].Content); ok {
		return oneWord(req, true)
	}
	return actor(req)
}

// makeAnswers SET FILE [text]: writes a system's answers to a set: to each case
// its evidence, cited, with its chunk as context; or the given text. They say
// that they abstain from nothing, but those to a file named silent-... .
func makeAnswers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: makeanswers SET FILE [text]")
	}
	p, err := pipeline.Open(ts.MkAbs("."))
	ts.Check(err)
	set, err := p.Store().Load(args[0])
	ts.Check(err)
	var out strings.Builder
	enc := json.NewEncoder(&out)
	for _, c := range set.Cases {
		if c.Status != "active" {
			continue
		}
		text := c.Evidence[0].Quote + " [1]"
		if len(args) > 2 {
			text = args[2]
		}
		line := map[string]any{
			"case_id": c.ID, "answer": text, "contexts": []map[string]any{{"chunk_id": c.Evidence[0].ChunkID}},
		}
		if !strings.HasPrefix(args[1], "silent-") {
			line["abstained"] = false
		}
		ts.Check(enc.Encode(line))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o644))
}
