package judge

import (
	"context"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
)

// Deps are what a run works with.
type Deps struct {
	Judge   Judge
	Members map[string]retrieve.Retriever
	View    CorpusView
}

// Progress is told of each case as it is decided, one call at a time.
type Progress struct {
	Cases   int // decided so far
	Total   int // known so far; spares add to it
	Pairs   int // graded so far
	Unknown int
}

// Options of a run.
type Options struct {
	Pool        PoolOptions
	Concurrency int            // pairs graded at once; at least 1
	Progress    func(Progress) // optional
	Built       bool           // the queries were made without a model: trust none
}

// Result is a judged set, without its place on disk.
type Result struct {
	Cases     []datasets.Case // plan order, spares that were used at the end
	Shortfall []datasets.Shortfall
	Verdict   Verdict
	Trust     datasets.Trust
	Missed    *datasets.Interval
	Pairs     int            // distinct pairs graded
	Unknown   map[string]int // reason -> pairs
	CutPairs  int            // passages shortened
	Notes     []string
}

// Run pools, grades and settles the candidates. The result does not depend on
// concurrency.
func Run(ctx context.Context, candidates []Candidate, deps Deps, o Options) (Result, error) {
	return run(ctx, candidates, deps, o)
}

// Ranking is what one retriever returned for a case, best first.
type Ranking struct {
	Name string // of the retriever
	Hits []retrieve.Hit
}

// Extension is the outcome of Extend.
type Extension struct {
	Cases   []datasets.Case // all cases, in their order
	Changed int             // cases that gained judgments
	Pairs   int             // new pairs graded
	Unknown map[string]int
}

// Extend adds the top hits of results to the pools of a set's cases and grades
// the new pairs only. rankings maps a case id to its rankings; depth is the
// number of hits of each that count. The set's verdict stays: grades of a judge
// that was blind or failed are stored as unknown.
func Extend(ctx context.Context, cases []datasets.Case, rankings map[string][]Ranking, depth int, deps Deps, o Options) (Extension, error) {
	return extend(ctx, cases, rankings, depth, deps, o)
}
