package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

// actor answers goldgen's own prompts as a small but honest model would: a
// query from the words of the sentence, yes where the words of a query are in
// the evidence, a grade by how many of them a passage holds. It is a function
// of the request alone.
func actor(req llm.Request) llm.Reply {
	last := req.Messages[len(req.Messages)-1].Content
	if reply, ok := answersActor(req, last); ok {
		return reply
	}
	switch {
	case strings.HasSuffix(strings.TrimSpace(last), "Grade:"):
		return llmtest.Graded(req, gradeOf(tagged(last, "query"), tagged(last, "passage")))
	case strings.HasSuffix(strings.TrimSpace(last), "Answered?"):
		p := gradeOf(tagged(last, "query"), tagged(last, "passage"))
		return oneWord(req, p[2]+p[3] > 0.5)
	case strings.HasSuffix(strings.TrimSpace(last), "Yes or No?"):
		return yes(req, last)
	}
	return write(last, len(req.Schema) > 0 && strings.Contains(string(req.Schema), "keywords"))
}

// blindActor is actor, but for one grade for everything.
func blindActor(req llm.Request) llm.Reply {
	if strings.HasSuffix(strings.TrimSpace(req.Messages[len(req.Messages)-1].Content), "Grade:") {
		return llmtest.Graded(req, [4]float64{0.1, 0.1, 0.7, 0.1})
	}
	return actor(req)
}

// tagged gives what stands between the tags of a name, whatever suffix they
// carry.
func tagged(text, name string) string {
	m := regexp.MustCompile(`(?s)<` + name + `[^>]*>\n(.*?)\n</` + name).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

func write(prompt string, keywords bool) llm.Reply {
	var words []string
	for _, w := range llmtest.Words(tagged(prompt, "sentence")) {
		if len(w) >= 5 && len(words) < 5 {
			words = append(words, w)
		}
	}
	if len(words) < 2 {
		words = append(words, "handbook", "setting")
	}
	var reply any = map[string]string{"question": fmt.Sprintf("What does %s say about the %s in Quayline?", words[0], strings.Join(words[1:], " and "))}
	if keywords {
		reply = map[string][]string{"keywords": words[:2]}
	}
	text, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	return llm.Reply{Text: string(text)}
}

// yes declines one in eight, by a hash, so that reserves are needed.
func yes(req llm.Request, prompt string) llm.Reply {
	h := fnv.New32a()
	h.Write([]byte(prompt))
	p := 0.95
	if h.Sum32()%8 == 0 {
		p = 0.05
	}
	text := "Yes"
	if p < 0.5 {
		text = "No"
	}
	r := llm.Reply{Text: text}
	if req.Options.TopLogprobs > 0 {
		r.Logprobs = []llm.TokenLogprob{{Token: text, Logprob: math.Log(max(p, 1-p)), Top: []llm.TopLogprob{
			{Token: "Yes", Logprob: math.Log(p)}, {Token: "No", Logprob: math.Log(1 - p)},
		}}}
	}
	return r
}

// gradeOf looks at the long words of the query, which write took from its
// sentence.
func gradeOf(query, passage string) [4]float64 {
	var terms []string
	for _, t := range llmtest.Words(query) {
		if len(t) >= 5 && t != "about" && t != "Quayline" {
			terms = append(terms, t)
		}
	}
	held := 0
	for _, t := range terms {
		if strings.Contains(strings.ToLower(passage), strings.ToLower(t)) {
			held++
		}
	}
	share := float64(held) / float64(max(1, len(terms)))
	switch {
	case share > 0.8:
		return [4]float64{0.05, 0.05, 0.2, 0.7}
	case share > 0.5:
		return [4]float64{0.2, 0.5, 0.2, 0.1}
	}
	return [4]float64{0.85, 0.1, 0.03, 0.02}
}
