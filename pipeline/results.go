package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/parquetfile"
	"github.com/goldgen/goldgen/retrieve"
)

// ResultFormat is the version of a result folder's format.
const ResultFormat = 1

// Files of a result folder.
const (
	resultFile = "result.json"
	casesFile  = "cases.parquet"
)

// resultManifest is result.json: what was scored, how, and the numbers.
type resultManifest struct {
	Format    int                  `json:"format"`
	Goldgen   string               `json:"goldgen"`
	CreatedAt string               `json:"created_at"`
	Retriever retrieve.Description `json:"retriever_settings"`
	Pins      *datasets.Pins       `json:"pins,omitempty"` // of the golden set
	Embedding string               `json:"embedding,omitempty"`
	Result    *eval.Result         `json:"result"`
}

// caseRow is a row of a result's cases.parquet.
type caseRow struct {
	CaseID     string      `parquet:"case_id"`
	Query      string      `parquet:"query"`
	Status     string      `parquet:"status"`
	Slices     []sliceRow  `parquet:"slices,list"`
	Metrics    []metricRow `parquet:"metrics,list"`
	Ranking    []hitRow    `parquet:"ranking,list"`
	TookMS     float64     `parquet:"took_ms"`
	Missing    bool        `parquet:"missing"`
	Error      string      `parquet:"error"`
	Duplicates int32       `parquet:"duplicates"`
	Leaks      []leakRow   `parquet:"leaks,list"`
}

type sliceRow struct {
	Name  string `parquet:"name"`
	Value string `parquet:"value"`
}

type metricRow struct {
	Name  string  `parquet:"name"`
	Value float64 `parquet:"value"`
}

type hitRow struct {
	Rank    int32    `parquet:"rank"`
	ChunkID string   `parquet:"chunk_id"`
	Score   *float64 `parquet:"score,optional"`
	Grade   int32    `parquet:"grade"` // -1 unknown, -2 no label
}

type leakRow struct {
	ChunkID string `parquet:"chunk_id"`
	Rank    int32  `parquet:"rank"`
	Kind    string `parquet:"kind"`
}

func asCaseRow(r eval.CaseRow) caseRow {
	out := caseRow{
		CaseID: r.CaseID, Query: r.Query, Status: r.Status, TookMS: r.TookMS, Missing: r.Missing,
		Error: r.Error, Duplicates: int32(r.Duplicates),
	}
	for _, s := range r.Slices {
		out.Slices = append(out.Slices, sliceRow(s))
	}
	for _, v := range r.Metrics {
		out.Metrics = append(out.Metrics, metricRow(v))
	}
	for i, h := range r.Ranking {
		out.Ranking = append(out.Ranking, hitRow{Rank: int32(i + 1), ChunkID: h.ID, Score: h.Score, Grade: int32(h.Grade)})
	}
	for _, l := range r.Leaks {
		out.Leaks = append(out.Leaks, leakRow{ChunkID: l.Chunk, Rank: int32(l.Rank), Kind: l.Kind})
	}
	return out
}

// writeResult makes the folder of a result, whole or not at all.
func writeResult(dir string, m resultManifest) error {
	if err := checkResultPlace(dir, m); err != nil {
		return err
	}
	temp, err := atomicfile.MkdirTemp(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	err = atomicfile.Write(filepath.Join(temp, casesFile), 0o644, func(w io.Writer) error { return writeCaseRows(w, m.Result) })
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(temp, resultFile), 0o644, append(data, '\n')); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return atomicfile.Rename(temp, dir)
}

func writeCaseRows(w io.Writer, r *eval.Result) error {
	var rows []caseRow
	for row := range r.Rows() {
		rows = append(rows, asCaseRow(row))
	}
	return parquetfile.Write(w, rows)
}

// checkResultPlace refuses a folder that holds something else, or a result
// that was made under another configuration.
func checkResultPlace(dir string, m resultManifest) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(entries) == 0) {
		return os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o755)
	}
	if err != nil {
		return fmt.Errorf("%w: --out: %w", ErrConfig, err)
	}
	old, err := readResult(dir)
	if err != nil {
		return fmt.Errorf("%w: --out %s: holds something that is no result of eval", ErrConfig, dir)
	}
	if differs := resultDiffers(old, m); differs != "" {
		return hinted("choose another folder for --out", "%w: --out %s: holds a result made under another configuration (%s)", ErrConfig, dir, differs)
	}
	return nil
}

// resultDiffers names the settings in which two results differ.
func resultDiffers(old, now resultManifest) string {
	var differs []string
	if golden(old) != golden(now) {
		differs = append(differs, fmt.Sprintf("golden set %s, now %s", golden(old), golden(now)))
	}
	for _, setting := range old.Retriever.Differs(now.Retriever) {
		differs = append(differs, "retriever "+setting)
	}
	if a, b := conventions(old), conventions(now); a != b {
		differs = append(differs, "conventions or measures")
	}
	return strings.Join(differs, ", ")
}

func golden(m resultManifest) string {
	if m.Result.Golden == nil {
		return "none"
	}
	return m.Result.Golden.Name
}

func conventions(m resultManifest) string {
	c := m.Result.Conventions
	var names []string
	for _, metric := range m.Result.Metrics {
		names = append(names, metric.Name)
	}
	return fmt.Sprint(c.MinGrade, c.Source, c.K, names)
}

func readResult(dir string) (resultManifest, error) {
	var m resultManifest
	data, err := os.ReadFile(filepath.Join(dir, resultFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(dir, resultFile), err)
	}
	if m.Format != ResultFormat || m.Result == nil {
		return m, fmt.Errorf("%s: format %d, this version reads %d", dir, m.Format, ResultFormat)
	}
	return m, nil
}

// historyLine is a line of eval_results.jsonl.
type historyLine struct {
	Format      int                  `json:"format"`
	Time        string               `json:"time"`
	Golden      *eval.GoldenRef      `json:"golden"`
	Trust       string               `json:"trust"`
	TrustDetail string               `json:"trust_detail"`
	Retriever   retrieve.Description `json:"retriever"`
	Conventions eval.Conventions     `json:"conventions"`
	Pins        *datasets.Pins       `json:"pins,omitempty"`
	Metrics     eval.Metrics         `json:"metrics"`
	Leaks       int                  `json:"leaks"`
	Missing     int                  `json:"missing"`
	Path        string               `json:"path"` // of the result, seen from the project's folder
}

// appendHistory adds one line in one write, so that two runs at once do not
// mix theirs.
func (p *Project) appendHistory(m resultManifest, path string) error {
	r := m.Result
	line, err := json.Marshal(historyLine{
		Format: ResultFormat, Time: m.CreatedAt, Golden: p.fromHere(r.Golden), Trust: r.Trust, TrustDetail: r.TrustDetail,
		Retriever: m.Retriever, Conventions: r.Conventions, Pins: m.Pins, Metrics: r.Metrics,
		Leaks: len(r.Leaks), Missing: r.Missing, Path: p.relative(path),
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(p.Dir, "eval_results.jsonl"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if endsTorn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(append(line, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
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
