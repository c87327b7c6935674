package retrieve

import (
	"context"
	"fmt"
	"strconv"
)

// BM25Config is how bm25 weighs terms. Headings puts a chunk's heading path
// before its text when it is indexed.
type BM25Config struct {
	K1       float64 `yaml:"k1"`
	B        float64 `yaml:"b"`
	Headings bool    `yaml:"headings"`
}

// DefaultBM25 has the parameters of Lucene's usual baseline.
func DefaultBM25() BM25Config { return BM25Config{K1: 0.9, B: 0.4, Headings: true} }

// Validate names the field out of range and its value.
func (c BM25Config) Validate() error { return validateWeights(c.K1, c.B) }

func (c BM25Config) settings() map[string]string {
	return map[string]string{
		"k1": number(c.K1), "b": number(c.B), "headings": strconv.FormatBool(c.Headings), "analysis": AnalysisVersion,
	}
}

func (c BM25Config) build(ctx context.Context, b *Builder) (Retriever, error) {
	return NewBM25(b.chunks(ctx), c)
}

func validateWeights(k1, b float64) error {
	if !(k1 >= 0 && k1 <= 100) {
		return fmt.Errorf("k1: %v is not within 0 to 100", k1)
	}
	if !(b >= 0 && b <= 1) {
		return fmt.Errorf("b: %v is not within 0 to 1", b)
	}
	return nil
}

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

// IDF is Lucene's inverse document frequency of a term, as Terms spells it:
// ln(1 + (N-df+0.5)/(df+0.5)) with N the chunks that have any term. It is
// highest for a term that no chunk has.
func (r *BM25) IDF(term string) float64 { return r.index.idf(r.index.docFreq(term)) }

// Len is the number of chunks.
func (r *BM25) Len() int { return len(r.index.lengths) }
