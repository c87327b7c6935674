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
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	at, values := 2, []string{"3", "0"}
	if rows[0][3] == "verdict" {
		at, values = 3, []string{"yes", "no"}
	}
	if len(args) > 2 {
		values = args[2:]
	}
	for i, row := range rows[1:] {
		row[at], row[at+1] = values[i%len(values)], "ann"
	}
	to, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	defer to.Close()
	ts.Check(csv.NewWriter(to).WriteAll(rows))
}
