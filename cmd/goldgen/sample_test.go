package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/sample"
)

// A log with more wordings than are counted is shown as the sample that it is.
func TestLogTable(t *testing.T) {
	summary := sample.LogSummary{Searches: 12, Clusters: 4, Bands: []sample.Band{{Name: "head", Searches: 9, Clusters: 1, Planned: 1}}}
	table := func() string {
		var b bytes.Buffer
		if err := logTable(&summary).Write(&b, report.Style{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := "query log\tsearches\tqueries\tplanned\treserves\nhead\t9\t1\t1\t0\n"
	if diff := cmp.Diff(want, table()); diff != "" {
		t.Errorf("a log that was counted (-want +got):\n%s", diff)
	}
	summary.Sampled = true
	if diff := cmp.Diff(want+"sampled, of more\t12\t4\t\t\n", table()); diff != "" {
		t.Errorf("a log that was sampled (-want +got):\n%s", diff)
	}
}
