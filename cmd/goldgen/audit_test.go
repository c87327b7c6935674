package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goldgen/goldgen/review/audit"
)

// answerSheet FROM TO PATTERN...: fills in a sheet of audit. A row takes the next
// pattern, in turn: y or n for each of the four questions.
func answerSheet(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: answersheet FROM TO PATTERN...")
	}
	editSheet(ts, args[0], args[1], func(header []string, rows [][]string) {
		at := slices.Index(header, string(audit.Answerable))
		for i, row := range rows {
			for j, letter := range args[2+i%len(args[2:])] {
				row[at+j] = map[rune]string{'y': "yes", 'n': "No"}[letter]
			}
		}
	})
}

// addLine FILE WORD...: adds a line to a file.
func addLine(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: addline FILE WORD...")
	}
	text := ts.ReadFile(args[0]) + strings.Join(args[1:], " ") + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// What a terminal is given fits it, whatever the text is, and moves no cursor.
func TestLinesFitATerminal(t *testing.T) {
	for name, value := range map[string]string{
		"words":    strings.Repeat("how long are entries kept ", 20),
		"one word": strings.Repeat("x", 300),
		"chinese":  strings.Repeat("审计日志保留多久", 30),
		"emoji":    strings.Repeat("🚚📦", 60),
		"escapes":  strings.Repeat("\x1b[2J\u202e", 40),
		"empty":    "",
	} {
		for _, line := range beside("evidence", value, 60, nil) {
			if width := text.StringWidthWithoutEscSequences(line); width > 60 || strings.ContainsRune(line, '\x1b') {
				t.Errorf("%s: %d columns of 60: %q", name, width, line)
			}
		}
	}
}

func TestAWindowShowsAllInTurn(t *testing.T) {
	lines := []string{"a", "b", "c", "d", "e"}
	more := func(from, to int) string {
		return fmt.Sprintf("          (%d-%d of 5, space: more)", from, to)
	}
	for name, x := range map[string]struct {
		room, page int
		want       []string
	}{
		"all fit":         {5, 3, lines},
		"first":           {3, 0, []string{"a", "b", more(1, 2)}},
		"last":            {3, 2, []string{"e", more(5, 5)}},
		"after the last":  {3, 3, []string{"a", "b", more(1, 2)}},
		"no room at all":  {-4, 1, []string{"b", more(2, 2)}},
		"room for a line": {1, 4, []string{"e", more(5, 5)}},
	} {
		if diff := cmp.Diff(x.want, window(lines, x.room, x.page)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
