package retrieve

import (
	"context"
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// Variant is one of a family of retrievers over one corpus. Poor says that it
// was made to be bad.
type Variant struct {
	Name      string
	Poor      bool
	Retriever Retriever
}

// VariantCount is how many variants there are.
const VariantCount = 24

// leadBytes is how much of a chunk's text a variant that reads the beginning
// alone indexes.
const leadBytes = 200

// Variants builds the first n of the ready-made retrievers by which two sets of
// labels are compared: of many kinds, good and bad, all without a server. They
// are bm25 under several weights, tf-idf, language models, character n-grams,
// latent semantic indexing of several ranks, hybrids, rerankings, titles and
// beginnings alone, and some that were made to be bad. With deps.Vectors, dense
// and a random projection of it take the places of two others. Chunks are read
// several times.
func Variants(ctx context.Context, deps Deps, n int) ([]Variant, error) {
	if n < 2 || n > VariantCount {
		return nil, wrong("variants: %d is not within 2 to %d", n, VariantCount)
	}
	v := variantBuilder{chunks: endWith(ctx, deps.Chunks), deps: deps}
	all, err := v.build()
	if err != nil {
		return nil, fmt.Errorf("variants: %w", err)
	}
	return all[:n], nil
}

// variantBuilder builds each index once.
type variantBuilder struct {
	chunks Chunks
	deps   Deps
	words  *index // stems
	lsa    *LSA
	all    []Variant
	err    error
}

func (v *variantBuilder) build() ([]Variant, error) {
	if v.words, v.err = indexChunks(v.chunks, true, stemmed); v.err != nil {
		return nil, v.err
	}
	v.addWords()
	v.addGrams()
	v.addLSA()
	v.addDense()
	v.addFusions()
	v.addParts()
	v.addPoor()
	v.addReserve()
	return v.all, v.err
}

func (v *variantBuilder) add(name string, r Retriever, err error) {
	if v.err == nil {
		v.err = err
	}
	v.all = append(v.all, Variant{Name: name, Retriever: r})
}

func (v *variantBuilder) named(name string) Retriever {
	for _, known := range v.all {
		if known.Name == name {
			return known.Retriever
		}
	}
	return nil
}

func (v *variantBuilder) bm25(k1, b float64) *BM25 {
	return &BM25{index: v.words, config: BM25Config{K1: k1, B: b, Headings: true}}
}

func (v *variantBuilder) addWords() {
	v.add("bm25", v.bm25(0.9, 0.4), nil)
	v.add("bm25-long", v.bm25(1.2, 0.75), nil)
	v.add("bm25-steep", v.bm25(2, 1), nil)
	v.add("bm25-flat", v.bm25(0.9, 0), nil)
	v.add("tfidf", newTermScorer(v.words, tfidfWeight{}), nil)
	v.add("lm-dirichlet", newTermScorer(v.words, dirichlet{mu: 500}), nil)
	v.add("lm-jelinek-mercer", newTermScorer(v.words, jelinekMercer{lambda: 0.7}), nil)
}

func (v *variantBuilder) addGrams() {
	for _, n := range []int{4, 3} {
		c := DefaultNGram()
		c.N = n
		r, err := NewNGram(v.chunks, c)
		v.add(fmt.Sprintf("ngram-%d", n), r, err)
	}
}

func (v *variantBuilder) addLSA() {
	var err error
	if v.lsa, err = NewLSA(v.chunks, DefaultLSA()); err != nil {
		v.add("lsa-200", nil, err)
		return
	}
	v.add("lsa-200", v.lsa, nil)
	for _, rank := range []int{50, 10} {
		v.add(fmt.Sprintf("lsa-%d", rank), v.lsa.reduced(rank), nil)
	}
}

// addDense adds what needs vectors, where there are any.
func (v *variantBuilder) addDense() {
	if v.deps.Vectors == nil || v.deps.Embedder == nil || v.err != nil {
		return
	}
	r, err := NewDense(v.chunks, v.deps.Vectors, v.deps.Embedder)
	v.add("dense", r, err)
	p := &projection{to: 64, embedder: v.deps.Embedder}
	r, err = NewDense(v.chunks, p.vectors(v.deps.Vectors), p)
	v.add("dense-64", r, err)
}

func (v *variantBuilder) addFusions() {
	if v.err != nil {
		return
	}
	fuse := func(members ...string) {
		var list []Member
		for _, name := range members {
			list = append(list, Member{Name: name, Weight: 1, Retriever: v.named(name)})
		}
		r, err := NewHybrid(list, DefaultHybrid())
		v.add("hybrid-"+strings.Join(members, "-"), r, err)
	}
	fuse("bm25", "lsa-200")
	fuse("bm25", "ngram-4", "lsa-200")
	fuse("lm-dirichlet", "lsa-50")
	bm25, grams := v.bm25(0.9, 0.4), v.named("ngram-4").(*NGram)
	v.add("bm25-reranked-by-lsa", &reordered{first: bm25, depth: 50, scores: v.lsa.Scores}, nil)
	v.add("lsa-reranked-by-bm25", &reordered{first: v.lsa, depth: 50, scores: bm25.Scores}, nil)
	v.add("ngram-reranked-by-lsa", &reordered{first: grams, depth: 20, scores: v.lsa.Scores}, nil)
}

// addParts adds retrievers that read a part of each chunk.
func (v *variantBuilder) addParts() {
	titles, err := NewBM25(rewritten(v.chunks, title), DefaultBM25())
	v.add("title-bm25", titles, err)
	lead, err := NewBM25(rewritten(v.chunks, beginning), DefaultBM25())
	v.add("beginning-bm25", lead, err)
}

func (v *variantBuilder) addPoor() {
	if v.err != nil {
		return
	}
	first := len(v.all)
	v.add("shared-words", newTermScorer(v.words, coordination{}), nil)
	v.add("half-the-query", &halved{v.bm25(0.9, 0.4)}, nil)
	v.add("shuffled-bm25", &reordered{first: v.bm25(0.9, 0.4), depth: 40, scores: shuffledScores}, nil)
	v.add("title-lsa", v.titleLSA(), nil)
	for i := first; i < len(v.all); i++ {
		v.all[i].Poor = true
	}
}

func (v *variantBuilder) titleLSA() Retriever {
	c := DefaultLSA()
	c.Rank = 20
	r, err := NewLSA(rewritten(v.chunks, title), c)
	if v.err == nil {
		v.err = err
	}
	return r
}

// addReserve fills up to VariantCount where there are no vectors.
func (v *variantBuilder) addReserve() {
	for _, n := range []int{5, 6} {
		if len(v.all) >= VariantCount || v.err != nil {
			return
		}
		c := DefaultNGram()
		c.N = n
		r, err := NewNGram(v.chunks, c)
		v.add(fmt.Sprintf("ngram-%d", n), r, err)
	}
}

// rewritten gives chunks whose text is a part of theirs, without headings.
func rewritten(chunks Chunks, part func(c *corpus.Chunk) string) Chunks {
	return func(yield func(corpus.Chunk, error) bool) {
		for c, err := range chunks {
			if err == nil {
				c.Text, c.HeadingPath = part(&c), nil
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// title is the nearest heading, or the text's first line.
func title(c *corpus.Chunk) string {
	if n := len(c.HeadingPath); n > 0 {
		return c.HeadingPath[n-1]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n")
	return line
}

func beginning(c *corpus.Chunk) string {
	return strings.ToValidUTF8(c.Text[:min(leadBytes, len(c.Text))], "")
}
