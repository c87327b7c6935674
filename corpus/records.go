package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// columns lists what a table must have: each entry is one column or its
// alternatives.
type columns [][]string

// records reads a JSONL or Parquet table by its name.
func records(path string, m mapping, need columns) iter.Seq2[TableRow, error] {
	if tableKind(path) == "parquet" {
		return parquetRecords(path, m, need)
	}
	return jsonlRecords(path)
}

// jsonlRecords yields one record a line, of any length; blank lines are
// skipped. A line that does not parse is an error that names file and line.
func jsonlRecords(path string) iter.Seq2[TableRow, error] {
	return func(yield func(TableRow, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(TableRow{}, err)
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 1<<20)
		for n := 1; ; n++ {
			line, err := r.ReadBytes('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(TableRow{}, fmt.Errorf("%s:%d: %w", path, n, err))
				return
			}
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if len(bytes.TrimSpace(line)) > 0 {
				row, bad := ParseRow(fmt.Sprintf("%s:%d", path, n), line)
				if !yield(row, bad) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// ParseRow reads one line of a table in JSON lines.
func ParseRow(where string, line []byte) (TableRow, error) {
	if err := checkText(where, line); err != nil {
		return TableRow{}, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	fields := map[string]any{}
	if err := d.Decode(&fields); err != nil {
		return TableRow{}, fmt.Errorf("%s: %w", where, jsonError(err))
	}
	if fields == nil {
		return TableRow{}, fmt.Errorf("%s: want a JSON object, not null", where)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return TableRow{}, fmt.Errorf("%s: more than one JSON value on the line", where)
	}
	return TableRow{where, fields}, nil
}

// jsonError says what was wrong in our words where the library names Go types.
func jsonError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("want a JSON object, not %s", wrong.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("JSON ends too early")
	}
	return err
}
