package pipeline

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/plaintext"
	"github.com/goldgen/goldgen/judge"
)

// LabelReport says what became of the labels that were read.
type LabelReport struct {
	Read     int          `json:"read"`
	Used     int          `json:"used"` // pairs
	Empty    int          `json:"empty"`
	Replaced int          `json:"replaced"` // labels that a later one of the same person for the same pair replaced
	Joined   int          `json:"joined"`   // pairs that several people labelled: the median counts, the lower of two
	Left     []LabelFault `json:"left_out"`
	MinGrade int          `json:"min_grade"`
	Binary   bool         `json:"binary"` // nobody gave more than 1, so 1 counts as relevant
}

// LabelFault is a label that could not be used.
type LabelFault struct {
	Where   string `json:"where"` // line, or case of a set
	CaseID  string `json:"case_id"`
	ChunkID string `json:"chunk_id"`
	Why     string `json:"why"`
}

// label is a label as read.
type label struct {
	where, caseID, chunkID, by string
	grade                      int
	inclusion                  float64
}

// labelFile is what a file, or a set, holds.
type labelFile struct {
	name   string // who labelled where no column says
	labels []label
	empty  int
	faults []LabelFault
}

// readLabels reads a CSV file with a header (case_id, chunk_id, grade, and
// optionally by or who, and inclusion), or TREC qrels. Labels of nobody are of the
// file's name.
func readLabels(path string) (*labelFile, error) {
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		return readCSV(path)
	}
	if !strings.EqualFold(filepath.Ext(path), ".parquet") {
		if _, err := readWhole(path); err != nil {
			return nil, err
		}
	}
	qrels, err := datasets.ReadQrels(path)
	if err != nil {
		return nil, err
	}
	out := &labelFile{}
	for _, topic := range qrels.Topics {
		for _, row := range topic.Rows {
			out.add(label{
				where: fmt.Sprintf("line %d", row.Line), caseID: topic.ID, chunkID: row.ChunkID,
				by: filepath.Base(path), grade: int(row.Grade), inclusion: 1,
			})
		}
	}
	return out, nil
}

func (f *labelFile) add(l label) {
	switch {
	case l.grade < 0 || l.grade > 3:
		f.fault(l, fmt.Sprintf("grade %d is outside of 0 to 3", l.grade))
	case !(l.inclusion > 0 && l.inclusion <= 1):
		f.fault(l, fmt.Sprintf("inclusion %v is not above 0 and at most 1", l.inclusion))
	default:
		f.labels = append(f.labels, l)
	}
}

func (f *labelFile) fault(l label, why string) {
	f.faults = append(f.faults, LabelFault{Where: l.where, CaseID: l.caseID, ChunkID: l.chunkID, Why: why})
}

// readWhole reads a text and refuses one that ends in the middle of a line:
// somebody is still writing it.
func readWhole(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if problem := plaintext.Problem(data); problem != "" {
		return nil, fmt.Errorf("%w %s: %s", errLabels, path, problem)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return nil, fmt.Errorf("%w %s: ends in the middle of a line: is it still being written?", errLabels, path)
	}
	return data, nil
}

// gradeTable is a file of people's grades.
func gradeTable() labelTable {
	return labelTable{[]string{"case_id", "chunk_id", "grade"}, []string{"by or who", "inclusion"}}
}

func readCSV(path string) (*labelFile, error) {
	out := &labelFile{name: filepath.Base(path)}
	return out, gradeTable().each(path, out.addRow)
}

// row is a row of a CSV file of labels, by the names of its columns.
type row struct {
	columns map[string]int
	cells   []string
	where   string
}

// cell is "" where there is no such column.
func (r row) cell(name string) string {
	if i, ok := r.columns[name]; ok {
		return strings.TrimSpace(r.cells[i])
	}
	return ""
}

// inclusion is 1 where none is given.
func (r row) inclusion() (float64, error) {
	text := r.cell("inclusion")
	if text == "" {
		return 1, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("inclusion %q is no number", text)
	}
	return v, nil
}

// labelTable is a CSV file of labels, or of answers: its columns.
type labelTable struct{ wanted, optional []string }

// each reads a whole file with a header, of columns divided by commas, semicolons
// or tabs; columns that are not asked for are left alone.
func (t labelTable) each(path string, take func(row)) error {
	data, err := readWhole(path)
	if err != nil {
		return err
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	head, _, _ := strings.Cut(text, "\n")
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = plaintext.Delimiter(head, func(column string) bool { return strings.EqualFold(column, t.wanted[0]) })
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%w %s: no header: %w", errLabels, path, err)
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	for _, name := range t.wanted {
		if _, ok := columns[name]; !ok {
			return fmt.Errorf("%w %s: no column %s; wanted are %s, and optionally %s", errLabels, path, name, strings.Join(t.wanted, ", "), strings.Join(t.optional, ", "))
		}
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w %s: %w", errLabels, path, err)
		}
		line, _ := r.FieldPos(0)
		take(row{columns, cells, fmt.Sprintf("line %d", line)})
	}
}

