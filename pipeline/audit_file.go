package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goldgen/goldgen/review/audit"
)

// auditFile is the rows of a file of labels, and the lines that hold none.
type auditFile struct {
	rows   []audit.Row
	faults []audit.Left
}

// readAuditFiles reads files of labels, JSON lines or CSV, in their order. Rows
// that do not say by whom they are get their file's name.
func readAuditFiles(paths []string) ([]audit.Row, []audit.Left, error) {
	all := auditFile{faults: []audit.Left{}}
	for _, path := range paths {
		var f auditFile
		if err := f.read(path); err != nil {
			return nil, nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		for _, r := range f.rows {
			r.By, r.Where = cmp.Or(r.By, name), inFile(paths, path, r.Where)
			all.rows = append(all.rows, r)
		}
		for _, l := range f.faults {
			l.Where = inFile(paths, path, l.Where)
			all.faults = append(all.faults, l)
		}
	}
	return all.rows, all.faults, nil
}

// inFile names the file where there are several.
func inFile(paths []string, path, where string) string {
	if len(paths) == 1 {
		return where
	}
	return path + ", " + where
}

func (f *auditFile) read(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		t := labelTable{[]string{"case_id"}, []string{"key", "by"}}
		for _, q := range audit.Questions() {
			t.wanted = append(t.wanted, string(q))
		}
		return t.each(path, f.addCells)
	case ".jsonl":
		return f.readLines(path)
	}
	return fmt.Errorf("%w: labels %s: want a .jsonl or a .csv file", ErrConfig, path)
}

func (f *auditFile) addCells(r row) {
	out := audit.Row{CaseID: r.cell("case_id"), Key: r.cell("key"), By: r.cell("by"), Sample: r.cell("sample"), Where: r.where}
	for _, q := range audit.Questions() {
		answer, err := audit.ParseAnswer(r.cell(string(q)))
		if err != nil {
			f.faults = append(f.faults, audit.Left{Where: r.where, CaseID: out.CaseID, Why: fmt.Sprintf("%s: %v", q, err)})
			return
		}
		*out.Answer(q) = answer
	}
	f.rows = append(f.rows, out)
}

func (f *auditFile) readLines(path string) error {
	data, err := readWhole(path)
	if err != nil {
		return err
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r := audit.Row{}
		where := fmt.Sprintf("line %d", n)
		if err := json.Unmarshal(bytes.TrimPrefix(line, []byte("\ufeff")), &r); err != nil {
			f.faults = append(f.faults, audit.Left{Where: where, CaseID: r.CaseID, Why: err.Error()})
			continue
		}
		r.Where = where
		f.rows = append(f.rows, r)
	}
	return nil
}
