package main

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goldgen/goldgen/review/audit"
)

// answerSheet FROM TO PATTERN...: fills in a sheet of audit. A row takes the next
// pattern, in turn: y or n for each of the four questions.
func answerSheet(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: answersheet FROM TO PATTERN...")
	}
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	at := slices.Index(rows[0], string(audit.Answerable))
	for i, row := range rows[1:] {
		for j, letter := range args[2+i%len(args[2:])] {
			row[at+j] = map[rune]string{'y': "yes", 'n': "No"}[letter]
		}
	}
	to, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	defer to.Close()
	ts.Check(csv.NewWriter(to).WriteAll(rows))
}

// addLine FILE WORD...: adds a line to a file.
func addLine(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: addline FILE WORD...")
	}
	text := ts.ReadFile(args[0]) + strings.Join(args[1:], " ") + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
