package retrieve

import (
	"context"
	"fmt"
	"time"

	"github.com/goldgen/goldgen/internal/distinct"
)

// Run is the rankings of a run file, compact: strings are slices of a few large
// ones.
type Run struct {
	Tag        string    // a TREC run's, of its first row
	Queries    []string  // in order of first appearance
	Rankings   []Ranking // of each query, best first, every id once
	Rows       int       // rows read
	Duplicates int       // rows dropped because an earlier one of the query has the id

	names distinct.Names // of Queries
}

// Ranking is one query's results, best first. The two have the same length.
type Ranking struct {
	IDs    []string
	Scores []float64
}

// Ranking returns the results of a query; false means that the run lacks it.
func (r *Run) Ranking(query string) (Ranking, bool) {
	i, ok := r.names.Index(query)
	if !ok {
		return Ranking{}, false
	}
	return r.Rankings[i], true
}

// RunRetriever answers from a run, by the query's id.
type RunRetriever struct{ run *Run }

// NewRunRetriever answers from run. A query that it lacks has no hits. Scope,
// filters and dates are not applied: a run is what a retriever returned.
func NewRunRetriever(run *Run) *RunRetriever { return &RunRetriever{run} }

// Run is the run that the retriever answers from.
func (r *RunRetriever) Run() *Run { return r.run }

// Retrieve implements Retriever. It takes no time of its own, so Took is 0.
func (r *RunRetriever) Retrieve(ctx context.Context, q Query) (Result, error) {
	if err := q.Validate(); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	ranking, _ := r.run.Ranking(q.ID)
	n := min(q.K, len(ranking.IDs))
	hits := make([]Hit, n)
	for i := range hits {
		hits[i] = Hit{ChunkID: ranking.IDs[i], Score: ranking.Scores[i]}
	}
	return Result{Hits: hits, Took: time.Duration(0)}, nil
}

// NewRun makes a run of rankings as retrieved: results[i] answers queries[i],
// and hits name chunks. Repeated ids are dropped and counted; the order given
// is kept.
func NewRun(tag string, queries []string, results []Result) (*Run, error) {
	if len(queries) != len(results) {
		return nil, fmt.Errorf("run: %d results for %d queries", len(results), len(queries))
	}
	run := &Run{Tag: tag, Queries: queries, Rankings: make([]Ranking, len(queries))}
	known := make(map[string]bool, len(queries))
	for i, query := range queries {
		if known[query] {
			return nil, fmt.Errorf("run: query %s: duplicate", query)
		}
		known[query] = true
		run.names.Add(query)
		seen := map[string]bool{}
		for _, hit := range results[i].Hits {
			if hit.ChunkID == "" {
				return nil, fmt.Errorf("run: query %s: hit in %s names no chunk", query, hit.DocID)
			}
			run.Rows++
			if seen[hit.ChunkID] {
				run.Duplicates++
				continue
			}
			seen[hit.ChunkID] = true
			r := &run.Rankings[i]
			r.IDs, r.Scores = append(r.IDs, hit.ChunkID), append(r.Scores, hit.Score)
		}
	}
	run.names.Settle(nil)
	return run, nil
}
