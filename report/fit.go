package report

import (
	"github.com/jedib0t/go-pretty/v6/text"
)

// narrowest is how far a column of text is narrowed before the table is broken
// into blocks.
const narrowest = 24

const gap = 2 // columns of space between two columns

// fit makes a table of escaped cells fit a terminal without losing a column:
// text is narrowed first (limits says to what, 0 as it is), and what still
// does not fit follows in blocks, each led by the table's key columns.
func (t *Table) fit(rows [][]string, width int) (blocks [][]int, limits []int) {
	widths := make([]int, len(t.Columns))
	limits = make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = text.StringWidthWithoutEscSequences(c.Name)
		for _, row := range rows {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(row[i]))
		}
	}
	if width <= 0 {
		return [][]int{upTo(len(widths))}, limits
	}
	for over := total(widths) - width; over > 0; over = total(widths) - width {
		i := t.widestText(widths)
		if i < 0 {
			break
		}
		widths[i] = max(narrowest, widths[i]-over)
		limits[i] = widths[i]
	}
	return t.blocks(widths, width), limits
}

// widestText is the widest column of text that can be narrowed, -1 none.
func (t *Table) widestText(widths []int) int {
	widest := -1
	for i, c := range t.Columns {
		if !c.Right && widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
			widest = i
		}
	}
	return widest
}

// blocks shares out the columns. A block holds at least one column besides the
// keys, however narrow the terminal.
func (t *Table) blocks(widths []int, width int) [][]int {
	keys := min(max(1, t.Keys), len(widths))
	used := total(widths[:keys])
	blocks, free := [][]int{upTo(keys)}, width-used
	for i := keys; i < len(widths); i++ {
		last := len(blocks) - 1
		if need := widths[i] + gap; need > free && len(blocks[last]) > keys {
			blocks, free = append(blocks, upTo(keys)), width-used
			last++
		}
		blocks[last] = append(blocks[last], i)
		free -= widths[i] + gap
	}
	return blocks
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func total(widths []int) int {
	sum := gap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}
