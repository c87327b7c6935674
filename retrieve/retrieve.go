// Package retrieve owns the Retriever interface and every implementation of
// it: the embedded ones (bm25, ngram, dense, hybrid), the doors to others
// (run files, exec), and the text analysis they rest on. It knows nothing of
// golden sets.
package retrieve

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// Query is one search. Scope and Filters restrict what may be returned: every
// embedded retriever applies them, and the validity at AsOf when that is set,
// before ranking.
type Query struct {
	ID      string          `json:"id"`
	Text    string          `json:"query"`
	K       int             `json:"k"`
	Scope   corpus.Scope    `json:"scope"`
	Filters []corpus.Filter `json:"filters"`
	AsOf    *time.Time      `json:"as_of,omitempty"`
}

// Validate refuses a query that asks for no results.
func (q Query) Validate() error {
	if q.K <= 0 {
		return fmt.Errorf("query %s: k is %d, must be at least 1", q.ID, q.K)
	}
	return nil
}

// Hit is one result: a chunk id, or a document and a byte span of it.
type Hit struct {
	ChunkID string  `json:"chunk_id,omitempty"`
	DocID   string  `json:"doc_id,omitempty"`
	Start   int     `json:"start,omitempty"`
	End     int     `json:"end,omitempty"`
	Score   float64 `json:"score"`
}

// Result is a ranking, best first, and the time that the retriever took.
type Result struct {
	Hits    []Hit
	Took    time.Duration
	Notices Notices
}

// Notices counts what a retriever from outside sent that was put right.
type Notices struct {
	Duplicates  int // an id returned again; the first counts
	Cut         int // hits beyond k
	NonMonotone int // hits that score above the one before; the order is kept
}

// Retriever answers a query with at most q.K hits, best first. An error means
// that this query has no answer; an empty ranking is no error. Concurrent
// calls are allowed. A Retriever that also is an io.Closer holds something
// (a process) until it is closed.
type Retriever interface {
	Retrieve(ctx context.Context, q Query) (Result, error)
}

// QueryEmbedder turns a query's text into a vector of the same model that made
// the chunks' vectors. Concurrent calls are allowed.
type QueryEmbedder interface {
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Chunks is a stream of chunks to index. An error ends the indexing.
type Chunks = iter.Seq2[corpus.Chunk, error]

// Approximate is a retriever over an index that may miss what is nearest. Exact
// returns one that compares with everything, over the same records, to measure
// what the index misses; false where it cannot. It ends with the retriever that
// it comes from.
type Approximate interface {
	Retriever
	Exact() (Retriever, bool)
}
