package main

import (
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

// typist is a model that writes the query that each type of testdata/script/types
// asks for, and finds a query answered by what it was written from, but one of two
// hops by both of its sentences only and one out of scope by nothing.
func typist(req llm.Request) llm.Reply {
	last := req.Messages[len(req.Messages)-1].Content
	switch {
	case strings.HasSuffix(strings.TrimSpace(last), "Yes or No?"):
		return oneWord(req, supports(last))
	case len(req.Schema) > 0:
		return llm.Reply{Text: `{"question": "` + typedQuestion(last) + `"}`}
	}
	return actor(req)
}

// supports tells by the query what must be in sight.
func supports(prompt string) bool {
	switch evidence := tagged(prompt, "evidence"); {
	case evidence == "": // is it self-contained?
		return true
	case strings.Contains(prompt, "sea water"):
		return false
	case strings.Contains(prompt, "joined"):
		return strings.Contains(evidence, "\n")
	}
	return true
}

var quoted = regexp.MustCompile(`"([^"]+)"`)

// typedQuestion tells the type by the words of its prompt.
func typedQuestion(prompt string) string {
	task := prompt[strings.LastIndex(prompt, ">\n")+1:]
	term := quoted.FindStringSubmatch(task)
	switch {
	case strings.Contains(task, "tells this one apart"):
		return "When does the safety outlet of the " + term[1] + " shut?"
	case strings.Contains(task, "uses the term"):
		return "Which limit or rule goes with " + term[1] + "?"
	case strings.Contains(task, "needs both sentences"):
		return "How are " + longWords(tagged(prompt, "sentence")) + " and " + longWords(tagged(prompt, "other_sentence")) + " joined?"
	case strings.Contains(task, "can mean each of these"):
		return "how about " + term[1]
	case strings.Contains(task, "does not answer"):
		return "Can " + strings.Join(llmtest.Words(tagged(prompt, "text"))[2:4], " ") + " be used with sea water?"
	case strings.Contains(task, "how it is now"):
		return "How soon does one hear back on time off for a child?"
	}
	words := llmtest.Words(tagged(prompt, "sentence"))
	return "What rule is there for " + words[0] + " " + words[len(words)-1] + " at work?"
}

// longWords gives the first two long words of a sentence.
func longWords(sentence string) string {
	var long []string
	for _, w := range llmtest.Words(sentence) {
		if len(w) > 5 && len(long) < 2 {
			long = append(long, w)
		}
	}
	return strings.Join(long, " ")
}
