package eval

import (
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// Unknown is the grade of a label that was asked for and not given. It has
// gain 0 and counts as unjudged.
const Unknown = -1

// Input is everything that Evaluate looks at.
type Input struct {
	Cases      []Case
	Dimensions []Dimension // slices to report, each over all of Cases
	Measures   []Measure   // in the order of the answer; see ParseMeasures
	MinGrade   int         // a grade from here on is relevant; at least 1

	// KeepEmpty says what becomes of a case with nothing relevant: true (TREC
	// files) scores 0 and counts, false (golden sets) drops out of the means.
	KeepEmpty bool

	// Restricted reports whether a case may not see a chunk: the scope's work.
	// A returned one is a leak. Nil means that every chunk is visible. It is
	// called once a returned chunk, from several goroutines.
	Restricted func(c *Case, chunkID string) bool

	Seed int64 // of the label draws; used only where labels are uncertain

	Duplicates int // results dropped before: they are added to Counts.Duplicates

	Header // passed on to the Result as it stands
}

// Case is one query with its labels and the ranking that it got. Documents,
// Sections and Chunks are what it was written from: cases that share one are
// not independent (see Conventions.Cluster). A case with none stands alone.
type Case struct {
	ID       string
	Query    string
	Scope    corpus.Scope
	Labels   []Label
	Abstain  bool // no allowed record answers it: out of the means
	Filtered bool // the retriever had a scope or filters to apply

	Documents, Sections, Chunks []string

	Ranking   []string  // ids, best first; the order is the ranking
	Scores    []float64 // of Ranking, or nil where the retriever gives none; they do not order it
	Forbidden []string
	Exclude   []string      // taken out of ranking and labels: the source under --source out
	Took      time.Duration // 0 unknown
	Failed    string        // the retriever's error for this query, "" none
}

// Label is what is known of one item. Grade is 0, 1, 2 ... or Unknown.
// Uncertain, where not nil, takes the place of the grade: the item is relevant
// with a probability.
type Label struct {
	ID        string
	Grade     int
	Uncertain *Probability
}

// Probability is the chance that an item is relevant. Draws holds it under
// each coefficient vector of the label model, or is empty.
type Probability struct {
	P     float64
	Draws []float64
}
