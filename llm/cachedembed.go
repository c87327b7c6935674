package llm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// CachedEmbeddings answers from a cache, text by text, and asks the embedder
// below for the rest.
type CachedEmbeddings struct {
	// Counter, where set, counts the texts that the cache answered.
	Counter *Counter
	// Batch is how many texts go into one call; 0 means 32.
	Batch int

	embedder Embedder
	cache    *Cache
}

// CachedEmbedder puts a cache before an embedder. A text that is too long does
// not waste its batch: the others are embedded and cached before the error is
// returned.
func CachedEmbedder(embedder Embedder, cache *Cache) *CachedEmbeddings {
	return &CachedEmbeddings{embedder: embedder, cache: cache}
}

// Embed is that of Embedder.
func (c *CachedEmbeddings) Embed(ctx context.Context, req EmbedRequest) ([][]float32, error) {
	out := make([][]float32, len(req.Texts))
	var missing []int
	for i := range req.Texts {
		v, ok, err := c.cache.Vector(ctx, req.Key(i))
		if err != nil {
			return nil, err
		}
		if out[i] = v; !ok {
			missing = append(missing, i)
		}
	}
	c.Counter.hit(len(req.Texts) - len(missing))
	if err := c.fill(ctx, req, missing, out); err != nil {
		return nil, err
	}
	return out, sameLength(req.Model.Name, out)
}

// fill embeds the missing texts batch by batch, and keeps each batch at once.
// After a text that is too long it goes on with the others, so that asking again
// costs that text only.
func (c *CachedEmbeddings) fill(ctx context.Context, req EmbedRequest, missing []int, out [][]float32) error {
	size := c.Batch
	if size <= 0 {
		size = 32
	}
	var tooLong error
	for batch := range slices.Chunk(missing, size) {
		long, err := c.batch(ctx, req, batch, out)
		if err != nil {
			return err
		}
		tooLong = errors.Join(tooLong, long)
	}
	return tooLong
}

// batch embeds texts in one call, or in one more for each that is too long; it
// names those apart from errors that end all.
func (c *CachedEmbeddings) batch(ctx context.Context, req EmbedRequest, missing []int, out [][]float32) (tooLong, err error) {
	for len(missing) > 0 {
		part := req
		part.Texts = pick(req.Texts, missing)
		got, err := c.embedder.Embed(ctx, part)
		if err == nil {
			return tooLong, c.keep(req, missing, got, out)
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != KindTooLong || e.Index < 0 || e.Index >= len(missing) {
			return tooLong, err
		}
		named := *e
		named.Index = missing[e.Index]
		tooLong = errors.Join(tooLong, &named)
		missing = slices.Delete(slices.Clone(missing), e.Index, e.Index+1)
	}
	return tooLong, nil
}

func (c *CachedEmbeddings) keep(req EmbedRequest, missing []int, got, out [][]float32) error {
	if len(got) != len(missing) {
		return &Error{Kind: KindVectors, Model: req.Model.Name, Detail: fmt.Sprintf("%d vectors for %d texts", len(got), len(missing))}
	}
	for n, i := range missing {
		out[i] = got[n]
		if err := c.cache.PutVector(req.Key(i), req.Model, got[n]); err != nil {
			return err
		}
	}
	return nil
}

func pick(texts []string, at []int) []string {
	out := make([]string, len(at))
	for n, i := range at {
		out[n] = texts[i]
	}
	return out
}

// Vector looks a vector up. The key is that of EmbedRequest.Key.
func (c *Cache) Vector(ctx context.Context, key string) ([]float32, bool, error) {
	blob, ok, err := c.read(ctx, vectors, key)
	if err != nil || !ok {
		return nil, false, err
	}
	if len(blob) == 0 || len(blob)%4 != 0 {
		return nil, false, fmt.Errorf("%w: vector %s: %d bytes", ErrCache, key, len(blob))
	}
	v := make([]float32, len(blob)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	return v, true, nil
}

// PutVector hands a vector to the writer, as little-endian float32.
func (c *Cache) PutVector(key string, model Model, v []float32) error {
	blob := make([]byte, 0, 4*len(v))
	for _, x := range v {
		blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(x))
	}
	return c.put(vectors, key, model, blob)
}

// CheckVectors is what every embedder's answer has to pass: one vector a text,
// all of one length, none zero, no infinities.
func CheckVectors(model string, texts int, got [][]float32) error {
	if len(got) != texts {
		return &Error{Kind: KindVectors, Model: model, Detail: fmt.Sprintf("%d vectors for %d texts", len(got), texts)}
	}
	for i, v := range got {
		if why := badVector(v); why != "" {
			return &Error{Kind: KindVectors, Model: model, Detail: fmt.Sprintf("text %d: %s", i, why)}
		}
	}
	return sameLength(model, got)
}

func badVector(v []float32) string {
	zero := true
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return "a component is not a number"
		}
		zero = zero && x == 0
	}
	if zero {
		return "a zero vector"
	}
	return ""
}

func sameLength(model string, got [][]float32) error {
	for i, v := range got {
		if len(v) != len(got[0]) {
			return &Error{Kind: KindDimension, Model: model, Detail: fmt.Sprintf("text %d has %d dimensions, text 0 has %d", i, len(v), len(got[0]))}
		}
	}
	return nil
}
