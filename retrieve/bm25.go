package retrieve

import (
	"context"
	"fmt"
)

// BM25 ranks chunks by the terms that they share with a query (Robertson and
// Zaragoza 2009, with Lucene's idf and quantised lengths).
type BM25 struct {
	index  *index
	config BM25Config
}

// NewBM25 indexes chunks. It keeps their ids and what scopes, validity and
// filters need, not their text.
func NewBM25(chunks Chunks, config BM25Config) (*BM25, error) {
	if err := config.Validate(); err != nil {
		return nil, wrong("bm25: %w", err)
	}
	x, err := indexChunks(chunks, config.Headings, stemmed)
	if err != nil {
		return nil, fmt.Errorf("bm25: %w", err)
	}
	return &BM25{index: x, config: config}, nil
}

// Retrieve implements Retriever. A chunk without a term of the query is no hit.
func (r *BM25) Retrieve(ctx context.Context, q Query) (Result, error) {
	return r.index.retrieve(ctx, q, weights{r.config.K1, r.config.B})
}

// Scores returns the scores of the chunks with these ids for a query's text, 0
// for one that shares no term with it or is unknown. Scope and filters do not
// apply.
func (r *BM25) Scores(text string, ids []string) []float64 {
	return r.index.scoresOf(text, ids, weights{r.config.K1, r.config.B})
}

// DocFreq is the number of chunks with a term, as Terms spells it.
func (r *BM25) DocFreq(term string) int { return int(r.index.docFreq(term)) }

// IDF is Lucene's inverse document frequency of a term, as Terms spells it:
// ln(1 + (N-df+0.5)/(df+0.5)) with N the chunks that have any term. It is
// highest for a term that no chunk has.
func (r *BM25) IDF(term string) float64 { return r.index.idf(r.index.docFreq(term)) }

// Len is the number of chunks.
func (r *BM25) Len() int { return len(r.index.lengths) }
