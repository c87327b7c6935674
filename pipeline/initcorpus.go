package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/wording"
)

// InitCorpus is what Init says of a corpus in goldgen.yaml, as far as its files
// show it.
type InitCorpus struct {
	Source string            `json:"source"`           // "" where Chunks is set
	Chunks string            `json:"chunks,omitempty"` // a chunk table
	Unit   string            `json:"unit,omitempty"`   // of records
	Method string            `json:"method"`           // of chunking
	Fields map[string]string `json:"fields,omitempty"` // our field to theirs
	Note   string            `json:"note,omitempty"`   // what Init could not settle
}

// Named is the file or folder that the corpus is read from.
func (c *InitCorpus) Named() string { return cmp.Or(c.Source, c.Chunks) }

// FieldsYAML is Fields as YAML in one line.
func (c *InitCorpus) FieldsYAML() string {
	var parts []string
	for _, ours := range slices.Sorted(maps.Keys(c.Fields)) {
		parts = append(parts, fmt.Sprintf("%s: %q", ours, c.Fields[ours]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// corpusOf finds out how what is in dir is read: source, where it is given, else a
// folder of documents by its usual name, else dir itself, or the one table of
// records in it.
func corpusOf(dir, source string) InitCorpus {
	c := InitCorpus{Source: cmp.Or(source, sourceOf(dir)), Method: "markdown"}
	path := c.Source
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		c.ofTable(path)
		return c
	}
	seen, err := corpus.Look(path, []string{"golden/**", "results/**"})
	switch {
	case err != nil:
		c.Note = err.Error()
	case seen.Texts == 0 && seen.Code == 0 && len(seen.Tables) > 0:
		c.Source = filepath.ToSlash(filepath.Join(c.Source, seen.Tables[0]))
		if n := len(seen.Tables); n > 1 {
			c.Note = fmt.Sprintf("only one table is a corpus, and there are %d: %s", n, someOf(seen.Tables, corpusNamed))
		}
		c.ofTable(filepath.Join(path, filepath.FromSlash(seen.Tables[0])))
	case seen.Code > seen.Texts:
		c.Method = "code"
		if seen.Texts > 0 {
			c.Note = fmt.Sprintf("code is read; %s beside it %s not: chunking: {method: markdown} reads texts", wording.Count(seen.Texts, "text"), wording.Pick(seen.Texts, "is", "are"))
		}
	case seen.Texts == 0:
		c.Note = corpus.Source{Documents: path}.WhyNothing()
	}
	return c
}

// theirNames are what stores of records call our fields, best known first.
func theirNames() map[string][]string {
	return map[string][]string{
		"id":               {"memory_id", "record_id", "doc_id", "document_id", "call_id", "tool_call_id", "uuid", "key"},
		"text":             {"memory", "content", "page_content", "body", "passage", "message", "output", "result", "value"},
		"scope.user":       {"user_id", "user"},
		"scope.session":    {"session_id", "session", "run_id", "thread_id"},
		"scope.tenant":     {"tenant_id", "tenant", "org_id"},
		"scope.team":       {"team_id", "team", "teams"},
		"scope.project":    {"project_id", "project"},
		"scope.repository": {"repository", "repo"},
	}
}

// ofTable looks at the records of a table: what they are, and which of their fields
// are ours. Each record is a unit of its own, and is not cut.
func (c *InitCorpus) ofTable(path string) {
	record, err := corpus.TableFields(path)
	if err != nil {
		c.Note = err.Error()
		return
	}
	c.Method, c.Fields = "document", map[string]string{}
	if _, chunks := record["chunk_id"]; chunks {
		c.Source, c.Chunks = "", c.Source
	}
	for ours, theirs := range theirNames() {
		c.mapField(record, ours, theirs)
	}
	c.Unit = unitOf(filepath.Base(path), record)
	if _, has := record[cmp.Or(c.Fields["text"], "text")]; !has {
		c.Note = fmt.Sprintf("which field is the text is not clear (corpus.fields: {text: ...}); there are %s", strings.Join(slices.Sorted(maps.Keys(record)), ", "))
	}
}

// mapField maps a field of ours that a record has under another name alone.
func (c *InitCorpus) mapField(record map[string]any, ours string, theirs []string) {
	known := []string{ours}
	switch ours {
	case "id":
		known = append(known, "_id", "chunk_id")
	default:
		head, _, _ := strings.Cut(ours, ".")
		known = append(known, head)
	}
	has := func(name string) bool { return record[name] != nil }
	if slices.ContainsFunc(known, has) {
		return
	}
	if i := slices.IndexFunc(theirs, has); i >= 0 {
		c.Fields[ours] = theirs[i]
	}
}

// unitOf tells memories and results of tools by the names of a record's fields, or
// of its file.
func unitOf(file string, record map[string]any) string {
	names := append(slices.Collect(maps.Keys(record)), strings.ToLower(file))
	speaks := func(of string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, of) })
	}
	switch {
	case record["unit"] != nil:
		return ""
	case speaks("memor"):
		return corpus.UnitMemoryRecord
	case speaks("tool"):
		return corpus.UnitToolResult
	}
	return ""
}
