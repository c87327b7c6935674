// Package judge labels (query, chunk) pairs: it pools the chunks worth grading
// for a case, asks a grader about each, tests the grader on canaries whose
// answer is known, and turns the grades into the judgments of a golden set. It
// does not know where sets are stored.
//
// A grade that could not be read is unknown, never 0. A judge that cannot tell
// source chunks from random ones is blind: its grades are kept as features and
// stored as unknown, and the set keeps its source labels.
package judge

import (
	"context"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// RelevantGrade is the grade from which a judge's labels count as relevant.
const RelevantGrade = 2

// Query is what a grader needs to know of a case.
type Query struct {
	ID   string // the case's id
	Text string
	AsOf *time.Time // when it was asked, for time-sensitive ones
	// SourceGroups are the exact groups of the chunks that it was written from.
	// A model is not told; the builtin judge knows nothing else.
	SourceGroups []string
}

// Grade is what a grader says of one pair. Grade is nil when unknown, and
// Unknown then says why. The expected grade and P(yes) are there where the
// server gave log-probabilities.
type Grade struct {
	Grade    *int       // 0-3
	Expected *float64   // mean grade under Probs, 0-3
	PYes     *float64   // P(grade >= 2) under Probs
	Probs    [4]float64 // of the grades 0-3, summing to 1; zeros without log-probabilities
	Unknown  string     // reason code, "" when Grade is set
	Cut      bool       // the passage was shortened to fit the window
	Calls    int        // requests made, cached ones included
	Votes    []Grade    // of a panel, what each member said; else nil
}

// Reasons for an unknown grade.
const (
	UnknownUnreadable = "unreadable"  // no grade in the reply
	UnknownCutOff     = "cut_off"     // the reply ended before a grade
	UnknownEmpty      = "empty"       // an empty reply
	UnknownRefused    = "refused"     // the model would not
	UnknownTooLong    = "too_long"    // the prompt did not fit the window
	UnknownCallFailed = "call_failed" // no complete reply: transport or HTTP status
	UnknownNoModel    = "no_model"    // the builtin judge cannot tell
)

// Grader grades one chunk for one query. Concurrent calls are allowed. An error
// ends the run (authentication, cancel, a server that is down); a pair that
// could not be graded is a Grade with Unknown set.
type Grader interface {
	Grade(ctx context.Context, q Query, chunk *corpus.Chunk) (Grade, error)
}

// Judge is a grader with its name.
type Judge struct {
	Grader Grader // nil: source labels only
	Name   string // "provider/model prompt@version", stored with each judgment
	// Builtin is set for the judge without a model: there is nothing to test on
	// canaries, and no case is sent to review because of it.
	Builtin bool
}

// tested reports whether the judge has to show on canaries what it is worth.
func (j *Judge) tested() bool { return j.Grader != nil && !j.Builtin }

// Candidate is an accepted case on its way into a set, in plan order. A spare
// is used only where a case of its stratum and query type goes to review.
type Candidate struct {
	Case  datasets.Case
	Spare bool
}
