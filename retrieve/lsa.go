package retrieve

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"
)

// LSAConfig is how lsa builds its space. Rank is its number of dimensions, at
// most as many as the corpus has. Sample is how many chunks, drawn at random,
// the space is fitted on; the others are folded in. Headings puts a chunk's
// heading path before its text.
type LSAConfig struct {
	Rank     int  `yaml:"rank"`
	Sample   int  `yaml:"sample"`
	Headings bool `yaml:"headings"`
}

// DefaultLSA has 200 dimensions, fitted on at most 20,000 chunks.
func DefaultLSA() LSAConfig { return LSAConfig{Rank: 200, Sample: 20_000, Headings: true} }

// Validate names the field out of range and its value.
func (c LSAConfig) Validate() error {
	if c.Rank < 1 || c.Rank > 1000 {
		return fmt.Errorf("rank: %d is not within 1 to 1000", c.Rank)
	}
	if c.Sample < 1 || c.Sample > 1_000_000 {
		return fmt.Errorf("sample: %d is not within 1 to 1000000", c.Sample)
	}
	return nil
}

func (c LSAConfig) settings() map[string]string {
	return map[string]string{
		"rank": strconv.Itoa(c.Rank), "sample": strconv.Itoa(c.Sample),
		"headings": strconv.FormatBool(c.Headings), "analysis": AnalysisVersion, "fit": lsaVersion,
	}
}

func (c LSAConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	return NewLSA(b.chunks(ctx), c)
}

// LSA ranks chunks by the cosine with a query in a latent semantic space
// (Deerwester et al. 1990): the truncated singular value decomposition of the
// chunks' tf-idf weights. It needs no model, and finds chunks that share no
// word with the query.
type LSA struct {
	records records
	space   *lsaSpace
	rowOf   map[uint32]int // chunk number to row
	chunks  []uint32       // row to chunk number
	data    []float32      // unit vectors, row after row
}

// NewLSA reads all chunks, fits the space and places each chunk in it. What it
// builds is the same for any number of threads.
func NewLSA(chunks Chunks, config LSAConfig) (*LSA, error) {
	if err := config.Validate(); err != nil {
		return nil, wrong("lsa: %w", err)
	}
	r := &LSA{rowOf: map[uint32]int{}}
	counts := newTermCounts()
	for c, err := range chunks {
		if err == nil {
			err = r.records.add(&c)
		}
		if err != nil {
			return nil, fmt.Errorf("lsa: %w", err)
		}
		counts.add(indexedText(&c, config.Headings))
	}
	r.records.byKey, counts.words = nil, nil
	r.space = fitLSA(counts, config)
	r.place(counts)
	return r, nil
}

// place keeps the unit vector of each chunk that the space can tell apart from
// nothing.
func (r *LSA) place(counts *termCounts) {
	dim := r.space.dim
	for first := 0; first < counts.len(); first += lsaBlock {
		last := min(first+lsaBlock, counts.len())
		block := make([]float64, (last-first)*dim)
		eachRow(last-first, func(i int) {
			r.space.project(counts.row(first+i), block[i*dim:(i+1)*dim])
		})
		for i := range last - first {
			v := block[i*dim : (i+1)*dim]
			if !unitLength(v) {
				continue
			}
			r.rowOf[uint32(first+i)] = len(r.chunks)
			r.chunks = append(r.chunks, uint32(first+i))
			for _, x := range v {
				r.data = append(r.data, float32(x))
			}
		}
	}
}

// unitLength scales v to length 1; a vector of length 0 stays and gives false.
func unitLength(v []float64) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	norm := math.Sqrt(sum)
	if norm < 1e-9 {
		return false
	}
	for i := range v {
		v[i] /= norm
	}
	return true
}

// Retrieve implements Retriever. A query without a term of the corpus has no
// hits; else every chunk with a term of the space is one.
func (r *LSA) Retrieve(ctx context.Context, q Query) (Result, error) {
	start := time.Now()
	allowed, err := r.records.admit(q)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	vector := r.embed(q.Text)
	if vector == nil {
		return Result{Hits: []Hit{}, Took: time.Since(start)}, nil
	}
	best := newTop(q.K, r.records.ids)
	for row, chunk := range r.chunks {
		if allowed.has(chunk) {
			best.add(chunk, r.cosine(row, vector))
		}
	}
	return Result{Hits: best.hits(), Took: time.Since(start)}, nil
}

// Scores returns the cosines of the chunks with these ids, NaN for one that has
// no place in the space and for a text without a term of the corpus. Scope and
// filters do not apply.
func (r *LSA) Scores(text string, ids []string) []float64 {
	return r.cosines(r.embed(text), ids)
}

// Cosines returns the cosines of one chunk with those of ids, NaN where either
// has no place in the space.
func (r *LSA) Cosines(id string, ids []string) []float64 {
	var vector []float32
	if row, ok := r.row(id); ok {
		vector = r.data[row*r.space.dim : (row+1)*r.space.dim]
	}
	return r.cosines(vector, ids)
}

// cosines are those of a unit vector, NaN without one.
func (r *LSA) cosines(vector []float32, ids []string) []float64 {
	out := make([]float64, len(ids))
	for i, id := range ids {
		out[i] = math.NaN()
		if row, ok := r.row(id); ok && vector != nil {
			out[i] = r.cosine(row, vector)
		}
	}
	return out
}

func (r *LSA) row(id string) (int, bool) {
	chunk, ok := r.records.number[id]
	if !ok {
		return 0, false
	}
	row, ok := r.rowOf[chunk]
	return row, ok
}

// Rank is the number of dimensions that the corpus gave.
func (r *LSA) Rank() int { return r.space.dim }

// embed is the query's unit vector, nil where it has no place in the space.
func (r *LSA) embed(text string) []float32 {
	v := make([]float64, r.space.dim)
	r.space.project(r.space.counts(text), v)
	if !unitLength(v) {
		return nil
	}
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(x)
	}
	return unit
}

func (r *LSA) cosine(row int, unit []float32) float64 {
	dim := r.space.dim
	return quantise(float64(dot(r.data[row*dim:(row+1)*dim], unit)))
}

// reduced is the same space cut to its first dimensions.
func (r *LSA) reduced(rank int) *LSA {
	s := *r.space
	s.dim = min(rank, r.space.dim)
	s.basis = leading(r.space.basis, r.space.dim, s.dim)
	short := &LSA{records: r.records, space: &s, rowOf: map[uint32]int{}}
	cut := leading(r.data, r.space.dim, s.dim)
	for row, chunk := range r.chunks {
		unit, err := appendUnit(short.data, cut[row*s.dim:(row+1)*s.dim])
		if err != nil {
			continue // nothing is left of the chunk in these dimensions
		}
		short.data, short.rowOf[chunk] = unit, len(short.chunks)
		short.chunks = append(short.chunks, chunk)
	}
	return short
}

// leading copies the first columns of a matrix of rows of the given width.
func leading[T any](data []T, width, columns int) []T {
	out := make([]T, 0, len(data)/max(width, 1)*columns)
	for from := 0; from+width <= len(data) && width > 0; from += width {
		out = append(out, data[from:from+columns]...)
	}
	return out
}
