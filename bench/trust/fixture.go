package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/datasets"
)

// written is a line of a fixture: a query that a model wrote, as bench/queries
// keeps it.
type written struct {
	Document string              `json:"document"`
	Place    int                 `json:"place"` // 0 is the document's first query
	Type     string              `json:"type"`
	Query    string              `json:"query"`
	Evidence []datasets.Evidence `json:"evidence"`
	Refused  string              `json:"refused"` // why there is none, "" where it was kept
	Model    string              `json:"model"`
	Prompt   string              `json:"prompt"`
}

func readFixture(dir, name string) ([]written, error) {
	f, err := os.Open(filepath.Join(dir, name+".jsonl"))
	if err != nil {
		return nil, fmt.Errorf("synthetic queries: %w", err)
	}
	defer f.Close()
	lines, err := readLines[written](f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return lines, nil
}

// readLines decodes one value a line.
func readLines[T any](r io.Reader) ([]T, error) {
	var out []T
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		var v T
		if err := json.Unmarshal(scan.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, v)
	}
	return out, scan.Err()
}

// Kinds of sets.
const (
	kindOne   = "one a document"
	kindThree = "three a document"
)

// perDocument is how many queries a document was asked for in a set of kindThree.
const perDocument = 3

// syntheticSet is a golden set of synthetic queries without labels.
type syntheticSet struct {
	kind  string
	cases []datasets.Case
}

// sizes are the numbers of queries that are looked at.
func sizes() []int { return []int{50, 100, 200} }

// setsOf are the sets of both kinds and all sizes up to most. Where there are
// fewer queries than a size, all there are make the set of it, unless most of
// them are in the set before.
func setsOf(lines []written, most int) []syntheticSet {
	var out []syntheticSet
	for _, kind := range []string{kindOne, kindThree} {
		kept, before := keptOf(lines, kind), 0
		for _, n := range sizes() {
			if n > most || len(kept) == 0 || before > 0 && len(kept) <= before+(n-before)/2 {
				break
			}
			n = min(n, len(kept))
			out, before = append(out, syntheticSet{kind, casesOf(kept[:n])}), n
		}
	}
	return out
}

// keptOf are the queries of a kind: the first of each document, or all of the
// documents that were asked for three.
func keptOf(lines []written, kind string) []written {
	asked := map[string]int{}
	for _, l := range lines {
		asked[l.Document]++
	}
	var kept []written
	for _, l := range lines {
		of := l.Place == 0
		if kind == kindThree {
			of = asked[l.Document] == perDocument
		}
		if of && l.Refused == "" {
			kept = append(kept, l)
		}
	}
	return kept
}

// casesOf makes cases as goldgen does before anybody judges them: the document is
// the only chunk of itself.
func casesOf(lines []written) []datasets.Case {
	cases := make([]datasets.Case, len(lines))
	for i, l := range lines {
		cases[i] = datasets.Case{
			ID: fmt.Sprintf("%s-%d", l.Document, l.Place), Query: l.Query, QueryType: l.Type,
			Origin: datasets.OriginSynthetic, Status: datasets.Active, Source: []string{l.Document}, Evidence: l.Evidence,
			Judgments: []datasets.Judgment{datasets.SourceJudgment(l.Document, l.Document)},
		}
	}
	return cases
}
