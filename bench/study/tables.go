package study

import (
	"fmt"
	"os"
	"strings"
)

// endMark ends the tables of each command in a page.
const endMark = "<!-- end -->"

// ReplaceTables writes tables between the mark of the command that made them, such
// as "go run ./bench/prior", and the next end mark of a page. The rest of the page
// stays.
func ReplaceTables(path, command, tables string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin := "<!-- made by: " + command + " -->"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, endMark)
	if !found || !ended {
		return fmt.Errorf("%s: no marks %s and %s", path, begin, endMark)
	}
	text := before + begin + "\n\n" + strings.TrimRight(tables, "\n") + "\n\n" + endMark + after
	return os.WriteFile(path, []byte(text), 0o644)
}

// Head begins a table of a page.
func Head(out *strings.Builder, title string, cells ...string) {
	out.WriteString("### " + title + "\n\n")
	Row(out, cells...)
	out.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

// Row is a further line of a table.
func Row(out *strings.Builder, cells ...string) {
	out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// Number is a figure as tables show it.
func Number(x float64) string { return fmt.Sprintf("%.3f", x) }
