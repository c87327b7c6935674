package pipeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// HistoryFile is where every result that stands leaves a line.
const HistoryFile = "eval_results.jsonl"

// HistoryEntry is a line of eval_results.jsonl.
type HistoryEntry struct {
	Format      int                  `json:"format"`
	Time        string               `json:"time"`
	Golden      *eval.GoldenRef      `json:"golden"`
	Trust       string               `json:"trust"`
	TrustDetail string               `json:"trust_detail"`
	Retriever   retrieve.Description `json:"retriever"`
	Conventions eval.Conventions     `json:"conventions"`
	Restriction string               `json:"restriction,omitempty"` // which cases were asked, where it was not all
	Pins        *datasets.Pins       `json:"pins,omitempty"`
	Index       string               `json:"index_version,omitempty"`
	Metrics     eval.Metrics         `json:"metrics"`
	Cases       int                  `json:"cases"`
	Leaks       int                  `json:"leaks"`
	Missing     int                  `json:"missing"`
	Failed      int                  `json:"failed"`
	Path        string               `json:"path"`             // of the result, seen from the project's folder
	Digest      string               `json:"digest,omitempty"` // of the result, as its result.json holds it
}

func (p *Project) appendHistory(m resultManifest, path, digest string) error {
	r := m.Result
	return appendLine(filepath.Join(p.Dir, HistoryFile), HistoryEntry{
		Format: ResultFormat, Time: m.CreatedAt, Golden: p.fromHere(r.Golden), Trust: r.Trust, TrustDetail: r.TrustDetail,
		Retriever: m.Retriever, Conventions: r.Conventions, Restriction: m.Restriction, Pins: m.Pins, Index: m.Index,
		Metrics: r.Metrics, Cases: r.Counts.Cases, Leaks: len(r.Leaks), Missing: r.Missing, Failed: len(r.Failed),
		Path: p.relative(path), Digest: digest,
	})
}

// appendLine adds one line of JSON to a history in one write, so that two runs
// at once do not mix theirs.
func appendLine(path string, entry any) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if endsTorn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// History is what eval_results.jsonl holds, oldest first. Lines that are torn
// or no results are numbered in Skipped.
type History struct {
	Entries []HistoryEntry `json:"results"`
	Skipped []int          `json:"skipped_lines"` // from 1
}

// ReadHistory reads the lines of an eval_results.jsonl. A line that cannot be
// read is skipped: a kill or a full disk may have torn it, a merge may have
// left marks.
func ReadHistory(r io.Reader) (History, error) {
	h := History{Entries: []HistoryEntry{}, Skipped: []int{}}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return h, fmt.Errorf("line %d: %w", n, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if e, ok := historyEntry(line); ok {
				h.Entries = append(h.Entries, e)
			} else {
				h.Skipped = append(h.Skipped, n)
			}
		}
		if err != nil {
			return h, nil
		}
	}
}

func historyEntry(line []byte) (HistoryEntry, bool) {
	var e HistoryEntry
	err := json.Unmarshal(line, &e)
	return e, err == nil && e.Format >= 1 && e.Format <= ResultFormat && e.Golden != nil && e.Time != "" && e.Path != ""
}

// History reads the project's history, of one set by name or of all. No file
// is no history.
func (p *Project) History(set string) (History, error) {
	path := filepath.Join(p.Dir, HistoryFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ReadHistory(strings.NewReader(""))
	}
	if err != nil {
		return History{}, err
	}
	defer f.Close()
	h, err := ReadHistory(f)
	if err != nil {
		return h, fmt.Errorf("%s: %w", path, err)
	}
	h.Entries = slices.DeleteFunc(h.Entries, func(e HistoryEntry) bool { return set != "" && !e.of(set) })
	return h, nil
}

// of reports whether the entry is of a set: a name, or a reference to a version.
func (e *HistoryEntry) of(set string) bool {
	return e.Golden.Name == set || e.Golden.Ref == set || e.Golden.Name+"@"+e.Golden.Digest == set
}

// endsTorn reports a last line without its end: a full disk, or a kill, cut it.
func endsTorn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// relative is a path as seen from the project's folder, with slashes: the
// history may be read from anywhere.
func (p *Project) relative(path string) string {
	root, err1 := filepath.Abs(p.Dir)
	abs, err2 := filepath.Abs(path)
	if err := errors.Join(err1, err2); err != nil {
		return path
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return filepath.ToSlash(abs)
	}
	return filepath.ToSlash(rel)
}

func (p *Project) fromHere(g *eval.GoldenRef) *eval.GoldenRef {
	if g == nil {
		return nil
	}
	out := *g
	out.Path = p.relative(g.Path)
	return &out
}
