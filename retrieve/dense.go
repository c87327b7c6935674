package retrieve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// Vectors is a stream of chunk vectors, all of one length. An error ends the
// indexing.
type Vectors = iter.Seq2[corpus.Vector, error]

// DenseConfig is how dense is configured: it has no parameters.
type DenseConfig struct{}

// Validate finds nothing wrong.
func (DenseConfig) Validate() error { return nil }

func (DenseConfig) settings() map[string]string { return map[string]string{"similarity": "cosine"} }

func (DenseConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	return NewDense(b.chunks(ctx), b.deps.Vectors, b.deps.Embedder)
}

// Dense ranks chunks by the exact cosine of their vectors with the query's.
// Sums run in a fixed order in plain Go, so scores are the same on every
// machine.
type Dense struct {
	records  records
	embedder QueryEmbedder
	rowOf    map[uint32]int // chunk number to row
	chunks   []uint32       // row to chunk number
	dim      int
	data     []float32 // unit vectors, row after row
}

// NewDense indexes the vectors of chunks. A chunk without a vector (an empty
// one) is never a hit; a vector of an unknown chunk, of another length, of norm
// 0 or not finite is an error.
func NewDense(chunks Chunks, vectors Vectors, embedder QueryEmbedder) (*Dense, error) {
	if vectors == nil || embedder == nil {
		return nil, wrong("dense: needs the chunks' vectors and an embedder for queries")
	}
	d := &Dense{embedder: embedder, rowOf: map[uint32]int{}}
	for c, err := range chunks {
		if err == nil {
			err = d.records.add(&c)
		}
		if err != nil {
			return nil, fmt.Errorf("dense: %w", err)
		}
	}
	d.records.byKey = nil
	for v, err := range vectors {
		if err == nil {
			err = d.addVector(v)
		}
		if err != nil {
			return nil, fmt.Errorf("dense: %w", err)
		}
	}
	return d, nil
}

func (d *Dense) addVector(v corpus.Vector) error {
	chunk, ok := d.records.number[v.ChunkID]
	if !ok {
		return fmt.Errorf("vector of chunk %s: no such chunk", v.ChunkID)
	}
	if _, ok := d.rowOf[chunk]; ok {
		return fmt.Errorf("vector of chunk %s: duplicate", v.ChunkID)
	}
	if len(v.Values) == 0 {
		return fmt.Errorf("vector of chunk %s: has no components", v.ChunkID)
	}
	if d.dim == 0 {
		d.dim = len(v.Values)
	}
	if len(v.Values) != d.dim {
		return fmt.Errorf("vector of chunk %s: %d dimensions where others have %d", v.ChunkID, len(v.Values), d.dim)
	}
	unit, err := appendUnit(d.data, v.Values)
	if err != nil {
		return fmt.Errorf("vector of chunk %s: %w", v.ChunkID, err)
	}
	d.data, d.rowOf[chunk] = unit, len(d.chunks)
	d.chunks = append(d.chunks, chunk)
	return nil
}

// appendUnit appends v at length 1; a vector that already is, within rounding,
// is kept as it is.
func appendUnit(data, v []float32) ([]float32, error) {
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("a component is not finite")
	}
	if sum == 0 {
		return nil, errors.New("is zero")
	}
	if math.Abs(sum-1) < 1e-6 {
		return append(data, v...), nil
	}
	norm := math.Sqrt(sum)
	for _, x := range v {
		data = append(data, float32(float64(x)/norm))
	}
	return data, nil
}

// Retrieve implements Retriever. A query of white space alone has no hits; the
// time taken includes the embedding of the query.
func (d *Dense) Retrieve(ctx context.Context, q Query) (Result, error) {
	start := time.Now()
	allowed, err := d.records.admit(q)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if isBlank(q.Text) || len(d.chunks) == 0 {
		return Result{Hits: []Hit{}, Took: time.Since(start)}, nil
	}
	vector, err := d.embed(ctx, q.Text)
	if err != nil {
		return Result{}, fmt.Errorf("query %s: %w", q.ID, err)
	}
	best := newTop(q.K, d.records.ids)
	for row, chunk := range d.chunks {
		if allowed.has(chunk) {
			best.add(chunk, d.cosine(row, vector))
		}
	}
	return Result{Hits: best.hits(), Took: time.Since(start)}, nil
}

// Scores returns the cosines of the chunks with these ids, NaN for one without
// a vector and for a text of white space alone. Scope and filters do not apply.
func (d *Dense) Scores(ctx context.Context, text string, ids []string) ([]float64, error) {
	if len(d.chunks) == 0 || isBlank(text) {
		return d.cosines(nil, ids), nil
	}
	vector, err := d.embed(ctx, text)
	if err != nil {
		return nil, err
	}
	return d.cosines(vector, ids), nil
}

// Cosines returns the cosines of one chunk with those of ids, NaN where either has
// no vector.
func (d *Dense) Cosines(id string, ids []string) []float64 {
	var vector []float32
	if row, ok := d.row(id); ok {
		vector = d.data[row*d.dim : (row+1)*d.dim]
	}
	return d.cosines(vector, ids)
}

// cosines are those of a unit vector, NaN without one.
func (d *Dense) cosines(vector []float32, ids []string) []float64 {
	out := make([]float64, len(ids))
	for i, id := range ids {
		out[i] = math.NaN()
		if row, ok := d.row(id); ok && vector != nil {
			out[i] = d.cosine(row, vector)
		}
	}
	return out
}

func (d *Dense) row(id string) (int, bool) {
	chunk, ok := d.records.number[id]
	if !ok {
		return 0, false
	}
	row, ok := d.rowOf[chunk]
	return row, ok
}

func (d *Dense) embed(ctx context.Context, text string) ([]float32, error) {
	v, err := d.embedder.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(v) != d.dim {
		return nil, fmt.Errorf("its vector has %d dimensions, the chunks' have %d", len(v), d.dim)
	}
	unit, err := appendUnit(nil, v)
	if err != nil {
		return nil, fmt.Errorf("its vector: %w", err)
	}
	return unit, nil
}

func (d *Dense) cosine(row int, unit []float32) float64 {
	return quantise(float64(dot(d.data[row*d.dim:(row+1)*d.dim], unit)))
}

// dot sums eight strands of products side by side, then the strands in order.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
	}
	sum := (s0 + s1) + (s2 + s3) + ((s4 + s5) + (s6 + s7))
	for ; i < len(a); i++ {
		sum += float32(a[i] * b[i])
	}
	return sum
}
