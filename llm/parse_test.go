package llm_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
)

const gradeSchema = `{"type":"object","properties":{"grade":{"type":"integer","minimum":0,"maximum":3},"why":{"type":"string"}},"required":["grade"],"additionalProperties":false}`

type grade struct {
	Grade int    `json:"grade"`
	Why   string `json:"why"`
}

func TestParseJSON(t *testing.T) {
	tests := map[string]struct {
		reply llm.Reply
		want  grade
		kind  llm.Kind
	}{
		"plain":                           {llm.Reply{Text: `{"grade":2,"why":"so"}`, FinishReason: "stop"}, grade{2, "so"}, ""},
		"complete, padded to num_predict": {llm.Reply{Text: "{\"grade\":2}\n\n \n", FinishReason: "length"}, grade{Grade: 2}, ""},
		"cut off":                         {llm.Reply{Text: `{"grade":2,"why":"the pass`, FinishReason: "length"}, grade{}, llm.KindCutOff},
		"cut off before the first token":  {llm.Reply{Text: " ", FinishReason: "length"}, grade{}, llm.KindCutOff},
		"only thinking":                   {llm.Reply{Thinking: "hm, well", FinishReason: "length"}, grade{}, llm.KindCutOff},
		"only thinking, ended by itself":  {llm.Reply{Thinking: "hm, well", FinishReason: "stop"}, grade{}, llm.KindCutOff},
		"empty":                           {llm.Reply{Text: " \n", FinishReason: "stop"}, grade{}, llm.KindEmpty},
		"prose":                           {llm.Reply{Text: "The grade is 2.", FinishReason: "stop"}, grade{}, llm.KindNotJSON},
		"JSON and more":                   {llm.Reply{Text: `{"grade":2} I hope this helps`, FinishReason: "stop"}, grade{}, llm.KindNotJSON},
		"two values":                      {llm.Reply{Text: `{"grade":2}{"grade":3}`, FinishReason: "stop"}, grade{}, llm.KindNotJSON},
		"in a code fence":                 {llm.Reply{Text: "```json\n{\"grade\":2}\n```", FinishReason: "stop"}, grade{}, llm.KindSchemaNotEnforced},
		"another type":                    {llm.Reply{Text: `{"grade":"2"}`, FinishReason: "stop"}, grade{}, llm.KindSchemaNotEnforced},
		"above the maximum":               {llm.Reply{Text: `{"grade":7}`, FinishReason: "stop"}, grade{}, llm.KindSchemaNotEnforced},
		"a key missing":                   {llm.Reply{Text: `{"why":"so"}`, FinishReason: "stop"}, grade{}, llm.KindSchemaNotEnforced},
		"a key too many":                  {llm.Reply{Text: `{"grade":1,"x":1}`, FinishReason: "stop"}, grade{}, llm.KindSchemaNotEnforced},
		"a list":                          {llm.Reply{Text: `[1]`, FinishReason: "stop"}, grade{}, llm.KindSchemaNotEnforced},
		"refusal":                         {llm.Reply{Text: "I’m sorry, but I can't help with that.", FinishReason: "stop"}, grade{}, llm.KindRefusal},
		"refusal, cut off":                {llm.Reply{Text: "I cannot provide", FinishReason: "length"}, grade{}, llm.KindRefusal},
		"refusal words inside JSON":       {llm.Reply{Text: `{"grade":0,"why":"I'm sorry"}`, FinishReason: "stop"}, grade{0, "I'm sorry"}, ""},
		"held back by the service":        {llm.Reply{FinishReason: llm.FinishFilter}, grade{}, llm.KindRefusal},
		"marked by the service":           {llm.Reply{Text: "No.", FinishReason: llm.FinishRefusal}, grade{}, llm.KindRefusal},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := llm.ParseJSON[grade](tt.reply, json.RawMessage(gradeSchema))
			if llm.KindOf(err) != tt.kind || (err != nil) != (tt.kind != "") {
				t.Fatalf("error %v, want kind %q", err, tt.kind)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseText(t *testing.T) {
	tests := map[string]struct {
		reply llm.Reply
		want  string
		kind  llm.Kind
	}{
		"plain":                              {llm.Reply{Text: " how deep is it?\n", FinishReason: "stop"}, "how deep is it?", ""},
		"a query that begins like a refusal": {llm.Reply{Text: "I can't connect to the VPN", FinishReason: "stop"}, "I can't connect to the VPN", ""},
		"refusal":                            {llm.Reply{Text: "I'm sorry, but I can't assist with that.", FinishReason: "stop"}, "", llm.KindRefusal},
		"another refusal":                    {llm.Reply{Text: "As an AI, I have no view.", FinishReason: "stop"}, "", llm.KindRefusal},
		"cut off":                            {llm.Reply{Text: "how deep is", FinishReason: "length"}, "", llm.KindCutOff},
		"empty":                              {llm.Reply{FinishReason: "stop"}, "", llm.KindEmpty},
		"only thinking":                      {llm.Reply{Thinking: "hm", FinishReason: "length"}, "", llm.KindCutOff},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := llm.ParseText(tt.reply)
			if got != tt.want || llm.KindOf(err) != tt.kind {
				t.Errorf("%q, %v; want %q, kind %q", got, err, tt.want, tt.kind)
			}
		})
	}
}

func TestBadSchemaIsTheCallersMistake(t *testing.T) {
	_, err := llm.ParseJSON[grade](llm.Reply{Text: "{}"}, json.RawMessage(`{"type":12}`))
	if err == nil || llm.KindOf(err) != "" {
		t.Errorf("error %v, want one without a kind", err)
	}
}

// Whatever a model says, the parser gives a value of the schema or says why not.
func FuzzParseJSON(f *testing.F) {
	f.Add(`{"grade":2}`, "stop")
	f.Add("```json\n{}", "length")
	f.Add("I'm sorry", "")
	f.Add("{\"grade\":1e400}", "stop")
	schema, err := llm.CompileSchema(json.RawMessage(gradeSchema))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, finish string) {
		got, err := llm.ParseWith[grade](llm.Reply{Text: text, FinishReason: finish}, schema)
		if err == nil && (got.Grade < 0 || got.Grade > 3) {
			t.Errorf("accepted %q as %+v", text, got)
		}
		if e, ok := errors.AsType[*llm.Error](err); err != nil && (!ok || len(e.Error()) > 600) {
			t.Errorf("error %v is of no kind, or longer than it should be", err)
		}
	})
}

func TestErrorsAreBoundedAndPrintable(t *testing.T) {
	e := llm.StatusError("m", "http://anna:pw@host:1/v1?key=k", 500, strings.Repeat("ü\x1b[31m\n", 5000))
	got := e.Error()
	if len(got) > 500 || strings.ContainsAny(got, "\x1b\n") || strings.Contains(got, "pw") || strings.Contains(got, "key=") {
		t.Errorf("error text %q", got)
	}
	if want := "(http://host:1/v1, status 500)"; !strings.HasSuffix(got, want) {
		t.Errorf("error text %q does not end in %q", got, want)
	}
}
