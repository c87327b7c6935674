package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/parquetfile"
)

// stageRow is a line of a stage file as Parquet: what one filters by in
// columns of their own, and the record as it stands in the JSONL form.
type stageRow struct {
	Kind      string `parquet:"kind"` // header, record or trailer
	CaseID    string `parquet:"case_id"`
	QueryType string `parquet:"query_type,dict"`
	Stratum   string `parquet:"stratum,dict"`
	Query     string `parquet:"query"`
	Record    string `parquet:"record"`
}

// SaveStage writes a stage file, whole or not at all: Parquet where the name
// ends so, else JSON lines.
func SaveStage[T any](path string, h Header, records []T) error {
	if strings.HasSuffix(path, ".parquet") {
		return atomicfile.Write(path, 0o644, func(w io.Writer) error { return writeStageParquet(w, h, records) })
	}
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return WriteStage(w, h, records) })
}

// LoadStage reads a stage file that SaveStage wrote.
func LoadStage[T any](path, kind string) (Header, []T, error) {
	if strings.HasSuffix(path, ".parquet") {
		return readStageParquet[T](path, kind)
	}
	f, err := os.Open(path)
	if err != nil {
		return Header{}, nil, err
	}
	defer f.Close()
	return ReadStage[T](f, path, kind)
}

// writeStageParquet writes the lines of the JSON form as rows.
func writeStageParquet[T any](w io.Writer, h Header, records []T) error {
	var lines bytes.Buffer
	if err := WriteStage(&lines, h, records); err != nil {
		return err
	}
	texts := strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
	rows := make([]stageRow, len(texts))
	for i, text := range texts {
		rows[i] = asStageRow(text)
	}
	rows[0].Kind, rows[len(rows)-1].Kind = "header", "trailer"
	return parquetfile.Write(w, rows)
}

// asStageRow lifts what one filters by out of a record's JSON.
func asStageRow(text string) stageRow {
	type named struct {
		CaseID     string `json:"case_id"`
		QueryType  string `json:"query_type"`
		Stratum    string `json:"stratum"`
		Query      string `json:"query"`
		Provenance struct {
			Stratum string `json:"stratum"`
		} `json:"provenance"`
	}
	var outer struct {
		named
		Case   *named `json:"case"`
		Reject *named `json:"reject"`
	}
	row := stageRow{Kind: "record", Record: text}
	if json.Unmarshal([]byte(text), &outer) != nil {
		return row // the text is what counts
	}
	n := outer.named
	for _, inner := range []*named{outer.Case, outer.Reject} {
		if inner != nil {
			n = *inner
		}
	}
	row.CaseID, row.QueryType, row.Query = n.CaseID, n.QueryType, n.Query
	row.Stratum = cmp.Or(n.Stratum, n.Provenance.Stratum)
	return row
}

// readStageParquet gives the lines back to the reader of the JSON form, which
// checks kind, format, count and digest.
func readStageParquet[T any](path, kind string) (Header, []T, error) {
	rows, err := parquetfile.ReadFile[stageRow](path)
	if err != nil {
		return Header{}, nil, err
	}
	var lines strings.Builder
	for _, r := range rows {
		lines.WriteString(r.Record + "\n")
	}
	return ReadStage[T](strings.NewReader(lines.String()), path, kind)
}
