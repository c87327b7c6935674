package main

import (
	"encoding/csv"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// fillSheet FROM TO [VALUE...]: fills in the grades of a sheet that calibrate
// wrote, or its verdicts, with the values in turn: else with 3 and 0, or yes and no.
func fillSheet(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: fillsheet FROM TO [VALUE...]")
	}
	editSheet(ts, args[0], args[1], func(header []string, rows [][]string) {
		at, values := 2, []string{"3", "0"}
		if header[3] == "verdict" {
			at, values = 3, []string{"yes", "no"}
		}
		if len(args) > 2 {
			values = args[2:]
		}
		for i, row := range rows {
			row[at], row[at+1] = values[i%len(values)], "ann"
		}
	})
}

// editSheet copies a CSV file, its rows edited.
func editSheet(ts *testscript.TestScript, from, to string, edit func(header []string, rows [][]string)) {
	table, err := csv.NewReader(strings.NewReader(ts.ReadFile(from))).ReadAll()
	ts.Check(err)
	edit(table[0], table[1:])
	f, err := os.Create(ts.MkAbs(to))
	ts.Check(err)
	defer f.Close()
	ts.Check(csv.NewWriter(f).WriteAll(table))
}
