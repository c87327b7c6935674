package report

import (
	"fmt"
	"strings"
)

// textTable is rows of escaped text under named columns; a name that begins
// with ">" is one of numbers, as in NewTable. The first cell names the row.
type textTable struct {
	Caption string
	Columns []string
	Rows    [][]string
	More    int // rows that are left out
}

// listed is how many leaks or errors the page lists; all are in the cases.
const listed = 100

// Name is a column's name without its mark.
func (t textTable) Name(i int) string { return strings.TrimPrefix(t.Columns[i], ">") }

// Number reports a column of numbers.
func (t textTable) Number(i int) bool { return strings.HasPrefix(t.Columns[i], ">") }

// add appends a row and escapes it; from the limit on rows are counted only.
func (t *textTable) add(limit int, cells ...string) {
	if limit > 0 && len(t.Rows) >= limit {
		t.More++
		return
	}
	for i := range cells {
		cells[i] = Escape(cells[i])
	}
	t.Rows = append(t.Rows, cells)
}

// Rest says how many rows are left out, "" none.
func (t textTable) Rest() string {
	if t.More == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more, among the cases below", t.More)
}
