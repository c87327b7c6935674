package study

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/atomicfile"
)

// Written is one line of a fixture: a query that a model wrote over a collection,
// or why there is none. bench/queries writes fixtures, and bench/trust reads them.
type Written struct {
	Document string              `json:"document"`
	Place    int                 `json:"place"` // 0 is the document's first query, as in a set with one a document
	Type     string              `json:"type"`
	Query    string              `json:"query,omitempty"`
	Evidence []datasets.Evidence `json:"evidence,omitempty"`
	Refused  string              `json:"refused,omitempty"` // a reason code of generate, "" where it was kept
	Model    string              `json:"model,omitempty"`
	Prompt   string              `json:"prompt,omitempty"` // id@version and digest
}

// Kinds of sets that are made of a fixture.
const (
	OneADocument   = "one a document"
	ThreeADocument = "three a document"
)

// Kinds are the kinds, in the order of tables.
func Kinds() []string { return []string{OneADocument, ThreeADocument} }

// perDocument is how many queries a document was asked for in a set of
// ThreeADocument.
const perDocument = 3

// Kept are the queries of a kind that were not refused: the first of each document,
// or all of the documents that were asked for three.
func Kept(lines []Written, kind string) []Written {
	asked := map[string]int{}
	for _, l := range lines {
		asked[l.Document]++
	}
	var kept []Written
	for _, l := range lines {
		of := l.Place == 0
		if kind == ThreeADocument {
			of = asked[l.Document] == perDocument
		}
		if of && l.Refused == "" {
			kept = append(kept, l)
		}
	}
	return kept
}

// ReadLines reads a fixture, a value a line.
func ReadLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []T
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		var l T
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		out = append(out, l)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// KeepLines writes a fixture.
func KeepLines[T any](path string, lines []T) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, 0o644, func(f io.Writer) error {
		enc := json.NewEncoder(f)
		enc.SetEscapeHTML(false)
		for _, l := range lines {
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
		return nil
	})
}
