package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a compiled JSON schema.
type Schema struct {
	resolved *jsonschema.Resolved
}

// CompileSchema reads a JSON schema once, for many replies.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{resolved}, nil
}

// ParseJSON reads a reply that was asked for under a schema (nil: any JSON). It
// parses first and looks at the finish reason afterwards, since a reply that is
// complete and padded with white space up to num_predict is fine. Otherwise the
// *Error says why: KindCutOff, KindEmpty, KindRefusal, KindNotJSON or
// KindSchemaNotEnforced.
func ParseJSON[T any](reply Reply, schema json.RawMessage) (T, error) {
	if len(schema) == 0 {
		return ParseWith[T](reply, nil)
	}
	compiled, err := CompileSchema(schema)
	if err != nil {
		var zero T
		return zero, err
	}
	return ParseWith[T](reply, compiled)
}

// ParseWith is ParseJSON for a compiled schema; nil accepts any JSON.
func ParseWith[T any](reply Reply, schema *Schema) (T, error) {
	var value T
	text := strings.TrimSpace(reply.Text)
	generic, err := wholeJSON(text)
	if err != nil {
		return value, notJSON(reply, text, err)
	}
	if schema != nil {
		if err := schema.resolved.Validate(generic); err != nil {
			return value, &Error{Kind: KindSchemaNotEnforced, Detail: err.Error()}
		}
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		var zero T
		return zero, &Error{Kind: KindSchemaNotEnforced, Detail: err.Error()}
	}
	return value, nil
}

// ParseText reads a reply in plain words: its text without surrounding white
// space. A reply that is empty, cut off or a refusal is an *Error.
func ParseText(reply Reply) (string, error) {
	text := strings.TrimSpace(reply.Text)
	switch {
	case text == "":
		return "", missing(reply)
	case declined(reply) || refusesTask.MatchString(plainQuotes(text)):
		return "", &Error{Kind: KindRefusal, Detail: text}
	case reply.FinishReason == FinishLength:
		return "", cutOff(reply)
	}
	return text, nil
}

// wholeJSON accepts one JSON value and nothing behind it.
func wholeJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more text after the JSON")
	}
	return v, nil
}

// notJSON finds out why a text is not one JSON value.
func notJSON(reply Reply, text string, err error) error {
	switch {
	case text == "":
		return missing(reply)
	case declined(reply) || refuses.MatchString(plainQuotes(text)):
		return &Error{Kind: KindRefusal, Detail: text}
	case fenced(text):
		return &Error{Kind: KindSchemaNotEnforced, Detail: "JSON inside a code fence"}
	case reply.FinishReason == FinishLength:
		return cutOff(reply)
	}
	return &Error{Kind: KindNotJSON, Detail: fmt.Sprintf("%v: %s", err, text)}
}

// missing tells a reply that spent its tokens thinking from an empty one.
func missing(reply Reply) error {
	switch {
	case declined(reply):
		return &Error{Kind: KindRefusal, Detail: "finish reason " + reply.FinishReason}
	case strings.TrimSpace(reply.Thinking) != "":
		return &Error{Kind: KindCutOff, Detail: "the reply holds thinking and no answer"}
	case reply.FinishReason == FinishLength:
		return cutOff(reply)
	}
	return &Error{Kind: KindEmpty}
}

func cutOff(reply Reply) error {
	return &Error{Kind: KindCutOff, Detail: fmt.Sprintf("num_predict reached after %d tokens", reply.OutputTokens)}
}

func declined(reply Reply) bool {
	return reply.FinishReason == FinishRefusal || reply.FinishReason == FinishFilter
}

// fenced says whether the text is a Markdown code block with JSON in it.
func fenced(text string) bool {
	body, ok := strings.CutPrefix(text, "```")
	if !ok {
		return false
	}
	body = strings.TrimPrefix(body, "json")
	body, _, _ = strings.Cut(body, "```")
	return json.Valid([]byte(strings.TrimSpace(body)))
}

// refuses matches how a refusal begins. It is used only on text that should
// have been JSON: a person's query may begin with "I can't" as well.
var refuses = regexp.MustCompile(`(?i)^["']?(sorry\b|(i'm|i am) (sorry|afraid|unable|not able)|i (cannot|can't|can not|won't|will not|must decline)\b|i apologi[sz]e|as an ai\b|unfortunately,? i\b)`)

// refusesTask matches refusals among plain texts, where only what speaks of the
// task itself counts.
var refusesTask = regexp.MustCompile(`(?i)^["']?((sorry,?|(i'm|i am) sorry,?|unfortunately,?) (but )?i (cannot|can't|can not|am unable|am not able)|(i'm|i am) (unable|not able) to (help|assist|answer|provide|comply|generate|create|write|fulfill?)|i (cannot|can't|can not|won't|will not) (help|assist|answer|provide|comply|generate|create|write|fulfill?)\b|as an ai\b)`)

func plainQuotes(s string) string { return strings.ReplaceAll(s, "’", "'") }
