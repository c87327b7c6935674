package report

import (
	"io"
)

// Style says where output goes. The zero value is a pipe: tab-separated lines,
// no colour.
type Style struct {
	Terminal bool
	Color    bool
	Width    int // columns of the terminal; 0 unknown
}

// Column is one column of a table.
type Column struct {
	Name  string
	Right bool // align to the right, as numbers are
	Max   int  // longest text shown on a terminal, in columns; 0 no limit
}

// Table is rows of text under named columns. Cells are escaped when written.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// Add appends a row; missing cells are empty.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write renders the table: aligned on a terminal, else tab-separated with the
// column names first.
func (t *Table) Write(w io.Writer, style Style) error { return nil }
