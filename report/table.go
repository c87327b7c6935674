package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Style says where output goes. The zero value is a pipe: tab-separated lines,
// no colour.
type Style struct {
	Terminal bool
	Color    bool
	Width    int // columns of the terminal; 0 unknown
}

// paint colours text where colours are wanted.
func (s Style) paint(t string, colors ...text.Color) string {
	if !s.Color {
		return t
	}
	return text.Colors(colors).EscapeSeq() + t + text.EscapeReset
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
	Keys    int // leading columns that name a row; 0 means 1
}

// NewTable makes a table; a name that begins with ">" is aligned to the right.
func NewTable(names ...string) *Table {
	t := &Table{}
	for _, name := range names {
		bare, right := strings.CutPrefix(name, ">")
		t.Columns = append(t.Columns, Column{Name: bare, Right: right})
	}
	return t
}

// Add appends a row; missing cells are empty.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write renders the table: aligned on a terminal, else tab-separated with the
// column names first.
func (t *Table) Write(w io.Writer, style Style) error {
	if !style.Terminal {
		return t.writePlain(w)
	}
	_, err := fmt.Fprintln(w, t.aligned(style))
	return err
}

func (t *Table) writePlain(w io.Writer) error {
	var b strings.Builder
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	for _, row := range append([][]string{names}, t.Rows...) {
		for i := range t.Columns {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Escape(cell(row, i)))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cell(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

// aligned renders through go-pretty. Colours are set here, in the text: whether
// go-pretty would write its own depends on the environment.
func (t *Table) aligned(style Style) string {
	rows := make([][]string, len(t.Rows))
	for r, row := range t.Rows {
		rows[r] = make([]string, len(t.Columns))
		for i, c := range t.Columns {
			rows[r][i] = cut(Escape(cell(row, i)), c.Max)
		}
	}
	blocks, limits := t.fit(rows, style.Width)
	var out []string
	for _, columns := range blocks {
		out = append(out, t.block(rows, columns, limits, style))
	}
	return strings.Join(out, "\n\n")
}

// block renders some of the columns.
func (t *Table) block(rows [][]string, columns, limits []int, style Style) string {
	tw := table.NewWriter()
	tw.SetStyle(look())
	tw.SuppressTrailingSpaces()
	header, configs := table.Row{}, make([]table.ColumnConfig, len(columns))
	for j, i := range columns {
		header = append(header, style.paint(t.Columns[i].Name, text.Bold))
		configs[j] = t.config(i, j+1, limits[i])
	}
	tw.AppendHeader(header)
	for _, row := range rows {
		cells := table.Row{}
		for _, i := range columns {
			cells = append(cells, row[i])
		}
		tw.AppendRow(cells)
	}
	tw.SetColumnConfigs(configs)
	return tw.Render()
}

// look is a table without borders: two spaces between columns, names as they
// are written.
func look() table.Style {
	return table.Style{
		Name:    "goldgen",
		Box:     table.BoxStyle{PaddingRight: "  "},
		Format:  table.FormatOptions{Header: text.FormatDefault, Row: text.FormatDefault, Footer: text.FormatDefault},
		Options: table.OptionsNoBordersAndSeparators,
	}
}

// config says how column i stands at a place of a block. Text longer than the
// limit is wrapped, or cut where the column has a Max: that is one whose rows
// are to stay lines.
func (t *Table) config(i, place, limit int) table.ColumnConfig {
	c := t.Columns[i]
	config := table.ColumnConfig{Number: place, Align: text.AlignLeft, AlignHeader: text.AlignLeft}
	if c.Right {
		config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
	}
	if limit > 0 {
		config.WidthMax, config.WidthMaxEnforcer = limit, text.WrapSoft
		if c.Max > 0 {
			config.WidthMaxEnforcer = cut
		}
	}
	return config
}

// cut shortens text to a number of columns and marks that it did.
func cut(s string, columns int) string {
	if columns <= 0 || text.StringWidthWithoutEscSequences(s) <= columns {
		return s
	}
	return text.Trim(s, columns-1) + "…"
}