// addRow takes a row in; one without a grade has not been labelled yet.
func (f *labelFile) addRow(r row) {
	l := label{where: r.where, caseID: r.cell("case_id"), chunkID: r.cell("chunk_id"), by: cmp.Or(r.cell("by"), r.cell("who"), f.name)}
	grade := r.cell("grade")
	if grade == "" {
		f.empty++
		return
	}
	var err error
	if l.grade, err = strconv.Atoi(grade); err != nil {
		f.fault(l, fmt.Sprintf("grade %q is no whole number", grade))
		return
	}
	if l.inclusion, err = r.inclusion(); err != nil {
		f.fault(l, err.Error())
		return
	}
	f.add(l)
}

// labelsIn are people's labels of a set.
func labelsIn(set *datasets.Set) *labelFile {
	out := &labelFile{}
	for i := range set.Cases {
		for _, j := range set.Cases[i].Judgments {
			if j.By == datasets.ByHuman && j.Grade != nil {
				out.add(label{where: set.Ref().String(), caseID: set.Cases[i].ID, chunkID: j.ChunkID, by: j.Judge, grade: *j.Grade, inclusion: cmp.Or(j.Inclusion, 1)})
			}
		}
	}
	return out
}

// match joins labels to the pairs of a set. It returns the set's cases with the
// labels as people's judgments, the labels that can be used, one a pair, and
// what became of the others.
func (f *labelFile) match(set *datasets.Set, b *bench) ([]datasets.Case, []judge.HumanLabel, LabelReport) {
	r := LabelReport{Read: len(f.labels) + len(f.faults), Empty: f.empty, Left: slices.Clone(f.faults)}
	cases := slices.Clone(set.Cases)
	at := map[string]int{}
	for i := range cases {
		at[cases[i].ID] = i
	}
	m := &matcher{report: &r, byPair: map[[2]string][]label{}}
	for _, l := range f.labels {
		i, ok := at[l.caseID]
		if !ok {
			m.left(l, "no such case in "+set.Ref().String())
			continue
		}
		if cases[i].Status == datasets.Retired {
			m.left(l, "the case is retired")
			continue
		}
		chunk, ok := chunkOf(b, l.chunkID)
		if !ok {
			m.left(l, "no such chunk, or a document of several, in the snapshot")
			continue
		}
		l.chunkID = chunk
		m.take(l)
	}
	usable := m.settled()
	for _, l := range usable {
		addHuman(&cases[at[l.CaseID]], l, b)
	}
	r.Used = len(usable)
	if r.Left == nil {
		r.Left = []LabelFault{}
	}
	return cases, usable, r
}

// chunkOf takes a document's id where it has one chunk.
func chunkOf(b *bench, id string) (string, bool) {
	if b.HasChunk(id) {
		return id, true
	}
	if chunks := b.ChunksOf(id); len(chunks) == 1 {
		return chunks[0], true
	}
	return "", false
}

// matcher gathers the labels of each pair.
type matcher struct {
	report *LabelReport
	byPair map[[2]string][]label
	order  [][2]string
}

func (m *matcher) left(l label, why string) {
	m.report.Left = append(m.report.Left, LabelFault{Where: l.where, CaseID: l.caseID, ChunkID: l.chunkID, Why: why})
}

// take adds a label; the last of a person for a pair wins.
func (m *matcher) take(l label) {
	pair := [2]string{l.caseID, l.chunkID}
	known := m.byPair[pair]
	if known == nil {
		m.order = append(m.order, pair)
	}
	if i := slices.IndexFunc(known, func(k label) bool { return k.by == l.by }); i >= 0 {
		known[i] = l
		m.report.Replaced++
		return
	}
	m.byPair[pair] = append(known, l)
}

// settled is one label a pair.
func (m *matcher) settled() []judge.HumanLabel {
	var out []judge.HumanLabel
	for _, pair := range m.order {
		known := m.byPair[pair]
		grades, people := make([]int, len(known)), make([]string, len(known))
		for i, l := range known {
			grades[i], people[i] = l.grade, l.by
		}
		slices.Sort(grades)
		if len(known) > 1 {
			m.report.Joined++
		}
		out = append(out, judge.HumanLabel{
			CaseID: pair[0], ChunkID: pair[1], Grade: grades[(len(grades)-1)/2], Inclusion: known[0].inclusion, By: strings.Join(people, ", "),
		})
	}
	return out
}

// leastInclusion is the least probability that a set's four decimals hold.
const leastInclusion = 0.0001

// addHuman puts a person's grade in the place of an earlier one. Where that says
// the same it stays, with who gave it and a label such as stale.
func addHuman(c *datasets.Case, l judge.HumanLabel, b *bench) {
	chunk, ok := b.chunk(l.ChunkID)
	grade := l.Grade
	same := func(j datasets.Judgment) bool {
		return j.By == datasets.ByHuman && j.ChunkID == l.ChunkID && j.Grade != nil && *j.Grade == grade
	}
	if !ok || slices.ContainsFunc(c.Judgments, same) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(c.Judgments), func(j datasets.Judgment) bool {
		return j.By == datasets.ByHuman && j.ChunkID == l.ChunkID
	})
	c.Judgments = append(kept, datasets.Judgment{
		ChunkID: l.ChunkID, DocID: chunk.DocID, Grade: &grade, Label: datasets.LabelOf(grade, judge.RelevantGrade),
		By: datasets.ByHuman, Judge: l.By, Inclusion: max(leastInclusion, datasets.Round(l.Inclusion)),
	})
}
