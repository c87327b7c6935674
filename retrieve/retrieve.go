// Package retrieve owns the Retriever interface and every implementation of
// it: the embedded ones and the doors to others. It knows nothing of golden
// sets.
package retrieve

import (
	"context"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// Query is one search. Scope and Filters restrict what may be returned: every
// embedded retriever applies them before ranking.
type Query struct {
	ID      string          `json:"id"`
	Text    string          `json:"query"`
	K       int             `json:"k"`
	Scope   corpus.Scope    `json:"scope"`
	Filters []corpus.Filter `json:"filters"`
	AsOf    *time.Time      `json:"as_of,omitempty"`
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
	Hits []Hit
	Took time.Duration
}

// Retriever answers a query with at most q.K hits, best first. An error means
// that this query has no answer; an empty ranking is no error. Concurrent
// calls are allowed.
type Retriever interface {
	Retrieve(ctx context.Context, q Query) (Result, error)
}
