package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// ResultFormat is the version of a result folder's format. Format 1 kept no
// labels: its numbers can be read, and nothing can be scored again.
const ResultFormat = 2

// Files of a result folder.
const (
	resultFile = "result.json"
	casesFile  = "cases.parquet"
)

// resultManifest is result.json: what was scored, how, and the numbers.
type resultManifest struct {
	Format      int                  `json:"format"`
	Goldgen     string               `json:"goldgen"`
	CreatedAt   string               `json:"created_at"`
	Retriever   retrieve.Description `json:"retriever_settings"`
	Pins        *datasets.Pins       `json:"pins,omitempty"` // of the golden set
	Embedding   string               `json:"embedding,omitempty"`
	Index       string               `json:"index_version,omitempty"` // digest over corpus, retriever settings and embedding
	Restriction string               `json:"restriction,omitempty"`   // which cases were asked, where it was not all
	Cached      int                  `json:"cached_answers,omitempty"`
	Scoring     scoring              `json:"scoring"`
	Cases       int                  `json:"cases"` // rows of cases.parquet
	Files       map[string]string    `json:"files"` // name -> SHA-256 of its bytes
	Result      *eval.Result         `json:"result"`
}

// indexVersion names what a retriever searched, as far as goldgen knows it:
// equal ones give equal rankings, unless a program or a server outside changed.
func indexVersion(corpusDigest string, d retrieve.Description, embedding string) string {
	h := sha256.Sum256([]byte(corpusDigest + "\n" + d.Digest() + "\n" + embedding))
	return hex.EncodeToString(h[:])
}

// scoring is what eval.Input holds beside cases and what Result repeats.
type scoring struct {
	Measures   []string `json:"measures"`
	SliceBy    []string `json:"slice_by"`
	MinGrade   int      `json:"min_grade"`
	SetGrade   int      `json:"relevant_grade,omitempty"` // of the golden set; MinGrade was asked for where it is another
	KeepEmpty  bool     `json:"keep_empty"`
	Seed       int64    `json:"seed"`
	Duplicates int      `json:"duplicates"`
	Notes      []string `json:"notes,omitempty"` // of the result, that scoring again does not give

	// Unplaced is, by case, how many of its results stand nowhere in the snapshot.
	Unplaced map[string]int `json:"unplaced,omitempty"`

	// Shift is the shift variance of the set's label model, by measure.
	Shift map[string]float64 `json:"shift_variance,omitempty"`

	// Learning is how more labels would narrow that model's doubt, where it says.
	Learning *judge.Learning `json:"label_model,omitempty"`
}

func scoringOf(in *eval.Input, notes []string) scoring {
	s := scoring{MinGrade: in.MinGrade, KeepEmpty: in.KeepEmpty, Seed: in.Seed, Duplicates: in.Duplicates, Notes: notes,
		Measures: []string{}, SliceBy: []string{}, Unplaced: map[string]int{}}
	for i := range in.Cases {
		if n := in.Cases[i].Unplaced; n > 0 {
			s.Unplaced[in.Cases[i].ID] = n
		}
	}
	for i := range in.Measures {
		s.Measures = append(s.Measures, in.Measures[i].Name)
	}
	for i := range in.Dimensions {
		s.SliceBy = append(s.SliceBy, in.Dimensions[i].Name)
	}
	return s
}

// resultDraft is a result before it is kept.
type resultDraft struct {
	resultManifest
	input      eval.Input
	dimensions []eval.Dimension // every one that the cases have, to slice by later
}

// write makes the folder of a result, whole or not at all.
func (d *resultDraft) write(dir string) (digest string, err error) {
	rows := d.rows()
	return writeResult(dir, rows, func(files map[string]string) any {
		d.Cases, d.Files = len(rows), files
		return d.resultManifest
	}, func() error { return checkResultPlace(dir, d.resultManifest) })
}

func (d *resultDraft) rows() []caseRow {
	rows := make([]caseRow, 0, len(d.input.Cases))
	for scored := range d.Result.Rows() {
		at := len(rows)
		rows = append(rows, newCaseRow(&d.input.Cases[at], scored, d.dimensions, at))
	}
	return rows
}

// checkResultPlace refuses a folder that holds something else, or a result
// that was made under another configuration.
func checkResultPlace(dir string, m resultManifest) error {
	old, err := resultAt(dir)
	if old == nil || err != nil {
		return err
	}
	return otherResult(dir, resultDiffers(*old, m))
}

// resultAt reads what a new result would take the place of, nil if nothing.
func resultAt(dir string) (*resultManifest, error) {
	if free, err := placeIsFree(dir); free || err != nil {
		return nil, err
	}
	old, err := readManifest(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: --out %s: holds something that is no result of eval", ErrConfig, dir)
	}
	return &old, nil
}

func otherResult(dir, differs string) error {
	if differs != "" {
		return hinted("choose another folder for --out", "%w: --out %s: holds a result made under another configuration (%s)", ErrConfig, dir, differs)
	}
	return nil
}

// resultDiffers names the settings in which two results differ.
func resultDiffers(old, now resultManifest) string {
	differs := setupDiffers(old, now)
	if a, b := measured(old), measured(now); !slices.Equal(a, b) && !slices.Contains(differs, conventionsDiffer) {
		differs = append(differs, conventionsDiffer)
	}
	return strings.Join(differs, ", ")
}

const conventionsDiffer = "conventions or measures"

// setupDiffers names those that are known before a query is asked.
func setupDiffers(old, now resultManifest) (differs []string) {
	if golden(old) != golden(now) {
		differs = append(differs, fmt.Sprintf("golden set %s, now %s", golden(old), golden(now)))
	}
	for _, setting := range old.Retriever.Differs(now.Retriever) {
		differs = append(differs, "retriever "+setting)
	}
	if a, b := conventions(old), conventions(now); a != b {
		differs = append(differs, conventionsDiffer)
	}
	return differs
}

func golden(m resultManifest) string {
	if m.Result.Golden == nil {
		return "none"
	}
	return m.Result.Golden.Name
}

func conventions(m resultManifest) string {
	c := m.Result.Conventions
	return fmt.Sprint(c.MinGrade, c.Source, c.K, m.Restriction)
}

func measured(m resultManifest) (names []string) {
	for _, metric := range m.Result.Metrics {
		names = append(names, metric.Name)
	}
	return names
}
