package eval

import (
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// Unknown is the grade of a label that was asked for and not given. It has
// gain 0 and counts as unjudged.
const Unknown = -1

// Input is everything that Evaluate looks at.
type Input struct {
	Cases      []Case
	Dimensions []Dimension // slices to report, each over all of Cases
	Slicing    []Dimension // that conditions of measures may name, besides Dimensions
	Measures   []Measure   // in the order of the answer; see ParseMeasures
	MinGrade   int         // a grade from here on is relevant; at least 1

	// KeepEmpty says what becomes of a case with nothing relevant: true (TREC
	// files) scores 0 and counts, false (golden sets) drops out of the means.
	KeepEmpty bool

	// Restricted reports whether a case may not see a chunk: the scope's work.
	// Outdated reports whether a chunk does not hold at the case's date. A
	// returned one is a leak. Nil means that there is none. Both are called from
	// several goroutines.
	Restricted, Outdated func(c *Case, chunkID string) bool

	// Violated returns the first of a case's filters that a chunk does not
	// satisfy, nil where all hold. Nil means that nothing is known of chunks.
	Violated func(c *Case, chunkID string) *corpus.Filter

	// ChunksIn lists the chunks that share bytes with result n of a case, so that
	// leaks are seen in rankings of spans. Nil means that nothing is known of them.
	ChunksIn func(c *Case, n int) []PlacedChunk

	// Topics are the labels and rankings of Cases, which then have none of their
	// own. Nil means that they do.
	Topics *Topics

	Seed int64 // of the label draws; used only where labels are uncertain

	Duplicates int // results dropped before: they are added to Counts.Duplicates

	Header // passed on to the Result as it stands
}

// Topics are labels and rankings of long files, in a form that is smaller than
// Case's: ids are asked for case by case, so that they need not all stand in
// memory as strings, and are not kept. A case then has its Scores, one for each
// result, no Labels, Ranking or Background, and no Ranking in Result.Rows.
type Topics struct {
	Qrels   *datasets.Qrels                   // Topics[i] are the labels of case i
	Ranking func(i int, to []string) []string // appends the ids of case i, best first; called from several goroutines
}

// Case is one query with its labels and the ranking that it got.
type Case struct {
	ID      string
	Labels  []Label
	Abstain bool // no allowed record answers it: out of the means

	Ranking []string      // ids, best first; the order is the ranking
	Scores  []float64     // of Ranking, or nil where the retriever gives none; they do not order it
	Spans   []Span        // where the results of Ranking stand, or nil; a zero one is nowhere
	Sources []string      // the kind of source of each result of Ranking, or nil where none is expected
	Took    time.Duration // 0 unknown

	// Unplaced is how many results of Ranking stand nowhere that is known: whether
	// they leak cannot be seen.
	Unplaced int

	Failed string // the retriever's error for this query, "" none

	Background *Background // nil for a TREC topic
}

// Background is what a golden set knows of a case beyond its labels.
type Background struct {
	Query          string
	Scope          corpus.Scope
	Filters        []corpus.Filter
	AsOf           *time.Time
	Tags           []string
	ExpectedSource string // kind of source that should answer it, see Case.Sources

	// What the query was written from, sorted: cases that share one are not
	// independent (see Conventions.Cluster). A case with none stands alone.
	Documents, Sections, Chunks []string

	Evidence  []Span   // where the answer stands
	Forbidden []string // chunks that are a leak
	Exclude   []string // chunks taken out of ranking and labels: the source under --source out
	Stale     []string // chunks that held once and do not any more
}

var noBackground Background

// about is the case's background, empty where there is none.
func (c *Case) about() *Background {
	if c.Background == nil {
		return &noBackground
	}
	return c.Background
}

// filtered reports whether the retriever had a scope or filters to apply.
func (b *Background) filtered() bool { return len(b.Scope) > 0 || len(b.Filters) > 0 }

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
