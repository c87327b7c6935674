package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/goldgen/goldgen/internal/plaintext"
)

// Source says where documents or chunks come from.
type Source struct {
	Documents string            // folder, or a .jsonl / .parquet file of documents
	Chunks    string            // chunk table, .jsonl or .parquet; its documents' texts are Documents, when given
	Include   []string          // doublestar globs on slash paths; none means every known kind of text
	Exclude   []string          // the same; they win over Include
	Fields    map[string]string // our field name to theirs; dots reach into nested records
	Paths     []string          // path patterns such as {category}/{team}/**, the first that fits counts
	Unit      string            // of records that do not say theirs; "" leaves it to the chunking
	From      [2]string         // where Documents and Chunks are copies from, for the manifest; "" of what is none
	SkipBad   bool              // name and count what is not UTF-8, and go on
}

// mappable are the names that Source.Fields may map.
func mappable() []string {
	return []string{"id", "chunk_id", "doc_id", "text", "title", "category", "language", "source", "unit",
		"scope", "scope.<key>", "metadata", "metadata.<key>", "updated_at", "valid_from", "valid_to", "start", "end", "embedding"}
}

// canMap reports whether Source.Fields may map the name.
func canMap(field string) bool {
	for _, prefix := range []string{"scope.", "metadata."} {
		if key, ok := strings.CutPrefix(field, prefix); ok {
			return key != "" && key != "<key>"
		}
	}
	return slices.Contains(mappable(), field)
}

// Validate reports a source that cannot be read by what it says alone: no path,
// a glob or path pattern that does not parse, an unknown field.
func (s Source) Validate() error {
	if s.Documents == "" && s.Chunks == "" {
		return fmt.Errorf("corpus: neither source nor chunks is set")
	}
	for _, glob := range slices.Concat(s.Include, s.Exclude) {
		if !doublestar.ValidatePattern(glob) {
			return fmt.Errorf("corpus: glob %q does not parse", glob)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(s.Fields)) {
		if !canMap(field) {
			return fmt.Errorf("corpus.fields: unknown field %q: want one of %s", field, strings.Join(mappable(), ", "))
		}
	}
	if err := checkUnit(s.Unit); err != nil {
		return fmt.Errorf("corpus.unit: %w", err)
	}
	for _, p := range s.Paths {
		if _, err := parsePathPattern(p); err != nil {
			return err
		}
	}
	if s.Chunks != "" && tableKind(s.Chunks) == "" {
		return fmt.Errorf("corpus.chunks %q: want a .jsonl or .parquet file", s.Chunks)
	}
	return nil
}

// tableKind is jsonl or parquet by a file's name, "" for anything else.
func tableKind(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl", ".ndjson":
		return "jsonl"
	case ".parquet":
		return "parquet"
	}
	return ""
}

// info is what the manifest keeps of a source.
func (s Source) info() SourceInfo {
	documents, chunks := cmp.Or(s.From[0], s.Documents), cmp.Or(s.From[1], s.Chunks)
	return SourceInfo{Documents: filepath.ToSlash(documents), Chunks: filepath.ToSlash(chunks), Include: s.Include, Exclude: s.Exclude}
}

// checkID refuses ids that a terminal, a log or a line-based format could not
// carry. Slashes are fine: ids never become file names.
func checkID(kind, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%s id is empty", kind)
	case !utf8.ValidString(id):
		return fmt.Errorf("%s id %q is not UTF-8", kind, id)
	case strings.ContainsFunc(id, isControl):
		return fmt.Errorf("%s id %q has control characters", kind, id)
	}
	return nil
}

// badFile is a file or line that is no text in UTF-8, or a file whose name cannot
// be an id.
type badFile struct {
	where string
	why   error
}

func (e *badFile) Error() string { return e.why.Error() }

// checkText refuses what is no text in UTF-8, as a *badFile.
func checkText(where string, data []byte) error {
	if problem := plaintext.Problem(data); problem != "" {
		return &badFile{where, fmt.Errorf("%s: %s", where, problem)}
	}
	return nil
}
