package pipeline

import (
	"strings"
	"testing"
)

// Whatever a file holds, it is read or refused with a line, and what is read
// can be judged: each case once, with an answer and contexts that name
// something.
func FuzzParseAnswers(f *testing.F) {
	for _, s := range []string{
		`{"case_id": "a", "answer": "Yes [1].", "contexts": [{"chunk_id": "c"}], "citations": ["c", 1], "abstained": false}`,
		`{"case_id": "a", "abstained": true}` + "\n" + `{"case_id": "a", "answer": ""}`,
		`{"case_id": "a", "answer": "x", "contexts": [{"doc_id": "d", "start": 5, "end": 2}]}`,
		"\ufeff\n\n{}", `[1]`, `null`, `{"case_id": "a", "answer": "x"} {}`, "\xff", `{"case_id":"a","answer":"x","citations":[null]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := parseAnswers(strings.NewReader(text), "f.jsonl")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.jsonl:") {
				t.Fatalf("error without a line: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, a := range lines {
			if a.CaseID == "" || seen[a.CaseID] || a.Answer == nil || a.line < 1 {
				t.Fatalf("line %+v of %q", a, text)
			}
			seen[a.CaseID] = true
			for _, c := range a.Contexts {
				if span := c.Start != nil && c.End != nil; !span && c.Text == "" && c.ChunkID == "" || span && *c.End < *c.Start {
					t.Fatalf("context %+v of %q", c, text)
				}
			}
		}
	})
}
