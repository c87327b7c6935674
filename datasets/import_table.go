package datasets

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"
)

// readTable reads cases as Export writes them to CSV, or by hand: the columns of
// hand-written cases, of which query is needed. A cell of a list is JSON, or has an
// item a line.
func (im *importer) readTable(RebaseView) error {
	text, err := readText(im.options.Queries)
	if err != nil {
		return fmt.Errorf("cases: %w", err)
	}
	rows, err := tableRows(text)
	if err != nil {
		return fmt.Errorf("%s:%w", im.options.Queries, err)
	}
	return im.addRows(rows)
}

// tableRow is a row as a line of JSON.
type tableRow struct {
	line int
	json string
}

// tableRows reads a table. Errors begin with the line.
func tableRows(text string) (iter.Seq2[int, string], error) {
	r := csv.NewReader(strings.NewReader(text))
	all, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("1: no header")
	}
	header := all[0]
	if err := checkHeader(header); err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	var rows []tableRow
	line := 1
	for _, cells := range all[1:] {
		line++ // a row's number, as a cell may hold line breaks
		row, err := tableJSON(header, cells)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", line, err)
		}
		rows = append(rows, tableRow{line, row})
	}
	return func(yield func(int, string) bool) {
		for _, row := range rows {
			if !yield(row.line, row.json) {
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
		return fmt.Errorf("no column query")
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
