package datasets

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// FormatCSV is a table of cases: a row a case, a column for each part of it. Texts
// stand as they are, lists and objects as JSON; a cell of what a case does not have
// is empty.
const FormatCSV = "csv"

// relevantColumn holds the labels, as hand-written cases in JSON lines have them.
const relevantColumn = "relevant_chunk_ids"

// csvColumns are the columns that Export writes, in order.
func csvColumns() []string {
	return []string{
		"case_id", "query", relevantColumn, "query_type", "category", "style", "language", "unit", "tags", "origin", "scope", "filters",
		"expected_source", "as_of", "expected_abstention", "reference_answer", "evidence", "forbidden", "hard_negatives",
	}
}

func csvParts() []string { return partsBut(partJudges, partProvenance) }

// csv writes the cases as a table.
func (e *exporter) csv(sink Sink) error {
	rows := [][]string{csvColumns()}
	for _, c := range e.cases {
		labels := e.known(c)
		e.count(c, 1)
		row, err := csvRow(c, labels)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.ID, err)
		}
		rows = append(rows, row)
	}
	if len(e.cases) == 0 {
		return ErrNothingToExport
	}
	return writeCSV(sink, rows)
}

func writeCSV(sink Sink, rows [][]string) error {
	return sink("", func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

func csvRow(c *Case, labels []exported) ([]string, error) {
	var data bytes.Buffer
	if err := encoderOf(&data).Encode(c); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data.Bytes(), &fields); err != nil {
		return nil, err
	}
	fields[relevantColumn] = mustJSON(gradedIDs(labels))
	return convert(csvColumns(), func(column string) string { return cell(fields[column]) }), nil
}

// gradedID is a label as hand-written cases have it.
type gradedID struct {
	ChunkID string `json:"chunk_id"`
	Grade   int    `json:"grade"`
}

func gradedIDs(labels []exported) []gradedID {
	return convert(labels, func(l exported) gradedID { return gradedID{l.id, l.grade} })
}

// cell is a JSON value as it stands in a table.
func cell(value json.RawMessage) string {
	switch text := string(value); {
	case text == "null" || text == "[]" || text == "{}":
		return ""
	case strings.HasPrefix(text, `"`):
		var s string
		if json.Unmarshal(value, &s) == nil {
			return s
		}
	}
	return string(value)
}
