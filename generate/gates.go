package generate

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
)

// Candidate is what a gate looks at: the final wording and what it stands on.
type Candidate struct {
	Query    string
	Clean    string // Query before noise was put into it; "" is Query
	Type     string
	Language string // of the chunk, "" unknown
	Chunk    corpus.Chunk
	Evidence []datasets.Evidence

	Term      string         // that the plan has for the query, "" for none
	OtherForm string         // of the term, not to be used
	Readings  []string       // of an ambiguous query: what each chunk says, with its headings
	Rivals    []corpus.Chunk // that must not be taken for the evidence
	AsOf      *time.Time     // when it is asked, where that matters
}

// quotes joins the evidence as people read it.
func (c Candidate) quotes() string {
	var list []string
	for _, e := range c.Evidence {
		list = append(list, said(&c.Chunk, e.Quote))
	}
	return strings.Join(list, "\n")
}

// Verdict is a gate's outcome. Reason is the reject's code when it did not
// pass, Detail says why in words.
type Verdict struct {
	Check  datasets.Check
	Reason string
	Detail string
}

// Gate refuses queries that must not get into a set. It sees one query: what
// depends on others is decided by Decide.
type Gate func(Candidate) Verdict

// Gates returns the gates that need no model, in order. Those that judge how a
// query is worded see it as it was written, without noise; those on copied wording
// see both forms.
func Gates() []Gate {
	return []Gate{
		asWritten(Preamble), asWritten(Length), asWritten(Language), asWritten(RefersToText), asWritten(SelfContained),
		inBothForms(CopiedRun), inBothForms(CopiedOverlap),
	}
}

// runGates runs all gates, so that every value is recorded, and returns the
// first verdict that did not pass.
func runGates(c Candidate, gates []Gate) (checks []datasets.Check, failed *Verdict) {
	for _, gate := range gates {
		v := gate(c)
		checks = append(checks, v.Check)
		if !v.Check.Passed && failed == nil {
			failed = &v
		}
	}
	return checks, failed
}

func verdict(name string, passed bool, value float64, format string, args ...any) Verdict {
	v := Verdict{Check: datasets.Check{Name: name, Passed: passed, Value: datasets.Round(value)}}
	if !passed {
		v.Reason, v.Detail = name, fmt.Sprintf(format, args...)
	}
	return v
}

var preamble = regexp.MustCompile(`(?i)^\W*(?:here(?:'s| is| are)|sure\b|certainly\b|of course\b|okay\b|ok,|(?:question|query|queries|keywords?|answer|search(?: query)?|frage|suchanfrage|pregunta)s?\s*(?:\d+\s*)?:|(?:the|a|two|three|some|possible|example) (?:questions?|quer(?:y|ies)|keywords)\b)`)
var numbered = regexp.MustCompile(`(?:^|\s)(?:1[.)]|Q1:?)\s.*\s(?:2[.)]|Q2:?)\s`)

// Preamble refuses what introduces a query instead of being one ("Here are two
// questions:"), several queries in one, and remains of JSON. Value: 1 when it
// found such, else 0.
func Preamble(c Candidate) Verdict {
	q := strings.TrimSpace(c.Query)
	switch {
	case preamble.MatchString(q):
		return verdict("preamble", false, 1, "it introduces a query")
	case strings.HasSuffix(q, ":"):
		return verdict("preamble", false, 1, "it ends with a colon")
	case strings.ContainsAny(q, "\n\r") || numbered.MatchString(q) || strings.Count(q, "?") > 1:
		return verdict("preamble", false, 1, "more than one query")
	case strings.ContainsAny(q, "{}") && strings.Contains(q, `"`), strings.Contains(q, "```"), strings.Contains(q, "</"):
		return verdict("preamble", false, 1, "it holds markup or JSON")
	}
	return verdict("preamble", true, 0, "")
}

// lengthBounds are in words, by query type.
func lengthBounds(queryType string) (low, high int) {
	switch queryType {
	case datasets.Keyword:
		return 2, 6
	case datasets.Ambiguous:
		return 1, 10
	}
	return 4, 25
}

// Length refuses queries that are too short to ask for one thing and too long
// for anybody to type. Value: words; two characters of Han or Hiragana count as
// one, and so does a run of Katakana.
func Length(c Candidate) Verdict {
	low, high := lengthBounds(c.Type)
	n := wordCount(c.Query)
	return verdict("length", n >= low && n <= high, float64(n), "%d words, not %d to %d", n, low, high)
}

func wordCount(text string) int {
	n := 0
	for _, w := range words(text) {
		n += halves(w)
	}
	return (n + 1) / 2
}

// runBound is the longest run of words that a query may share with its
// evidence, by query type. Names of several words must be allowed; half a
// sentence must not.
func runBound(queryType string) int {
	switch queryType {
	case datasets.Reformulated:
		return 3
	case datasets.Keyword:
		return 4
	case datasets.RareTerm:
		return 7 // an expansion has several words of its own
	}
	return 5
}

// CopiedRun refuses queries that repeat a run of the evidence's words. Value:
// length of the longest shared run, in words.
func CopiedRun(c Candidate) Verdict {
	run, bound := longestRun(c.Query, c.quotes()), runBound(c.Type)
	v := verdict("copied_run", run <= bound, float64(run), "%d words in a row are the evidence's, more than %d", run, bound)
	if !v.Check.Passed {
		v.Reason = "copied"
	}
	return v
}

// overlapBound is the share of the query's terms that the evidence may hold, by
// query type. Keywords are the evidence's own by nature.
func overlapBound(queryType string) float64 {
	switch queryType {
	case datasets.Reformulated:
		return .5
	case datasets.Keyword, datasets.Ambiguous:
		return 1
	}
	return .85
}

// CopiedOverlap refuses queries made of the evidence's terms. Value: the share
// of the query's distinct terms that the evidence holds.
func CopiedOverlap(c Candidate) Verdict {
	share, bound := overlap(c.Query, c.quotes()), overlapBound(c.Type)
	if len(retrieve.Terms(c.Query)) == 0 {
		return Verdict{Check: datasets.Check{Name: "copied_overlap", Value: 0}, Reason: "length", Detail: "no content word"}
	}
	v := verdict("copied_overlap", share <= bound, share, "%.0f %% of its terms are the evidence's, more than %.0f %%", 100*share, 100*bound)
	if !v.Check.Passed {
		v.Reason = "copied"
	}
	return v
}
