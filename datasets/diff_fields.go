package datasets

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Names of fields that Diff and Merge look at apart from the others.
const (
	fieldQuery     = "query"
	fieldEvidence  = "evidence"
	fieldStatus    = "status"
	fieldReason    = "reason"
	fieldJudgments = "judgments"
)

// fields are a row's values by name, as canonical JSON: a case's columns, with
// each of its judgments under a name of its own (judgmentField), or the leaves
// of a manifest's part (a.b.c).
type fields map[string]json.RawMessage

// judgmentField names the judgment of a chunk by one judge: judgments["a.md#0",llm].
func judgmentField(chunkID, by string) string {
	return fieldJudgments + "[" + string(mustJSON(chunkID)) + "," + by + "]"
}

// isLabel reports whether a field is a judgment.
func isLabel(field string) bool { return strings.HasPrefix(field, fieldJudgments+"[") }

// caseFields takes a case apart. Since and RetiredIn are left out: the store
// writes them.
func caseFields(c *Case) fields {
	row := c.Canonical()
	row.Since, row.RetiredIn = "", ""
	judgments := row.Judgments
	row.Judgments = nil
	out := fieldsOf(row)
	delete(out, fieldJudgments)
	delete(out, "since")
	delete(out, "retired_in")
	for _, j := range judgments {
		out[judgmentField(j.ChunkID, j.By)] = mustJSON(j)
	}
	return out
}

// fieldsOf takes a struct apart by its JSON keys.
func fieldsOf(v any) fields {
	var out fields
	if err := json.Unmarshal(mustJSON(v), &out); err != nil {
		panic(err) // v is a struct
	}
	return out
}

// leaves takes a value apart down to what is no object: the key of a part is
// its path, a.b.c.
func leaves(prefix string, v any) fields {
	out := fields{}
	addLeaves(out, prefix, mustJSON(v))
	return out
}

func addLeaves(out fields, path string, raw json.RawMessage) {
	var object fields
	if raw[0] != '{' || json.Unmarshal(raw, &object) != nil || len(object) == 0 {
		out[path] = raw
		return
	}
	for key, value := range object {
		addLeaves(out, path+"."+key, value)
	}
}

// FieldChange is one value that differs. A nil value is not there on that side.
type FieldChange struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// names are those that either has, sorted.
func (f fields) names(g fields) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(f)), maps.Keys(g))
	slices.Sort(names)
	return slices.Compact(names)
}

// changes lists what differs, by field.
func (f fields) changes(g fields) []FieldChange {
	out := []FieldChange{}
	for _, name := range f.names(g) {
		if !bytes.Equal(f[name], g[name]) {
			out = append(out, FieldChange{Field: name, Before: f[name], After: g[name]})
		}
	}
	return out
}
