package report

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/goldgen/goldgen/eval"
)

// The parts of JUnit's XML that GitLab, Jenkins and GitHub's actions read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitOutcome `xml:"failure"`
		Error   *junitOutcome `xml:"error"`
		Skipped *junitOutcome `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the findings as test results: each gate is a test, and so are
// leaks, failed queries and whether the results can be compared. A gate that
// cannot tell is skipped, or with Strict failed; a waived one is skipped.
func JUnit(w io.Writer, f *Findings) error {
	suite := junitSuite{Name: Escape(subject(f.Results[0].Result))}
	if made := f.Results[0].Made; !made.IsZero() {
		suite.Timestamp = made.UTC().Format("2006-01-02T15:04:05")
	}
	for _, p := range facts(f) {
		suite.Properties = append(suite.Properties, junitProperty{Escape(p.Name), Escape(p.Value)})
	}
	if words := labelWords(f.Comparison); words != "" {
		suite.Properties = append(suite.Properties, junitProperty{"labels", Escape(words)})
	}
	suite.Cases = junitCases(f)
	suite.count()
	all := junitSuites{
		Name: "goldgen", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped,
		Suites: []junitSuite{suite},
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(data)+"\n")
	return err
}

func junitCases(f *Findings) []junitCase {
	out := []junitCase{leakTest(f.Results[0].Result, f.leaksWaived()), failureTest(f.Results[0].Result)}
	if f.Comparison != nil {
		out = append(out, comparableTest(f.Comparison))
	}
	for _, g := range f.gates() {
		out = append(out, gateTest(&g, f.Strict))
	}
	return out
}

func leakTest(r *eval.Result, waived bool) junitCase {
	test := junitCase{Class: "goldgen", Name: "no leaks"}
	if n := r.Counts.Unplaced; len(r.Leaks) == 0 && n > 0 {
		test.Skipped = &junitOutcome{Message: "cannot tell: " + count(n, "result stands", "results stand") + " nowhere in the snapshot"}
	}
	if len(r.Leaks) == 0 {
		return test
	}
	lines := ""
	for _, l := range r.Leaks {
		lines += fmt.Sprintf("case %s, rank %d: chunk %s (%s), scope %s, query: %s\n",
			Escape(l.Case), l.Rank, Escape(l.Chunk), Escape(l.Kind), Escape(scopeWords(l.Scope)), Escape(l.Query))
	}
	if waived {
		test.Skipped = &junitOutcome{Message: "waived: " + leakWords(len(r.Leaks)), Text: lines}
		return test
	}
	test.Failure = &junitOutcome{Message: leakWords(len(r.Leaks)), Type: "leak", Text: lines}
	return test
}

func failureTest(r *eval.Result) junitCase {
	test := junitCase{Class: "goldgen", Name: "every query was answered"}
	if len(r.Failed) == 0 {
		return test
	}
	lines := ""
	for _, x := range r.Failed {
		lines += fmt.Sprintf("case %s: %s\n", Escape(x.Case), Escape(x.Error))
	}
	test.Error = &junitOutcome{Message: failureWords(len(r.Failed)), Type: "query", Text: lines}
	return test
}

func comparableTest(c *eval.Comparison) junitCase {
	test := junitCase{Class: "goldgen", Name: "comparable with the baseline"}
	if !c.Comparable {
		test.Error = &junitOutcome{Message: Escape(sentence(c.Differs)), Type: "not comparable"}
	}
	return test
}

func gateTest(g *eval.GateResult, strict bool) junitCase {
	test := junitCase{Class: "goldgen.gate", Name: Escape(gateName(g)), Output: Escape(g.Why)}
	outcome := &junitOutcome{Message: Escape(g.Why), Type: g.Verdict}
	switch {
	case g.Verdict == eval.Pass:
	case g.Waived != nil:
		outcome.Message = Escape(waiverWords(g.Waived) + ": " + g.Why)
		outcome.Type = ""
		test.Skipped = outcome
	case g.Verdict == eval.Fail || strict:
		test.Failure = outcome
	default:
		outcome.Type = ""
		test.Skipped = outcome
	}
	return test
}

func (s *junitSuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// gateName is a gate with the slice that it was asked for.
func gateName(g *eval.GateResult) string {
	if g.Slice == "" {
		return g.Gate
	}
	return g.Gate + " [" + g.Slice + "]"
}

func waiverWords(w *eval.Waiver) string {
	s := "waived until " + w.Until + " by " + w.Owner
	if w.Case != "" {
		s += " for case " + w.Case
	}
	return s + " (" + w.Reason + ")"
}
