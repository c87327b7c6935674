package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

func written(t *testing.T, write func(io.Writer, *report.Findings) error, f *report.Findings) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPullRequest(t *testing.T) {
	linked := whole(200)
	linked.Link = "https://ci.example.com/a b/report.html>"
	for name, f := range map[string]*report.Findings{"pull-request.md": linked, "pull-request-several.md": several(60)} {
		t.Run(name, func(t *testing.T) { golden(t, name, []byte(written(t, report.PullRequest, f))) })
	}
}

func TestJUnit(t *testing.T) {
	golden(t, "junit.xml", []byte(written(t, report.JUnit, whole(200))))
}

// junitOf reads back what JUnit wrote: the outcome of each test by name.
func junitOf(t *testing.T, f *report.Findings) map[string]string {
	t.Helper()
	var doc struct {
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal([]byte(written(t, report.JUnit, f)), &doc); err != nil {
		t.Fatal(err)
	}
	out, failures, errs, skipped := map[string]string{}, 0, 0, 0
	for _, c := range doc.Cases {
		switch {
		case c.Failure != nil:
			out[c.Name] = "failure"
			failures++
		case c.Error != nil:
			out[c.Name] = "error"
			errs++
		case c.Skipped != nil:
			out[c.Name] = "skipped"
			skipped++
		default:
			out[c.Name] = "ok"
		}
	}
	if doc.Failures != failures || doc.Errors != errs || doc.Skipped != skipped {
		t.Errorf("counts %d, %d, %d; want %d, %d, %d", doc.Failures, doc.Errors, doc.Skipped, failures, errs, skipped)
	}
	return out
}

func TestWhatEachGateIsInJUnit(t *testing.T) {
	gate := func(verdict string, waived bool) *report.Findings {
		f := several(9)
		f.Comparison = compared(&f.Results[0])
		g := eval.GateResult{Gate: "g", Verdict: verdict, Why: "why"}
		if waived {
			g.Waived = &eval.Waiver{Gate: "g", Reason: "r", Owner: "o", Until: "2027-01-31"}
		}
		f.Comparison.Gates = []eval.GateResult{g}
		return f
	}
	for _, tt := range []struct {
		name, verdict, want string
		waived, strict      bool
	}{
		{name: "pass", verdict: eval.Pass, want: "ok"},
		{name: "fail", verdict: eval.Fail, want: "failure"},
		{name: "cannot tell", verdict: eval.CannotTell, want: "skipped"},
		{name: "cannot tell, strict", verdict: eval.CannotTell, strict: true, want: "failure"},
		{name: "waived", verdict: eval.Fail, waived: true, want: "skipped"},
		{name: "waived, strict", verdict: eval.Fail, waived: true, strict: true, want: "skipped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := gate(tt.verdict, tt.waived)
			f.Strict = tt.strict
			want := map[string]string{"no leaks": "ok", "every query was answered": "ok", "comparable with the baseline": "ok", "g": tt.want}
			if diff := cmp.Diff(want, junitOf(t, f)); diff != "" {
				t.Errorf("tests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLeaksErrorsAndResultsThatCannotBeCompared(t *testing.T) {
	f := whole(9)
	f.Comparison.Comparable, f.Comparison.Differs, f.Comparison.Gates = false, []string{"corpus"}, nil
	want := map[string]string{"no leaks": "failure", "every query was answered": "error", "comparable with the baseline": "error"}
	if diff := cmp.Diff(want, junitOf(t, f)); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
}

// No leak is seen among results that stand nowhere: that is no test passed.
func TestLeaksThatNobodyCanSee(t *testing.T) {
	f := several(9)
	f.Results[0].Result.Counts.Unplaced = 2
	if got := junitOf(t, f)["no leaks"]; got != "skipped" {
		t.Errorf("no leaks: %s", got)
	}
}

func TestCSV(t *testing.T) {
	golden(t, "cases.csv", []byte(written(t, report.CSV, whole(6))))
}

// What a spreadsheet would run is text; numbers stay numbers.
func TestCSVHoldsNoFormula(t *testing.T) {
	f := several(3)
	c := &f.Results[0].Cases[0]
	c.Query, c.Error, c.CaseID = `=HYPERLINK("http://x","y")`, "+1\n2", "@a"
	rows, err := csv.NewReader(strings.NewReader(written(t, report.CSV, f))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		for j, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Errorf("row %d, %s: %q", i, rows[0][j], cell)
			}
		}
	}
	if got := rows[1][1:3]; !cmp.Equal(got, []string{"'@a", `'=HYPERLINK("http://x","y")`}) {
		t.Errorf("case and query: %q", got)
	}
}

func TestJSON(t *testing.T) {
	f := whole(9)
	var got struct {
		Results    []*eval.Result
		Comparison *eval.Comparison
		Gates      *eval.GateCheck
	}
	if err := json.Unmarshal([]byte(written(t, report.JSON, f)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.Results[0].Result.Metrics, got.Results[0].Metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(f.Comparison.Gates, got.Comparison.Gates); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
	if got.Gates != nil {
		t.Errorf("gates without a baseline: %v", got.Gates)
	}
}

func TestOutcome(t *testing.T) {
	hits := func(grades ...int) []eval.RankedHit {
		var out []eval.RankedHit
		for i, g := range grades {
			out = append(out, eval.RankedHit{ID: fmt.Sprint(i), Rank: i + 1, Grade: g})
		}
		return out
	}
	for want, row := range map[string]eval.CaseRow{
		report.OutcomeFirst:    {Ranking: hits(2, 0)},
		report.OutcomeLower:    {Ranking: hits(1, 0, 3)},
		report.OutcomeMissed:   {Ranking: hits(0, 1, eval.Unknown, eval.Unlabelled, 0, 3)},
		report.OutcomeEmpty:    {Status: "missing"},
		report.OutcomeError:    {Status: "failed", Error: "refused"},
		report.OutcomeAbstain:  {Status: "abstain", Ranking: hits(0)},
		report.OutcomeUnlabels: {Status: "nothing_relevant", Ranking: hits(0)},
		report.OutcomeLeak:     {Ranking: hits(3), Leaks: []eval.Leak{{}}},
		report.OutcomeOpen:     {Ranking: []eval.RankedHit{{ID: "a", Rank: 1, P: p(0.9)}}},
	} {
		c := report.Case{CaseRow: row}
		if got := c.Outcome(2, 5); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFormatsReturnWriteErrors(t *testing.T) {
	for _, format := range report.Formats() {
		if err := format.Write(broken{}, whole(9)); !errors.Is(err, errBroken) {
			t.Errorf("%s: got %v", format.Name, err)
		}
	}
}

func TestFormatsAreTheSameEachTime(t *testing.T) {
	for _, format := range report.Formats() {
		once, again := written(t, format.Write, whole(60)), written(t, format.Write, whole(60))
		if once != again {
			t.Errorf("%s: two documents of the same findings differ", format.Name)
		}
	}
}

func TestFormatFor(t *testing.T) {
	for _, tt := range []struct {
		name, ending, want string
		ok                 bool
	}{
		{"", "", "html", true}, {"", ".txt", "html", false}, {"", ".MD", "markdown", true}, {"", ".xml", "junit", true},
		{"csv", ".html", "csv", true}, {"pdf", ".html", "html", false},
	} {
		if got, ok := report.FormatFor(tt.name, tt.ending); got.Name != tt.want || ok != tt.ok {
			t.Errorf("--format %q, ending %q: got %s, %v, want %s, %v", tt.name, tt.ending, got.Name, ok, tt.want, tt.ok)
		}
	}
}
