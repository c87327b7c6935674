package corpus

import (
	"iter"
	"time"
)

// TableRow is a row of a table, of documents, chunks or anything else, with the
// names that its file gives to fields.
type TableRow struct {
	Where  string // file and line or row, for messages
	Fields map[string]any
}

// Text takes a field that must be a string, or a scalar rendered as one, under
// its mapped name alone where fields has one, else under the first of names. A
// field that is not there is "".
func (r TableRow) Text(fields map[string]string, names ...string) (string, error) {
	return mapping(fields).text(r.Fields, names...)
}

// Time takes a field that must be a date; nil where it is not there.
func (r TableRow) Time(fields map[string]string, name string) (*time.Time, error) {
	return mapping(fields).time(r.Fields, name)
}

// List takes a field that is a value or a list of values, sorted and distinct.
func (r TableRow) List(fields map[string]string, names ...string) []string {
	v, ok := mapping(fields).take(r.Fields, names...)
	if !ok {
		return nil
	}
	return values(v)
}

// ParquetRows yields the rows of a Parquet file that has the needed column, by
// its mapped name or one of names.
func ParquetRows(path string, fields map[string]string, names ...string) iter.Seq2[TableRow, error] {
	return parquetRecords(path, fields, columns{names})
}
