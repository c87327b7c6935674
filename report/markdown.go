package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// WriteMarkdown writes the table as one of Markdown's.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	t.markdown(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown writes the table with pipes; nothing in a cell can end it.
func (t *Table) markdown(b *strings.Builder) {
	names, rules := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i], rules[i] = c.Name, "---"
		if c.Right {
			rules[i] = "--:"
		}
	}
	fmt.Fprintf(b, "| %s |\n| %s |\n", strings.Join(escapeAll(names), " | "), strings.Join(rules, " | "))
	for _, row := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i := range cells {
			cells[i] = cell(row, i)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(escapeAll(cells), " | "))
	}
}

func escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = escapeMarkdown(c)
	}
	return out
}

// mention is an @ that a forge would read as somebody's name; ndcg@10 is none.
var mention = regexp.MustCompile(`(^|\W)@`)

// escapeMarkdown shows text as it is: no control characters, no markup, no
// HTML, no mention, no end of a table's cell.
func escapeMarkdown(s string) string {
	r := strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "[", `\[`, "]", `\]`, "*", `\*`)
	return mention.ReplaceAllString(r.Replace(Escape(s)), "$1&#64;")
}
