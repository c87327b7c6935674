package retrieve

import (
	"context"
	"fmt"
	"strconv"
)

// NGramConfig is how ngram cuts and weighs: N characters within a word that is
// padded by one space on each side.
type NGramConfig struct {
	N        int     `yaml:"n"`
	K1       float64 `yaml:"k1"`
	B        float64 `yaml:"b"`
	Headings bool    `yaml:"headings"`
}

// DefaultNGram has 4 characters and BM25 weights.
func DefaultNGram() NGramConfig { return NGramConfig{N: 4, K1: 0.9, B: 0.4, Headings: true} }

// Validate names the field out of range and its value.
func (c NGramConfig) Validate() error {
	if c.N < 2 || c.N > 10 {
		return fmt.Errorf("n: %d is not within 2 to 10", c.N)
	}
	return validateWeights(c.K1, c.B)
}

func (c NGramConfig) settings() map[string]string {
	return map[string]string{
		"n": strconv.Itoa(c.N), "k1": number(c.K1), "b": number(c.B),
		"headings": strconv.FormatBool(c.Headings), "analysis": AnalysisVersion,
	}
}

func (c NGramConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	return NewNGram(b.chunks(ctx), c)
}

// NGram ranks chunks by the character n-grams that they share with a query,
// weighed as BM25 weighs terms. It finds misspelt and inflected words, parts of
// compounds and identifiers.
type NGram struct {
	index  *index
	config NGramConfig
}

// NewNGram indexes chunks as NewBM25 does.
func NewNGram(chunks Chunks, config NGramConfig) (*NGram, error) {
	if err := config.Validate(); err != nil {
		return nil, wrong("ngram: %w", err)
	}
	x, err := indexChunks(chunks, config.Headings, gramsOf(config.N))
	if err != nil {
		return nil, fmt.Errorf("ngram: %w", err)
	}
	return &NGram{index: x, config: config}, nil
}

// Retrieve implements Retriever. A chunk without an n-gram of the query is no
// hit.
func (r *NGram) Retrieve(ctx context.Context, q Query) (Result, error) {
	return r.index.retrieve(ctx, q, weights{r.config.K1, r.config.B})
}

// Scores returns the scores of the chunks with these ids for a query's text, 0
// for one that shares no n-gram with it or is unknown.
func (r *NGram) Scores(text string, ids []string) []float64 {
	return r.index.scoresOf(text, ids, weights{r.config.K1, r.config.B})
}

// gramsOf cuts a word, padded by a space on each side, into its n-grams; a
// shorter one is its own.
func gramsOf(n int) func(word string, joined bool) []string {
	return func(word string, _ bool) []string {
		runes := []rune(" " + word + " ")
		if len(runes) <= n {
			return []string{string(runes)}
		}
		grams := make([]string, 0, len(runes)-n+1)
		for i := 0; i+n <= len(runes); i++ {
			grams = append(grams, string(runes[i:i+n]))
		}
		return grams
	}
}
