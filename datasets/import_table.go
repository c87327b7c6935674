package datasets

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"
)

// readTable reads cases as Export writes them to CSV, or by hand: the columns of
// hand-written cases, of which query is needed. A cell of a list is JSON, or has an
// item a line.
func (im *importer) readTable(view RebaseView) error {
	text, err := readText(im.options.Queries)
	if err != nil {
		return fmt.Errorf("cases: %w", err)
	}
	rows, err := tableRows(text)
	if err != nil {
		return fmt.Errorf("%s:%w", im.options.Queries, err)
	}
	return im.addRows(rows, view)
}

// tableRow is a row of cells, and the line on which it begins.
type tableRow struct {
	line  int
	cells []string
}

// readCSV reads a table. Errors begin with the line.
func readCSV(text string) ([]tableRow, error) {
	r := csv.NewReader(strings.NewReader(text))
	var rows []tableRow
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, fmt.Errorf("%d: %w", wrong.Line, wrong.Err)
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		rows = append(rows, tableRow{line, cells})
	}
}

// tableRows gives each row of a table as a line of JSON.
func tableRows(text string) (iter.Seq2[int, string], error) {
	rows, err := readCSV(text)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("1: no header")
	}
	header := rows[0].cells
	if err := checkHeader(header); err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	cases := make([]string, len(rows))
	for i, row := range rows[1:] {
		if cases[i+1], err = tableJSON(header, row.cells); err != nil {
			return nil, fmt.Errorf("%d: %w", row.line, err)
		}
	}
	return func(yield func(int, string) bool) {
		for i, row := range rows[1:] {
			if !yield(row.line, cases[i+1]) {
				return
			}
		}
	}, nil
}

// cellKinds are how the cells of each column are read.
func cellKinds() map[string]reflect.Type {
	kinds := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[jsonlCase]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			kinds[name] = f.Type
		}
	}
	return kinds
}

// checkHeader refuses columns that are unknown, there twice or missing.
func checkHeader(header []string) error {
	kinds := cellKinds()
	for i, name := range header {
		if _, known := kinds[name]; !known {
			return fmt.Errorf("unknown column %q", name)
		}
		if slices.Contains(header[:i], name) {
			return fmt.Errorf("column %q is there twice", name)
		}
	}
	if !slices.Contains(header, "query") {
		return errors.New("no column query")
	}
	return nil
}

// tableJSON is a row as hand-written cases have it.
func tableJSON(header, cells []string) (string, error) {
	kinds := cellKinds()
	fields := map[string]json.RawMessage{}
	for i, name := range header {
		if cells[i] == "" {
			continue
		}
		value := cellJSON(kinds[name], cells[i])
		if !json.Valid(value) {
			return "", fmt.Errorf("column %s: %s is no JSON", name, abridged(cells[i]))
		}
		fields[name] = value
	}
	return string(mustJSON(fields)), nil
}

func cellJSON(kind reflect.Type, cell string) json.RawMessage {
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch {
	case kind.Kind() == reflect.String || kind == reflect.TypeFor[time.Time]():
		return mustJSON(cell)
	case kind.Kind() == reflect.Bool:
		return json.RawMessage(strings.ToLower(cell)) // spreadsheets write TRUE
	case kind.Kind() == reflect.Slice && !strings.HasPrefix(strings.TrimSpace(cell), "["):
		var items []string
		for _, item := range lines(cell) {
			if !blank(item) {
				items = append(items, strings.TrimSpace(item))
			}
		}
		return mustJSON(items)
	}
	return json.RawMessage(cell)
}
