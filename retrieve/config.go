package retrieve

import (
	"fmt"
	"time"
)

// BM25Config is how bm25 weighs terms. Headings puts a chunk's heading path
// before its text when it is indexed.
type BM25Config struct {
	K1       float64
	B        float64
	Headings bool
}

// DefaultBM25 has the parameters of Lucene's usual baseline.
func DefaultBM25() BM25Config { return BM25Config{K1: 0.9, B: 0.4, Headings: true} }

// Validate names the field out of range and its value.
func (c BM25Config) Validate() error {
	return validateWeights(c.K1, c.B)
}

// NGramConfig is how ngram cuts and weighs: N characters within a word that is
// padded by one space on each side.
type NGramConfig struct {
	N        int
	K1       float64
	B        float64
	Headings bool
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

func validateWeights(k1, b float64) error {
	if !(k1 >= 0 && k1 <= 100) {
		return fmt.Errorf("k1: %v is not within 0 to 100", k1)
	}
	if !(b >= 0 && b <= 1) {
		return fmt.Errorf("b: %v is not within 0 to 1", b)
	}
	return nil
}

// HybridConfig is how hybrid fuses: each member gives its best Depth hits, a
// hit at rank r adds weight*(RRF+1)/(RRF+r) (Cormack, Clarke, Büttcher 2009).
type HybridConfig struct {
	RRF   float64
	Depth int // never under the query's k
}

// DefaultHybrid has the constant of the paper.
func DefaultHybrid() HybridConfig { return HybridConfig{RRF: 60, Depth: 100} }

// Validate names the field out of range and its value.
func (c HybridConfig) Validate() error {
	if !(c.RRF > 0 && c.RRF <= 1e6) {
		return fmt.Errorf("rrf: %v is not within 0 to 1000000", c.RRF)
	}
	if c.Depth < 1 || c.Depth > 1_000_000 {
		return fmt.Errorf("depth: %d is not within 1 to 1000000", c.Depth)
	}
	return nil
}

// ExecConfig is how a command is run: Timeout is for one query, Dir its working
// directory ("" the current one).
type ExecConfig struct {
	Timeout time.Duration
	Dir     string
}

// DefaultExec waits a minute for an answer: a command's first one loads its
// index.
func DefaultExec() ExecConfig { return ExecConfig{Timeout: time.Minute} }

// Validate names the field out of range and its value.
func (c ExecConfig) Validate() error {
	if c.Timeout <= 0 {
		return fmt.Errorf("timeout: %v is not above 0", c.Timeout)
	}
	return nil
}
