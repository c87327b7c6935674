package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// Findings are what a page, a pull request's text and a test report show: one
// or more results, and how the first of them compares with a baseline.
type Findings struct {
	Results    []Scored         // at least one; the first is the one that is judged
	Comparison *eval.Comparison // nil without a baseline
	Baseline   *eval.Result     // what the first result is compared with; nil without
	Check      *eval.GateCheck  // gates on the first result alone; nil where none were asked for
	Strict     bool             // a gate that cannot tell counts as failed
	History    []Past           // results of the same set, oldest first
	Link       string           // where the whole page is, for a pull request; "" nowhere
	Goldgen    string           // version
}

// Scored is one result with its cases.
type Scored struct {
	Result *eval.Result
	Path   string            // its folder
	Made   time.Time         // zero where unknown
	Cases  []Case            // in the set's order; empty where the result kept none
	Texts  map[string]string // how chunks begin, by id; those at hand
	Notes  []string          // what a reader must know of this result beside Result.Notes
}

// Case is one query as a report shows it.
type Case struct {
	eval.CaseRow
	Scope    corpus.Scope
	Filters  []corpus.Filter
	AsOf     *time.Time
	Tags     []string
	Evidence []Evidence
	Labels   []eval.Label // of chunks that are relevant or may be
	Cause    string       // the first proven cause of a failure; "" undiagnosed
	Proof    string       // the cause's evidence, in words
}

// Evidence is a span of a document, [Start, End) in bytes; Quote is "" where
// the text is not at hand.
type Evidence struct {
	Doc        string
	Start, End int
	Quote      string
}

// Past is an earlier result.
type Past struct {
	Time      time.Time
	Golden    string // reference
	Retriever string
	Metrics   eval.Metrics
	Leaks     int
	Path      string
}

// Outcomes of a case, from what needs a look to what is fine.
const (
	OutcomeLeak     = "leak"
	OutcomeError    = "error"
	OutcomeEmpty    = "no result"
	OutcomeMissed   = "missed"    // nothing relevant was returned within k
	OutcomeLower    = "not first" // something relevant within k, not at rank 1
	OutcomeFirst    = "first"
	OutcomeOpen     = "uncertain" // labels are probabilities: there is no yes or no
	OutcomeAbstain  = "abstain"   // no allowed record answers it
	OutcomeUnlabels = "no label"  // the set knows nothing relevant
)

// outcomes in the order in which a reader looks at them.
var outcomes = [...]string{
	OutcomeLeak, OutcomeError, OutcomeEmpty, OutcomeMissed, OutcomeLower,
	OutcomeOpen, OutcomeFirst, OutcomeAbstain, OutcomeUnlabels,
}

// Outcome says in one word what became of a case: relevant is a grade from
// minGrade on, looked for in the first k results.
func (c *Case) Outcome(minGrade, k int) string {
	switch {
	case len(c.Leaks) > 0:
		return OutcomeLeak
	case c.Error != "":
		return OutcomeError
	case c.Status == "abstain":
		return OutcomeAbstain
	case c.Status == "nothing_relevant":
		return OutcomeUnlabels
	case len(c.Ranking) == 0:
		return OutcomeEmpty
	}
	first := slices.IndexFunc(c.Ranking, func(h eval.RankedHit) bool { return h.P == nil && h.Grade >= minGrade })
	switch {
	case first == 0:
		return OutcomeFirst
	case first > 0 && (k == 0 || c.Ranking[first].Rank <= k):
		return OutcomeLower
	case c.uncertain():
		return OutcomeOpen
	}
	return OutcomeMissed
}

// uncertain reports labels that are probabilities.
func (c *Case) uncertain() bool {
	return slices.ContainsFunc(c.Ranking, func(h eval.RankedHit) bool { return h.P != nil }) ||
		slices.ContainsFunc(c.Labels, func(l eval.Label) bool { return l.Uncertain != nil })
}

// deepest is the largest k of the conventions, 0 where there is none.
func deepest(r *eval.Result) int {
	if len(r.Conventions.K) == 0 {
		return 0
	}
	return slices.Max(r.Conventions.K)
}

// verdict is what stands above everything: a word, and why.
type verdict struct {
	Class string // pass, fail, open, none
	Word  string
	Why   string
}

// gates are those of the comparison, or of the check without one.
func (f *Findings) gates() []eval.GateResult {
	switch {
	case f.Comparison != nil:
		return f.Comparison.Gates
	case f.Check != nil:
		return f.Check.Gates
	}
	return nil
}

// leaksWaived reports whether a gate on leaks saw all of the first result's and
// lets them pass.
func (f *Findings) leaksWaived() bool {
	if c := f.Comparison; c != nil && (!c.Comparable || c.Leaks.Candidate != len(f.Results[0].Result.Leaks)) {
		return false
	}
	return slices.ContainsFunc(f.gates(), func(g eval.GateResult) bool {
		return strings.ReplaceAll(g.Gate, " ", "") == "leaks=0" && (g.Verdict == eval.Pass || g.Waived != nil)
	})
}

// verdict says what the findings come to. A leak that is not waived fails
// whatever else is true.
func (f *Findings) verdict() verdict {
	leaks, v := len(f.Results[0].Result.Leaks), f.gateVerdict()
	switch {
	case leaks == 0 || f.leaksWaived():
		return v
	case v.Class == "fail":
		return verdict{v.Class, v.Word, v.Why + "; " + leakWords(leaks)}
	}
	return verdict{"fail", "Fail", leakWords(leaks)}
}

// gateVerdict is the verdict of the gates alone.
func (f *Findings) gateVerdict() verdict {
	c, gates := f.Comparison, f.gates()
	word := ""
	switch {
	case c != nil && !c.Comparable:
		return verdict{"open", "Not comparable", "the two results differ in more than the retriever: " + sentence(c.Differs)}
	case c != nil:
		word = c.Verdict
	case f.Check != nil:
		word = f.Check.Verdict
	default:
		return verdict{"none", "No verdict", "there is no baseline to compare with, and no gate was asked for"}
	}
	failed, open := gateCounts(gates)
	switch {
	case len(gates) == 0:
		return verdict{"none", "No verdict", "the results are comparable, and no gate was asked for"}
	case word == eval.Fail:
		return verdict{"fail", "Fail", ofGates(failed, gates) + " failed"}
	case word == eval.CannotTell:
		return verdict{"open", "Cannot tell", ofGates(open, gates) + " cannot be decided with these cases"}
	}
	return verdict{"pass", "Pass", "every gate holds (" + count(len(gates), "gate", "gates") + ")"}
}

// ofGates is a number of gates among all.
func ofGates(n int, gates []eval.GateResult) string {
	return fmt.Sprintf("%d of %s", n, count(len(gates), "gate", "gates"))
}

func gateCounts(gates []eval.GateResult) (failed, open int) {
	for _, g := range gates {
		switch {
		case g.Waived != nil:
		case g.Verdict == eval.Fail:
			failed++
		case g.Verdict == eval.CannotTell:
			open++
		}
	}
	return failed, open
}

func sentence(parts []string) string {
	if len(parts) == 0 {
		return "no reason was given"
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out += "; " + p
	}
	return out
}
