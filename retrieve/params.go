package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// or is the value pointed to, or the default.
func or[T any](configured *T, standard T) T {
	if configured == nil {
		return standard
	}
	return *configured
}

func (p Params) bm25() BM25Config {
	d := DefaultBM25()
	return BM25Config{K1: or(p.K1, d.K1), B: or(p.B, d.B), Headings: or(p.Headings, d.Headings)}
}

func (p Params) ngram() NGramConfig {
	d := DefaultNGram()
	return NGramConfig{N: or(p.N, d.N), K1: or(p.K1, d.K1), B: or(p.B, d.B), Headings: or(p.Headings, d.Headings)}
}

func (p Params) hybrid() HybridConfig {
	d := DefaultHybrid()
	return HybridConfig{RRF: or(p.RRF, d.RRF), Depth: or(p.Depth, d.Depth)}
}

func (p Params) exec() ExecConfig {
	return ExecConfig{Timeout: timeoutOr(p.Timeout, DefaultExec().Timeout)}
}

// members are a hybrid's members and their weights, bm25 and dense alike where
// none are configured.
func (p Params) members() ([]string, []float64) {
	names, weights := p.Members, p.Weights
	if len(names) == 0 {
		names = []string{KindBM25, KindDense}
	}
	if len(weights) == 0 {
		weights = slices.Repeat([]float64{1}, len(names))
	}
	return names, weights
}

// given names the parameters that are set.
func (p Params) given() []string {
	var names []string
	note := func(name string, set bool) {
		if set {
			names = append(names, name)
		}
	}
	note("k1", p.K1 != nil)
	note("b", p.B != nil)
	note("n", p.N != nil)
	note("headings", p.Headings != nil)
	note("members", len(p.Members) > 0)
	note("weights", len(p.Weights) > 0)
	note("rrf", p.RRF != nil)
	note("depth", p.Depth != nil)
	note("timeout", p.Timeout != 0)
	return names
}

// paramsOf are the parameters that a kind has.
func paramsOf(kind string) []string {
	switch kind {
	case KindBM25:
		return []string{"k1", "b", "headings"}
	case KindNGram:
		return []string{"n", "k1", "b", "headings"}
	case KindHybrid:
		return []string{"members", "weights", "rrf", "depth"}
	case KindExec:
		return []string{"timeout"}
	}
	return nil
}

// validate checks the values that a kind uses, and that no others are set.
func (p Params) validate(kind string) error {
	for _, name := range p.given() {
		if !slices.Contains(paramsOf(kind), name) {
			return fmt.Errorf("%s: %s has no such parameter", name, kind)
		}
	}
	switch kind {
	case KindBM25:
		return p.bm25().Validate()
	case KindNGram:
		return p.ngram().Validate()
	case KindHybrid:
		if names, weights := p.members(); len(names) != len(weights) {
			return fmt.Errorf("weights: %d for %d members", len(weights), len(names))
		}
		return p.hybrid().Validate()
	case KindExec:
		return p.exec().Validate()
	}
	return nil
}

// endWith ends a stream with the context's cause once the context is done.
func endWith(ctx context.Context, chunks Chunks) Chunks {
	return func(yield func(corpus.Chunk, error) bool) {
		for c, err := range chunks {
			if ctx.Err() != nil {
				yield(corpus.Chunk{}, context.Cause(ctx))
				return
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
