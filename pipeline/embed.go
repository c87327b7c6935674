package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/connect"
	"github.com/goldgen/goldgen/llm/ollama"
)

// chunkEmbedder embeds chunks and queries with the configured model. Its pin
// names the vectors that it makes.
type chunkEmbedder struct {
	stack  *connect.Stack
	config EmbeddingConfig
	pin    corpus.Embedding
}

// probe is embedded to learn a model's dimensions.
const probe = "goldgen"

func (p *Project) openEmbedder(ctx context.Context) (*chunkEmbedder, error) {
	c := *p.Config.Embedding
	stack, err := p.open(ctx, connect.Config{
		Provider: c.Provider, Model: c.Model, Revision: c.Revision, Concurrency: c.Concurrency, BatchTexts: c.Batch,
	}, c.Endpoints)
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	e := &chunkEmbedder{stack: stack, config: c}
	vectors, err := e.embed(ctx, "", []string{probe})
	if p.DryRun && isDry(err) {
		return e, nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("embedding: %w", err), stack.Close())
	}
	m := stack.Model
	e.pin = corpus.Embedding{
		Provider: m.Provider, Model: m.Name, Digest: m.Digest,
		Dimensions: len(vectors[0]), Normalised: isUnit(vectors[0]), Prefix: c.Prefix, Long: c.Long,
	}
	if !stack.Seen.FromCache {
		e.pin.Server = p.serverVersion(ctx, c)
	}
	return e, nil
}

// serverVersion names the server that makes the vectors, by the first of the
// endpoints that answers; text with accents or dashes gets others on another one.
func (p *Project) serverVersion(ctx context.Context, c EmbeddingConfig) string {
	endpoints, err := p.endpoints(c.Endpoints, c.Provider)
	if err != nil || c.Provider != ProviderOllama {
		return c.Provider
	}
	if len(endpoints) == 0 {
		endpoints = []string{ollama.DefaultEndpoint}
	}
	for _, endpoint := range endpoints {
		client, err := ollama.New(ollama.Config{Endpoint: endpoint, HTTP: llm.NewHTTPClient(llm.TransportConfig{Retries: -1})})
		if err != nil {
			continue
		}
		if version, err := client.Version(ctx); err == nil {
			return c.Provider + " " + version
		}
	}
	return c.Provider
}

// stored finds the vectors that the embedder's pin means in a snapshot. When no
// server is there to say its version, those of the same model count.
func (e *chunkEmbedder) stored(s *corpus.Snapshot) (key string, ok bool) {
	for _, v := range s.Manifest().Vectors {
		same := v.Embedding
		if e.pin.Server == "" {
			same.Server = ""
		}
		if same == e.pin {
			return v.Key, true
		}
	}
	return "", false
}

func isUnit(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Abs(sum-1) < 1e-3
}

// Close lets go of the connection.
func (e *chunkEmbedder) Close() error { return e.stack.Close() }

func (e *chunkEmbedder) embed(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	return e.stack.Embedder.Embed(ctx, llm.EmbedRequest{Model: e.stack.Model, Prefix: prefix, Texts: texts})
}

// EmbedQuery implements retrieve.QueryEmbedder.
func (e *chunkEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.embed(ctx, e.config.QueryPrefix, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// embeddingPin names the embedding that a snapshot's vectors were made with.
func (p *Project) embeddingPin(s *corpus.Snapshot) (*corpus.Embedding, error) {
	c := p.Config.Embedding
	for _, v := range s.Manifest().Vectors {
		e := v.Embedding
		if e.Provider == c.Provider && sameModel(e.Model, c.Model) && e.Prefix == c.Prefix && e.Long == c.Long {
			return &e, nil
		}
	}
	return nil, hinted("goldgen snapshot", "the snapshot has no vectors of %s %s", c.Provider, c.Model)
}

// sameModel compares names of models; Ollama calls all-minilm all-minilm:latest.
func sameModel(a, b string) bool { return a == b || a == b+":latest" || a+":latest" == b }

func (p *Project) vectorKey(s *corpus.Snapshot) (string, error) {
	if p.Config.Embedding == nil {
		for _, v := range s.Manifest().Vectors {
			if v.Embedding.Provider == corpus.ProviderTable {
				return v.Key, nil
			}
		}
		return "", hinted("add to goldgen.yaml: embedding: {provider: ollama, model: all-minilm}",
			"%w: strata by topic need vectors, and no embedding is configured", ErrConfig)
	}
	pin, err := p.embeddingPin(s)
	if err != nil {
		return "", err
	}
	return pin.Key(), nil
}

// embedChunks makes the vectors of a snapshot that it does not have yet.
func (p *Project) embedChunks(ctx context.Context, s *corpus.Snapshot) (bool, error) {
	if p.Config.Embedding == nil {
		return false, nil
	}
	e, err := p.openEmbedder(ctx)
	if err != nil {
		return false, err
	}
	defer e.Close()
	if key, ok := e.stored(s); ok && s.CheckVectors(key) == nil {
		return false, nil
	}
	if p.DryRun {
		return false, e.count(ctx, s)
	}
	p.Progress.Begin("embed", s.Manifest().Chunks)
	defer p.Progress.End()
	run := &embedding{chunkEmbedder: e, progress: p.Progress}
	if err := s.WriteVectors(ctx, e.pin, func() int { return run.cut }, run.vectors(ctx, s)); err != nil {
		return false, err
	}
	if run.cut > 0 {
		how := map[string]string{"cut": "shortened for it", "split": "embedded in parts"}[e.config.Long]
		p.Log.Warn(fmt.Sprintf("%s longer than %s takes, and %s (embedding.long: %s)", wording.Count(run.cut, "chunk")+wording.Pick(run.cut, " is", " are"), e.pin.Model, how, e.config.Long))
	}
	return true, nil
}

// count goes through the calls that a snapshot's vectors take, for a dry run.
func (e *chunkEmbedder) count(ctx context.Context, s *corpus.Snapshot) error {
	run := &embedding{chunkEmbedder: e, progress: NoProgress{}}
	for _, err := range run.vectors(ctx, s) {
		if err != nil {
			return err
		}
	}
	return nil
}

// embedding is one run over a snapshot's chunks.
type embedding struct {
	*chunkEmbedder
	progress Progress
	cut      int // chunks too long for the model
}

// vectors yields each chunk's vector in snapshot order: rounds of as many
// batches as the servers take at once.
func (r *embedding) vectors(ctx context.Context, s *corpus.Snapshot) iter.Seq2[corpus.Vector, error] {
	round := r.config.Batch * max(1, r.stack.Concurrency)
	return func(yield func(corpus.Vector, error) bool) {
		var chunks []corpus.Chunk
		for c, err := range s.Chunks() {
			if err != nil {
				yield(corpus.Vector{}, err)
				return
			}
			if slices.Contains(c.Flags, corpus.FlagEmpty) {
				continue
			}
			if chunks = append(chunks, c); len(chunks) == round {
				if !r.yieldRound(ctx, chunks, yield) {
					return
				}
				chunks = chunks[:0]
			}
		}
		r.yieldRound(ctx, chunks, yield)
	}
}

func (r *embedding) yieldRound(ctx context.Context, chunks []corpus.Chunk, yield func(corpus.Vector, error) bool) bool {
	vectors, err := r.round(ctx, chunks)
	if err != nil {
		return yield(corpus.Vector{}, err) && false
	}
	r.progress.Step(Step{Done: len(chunks)})
	for i, v := range vectors {
		if !yield(corpus.Vector{ChunkID: chunks[i].ID, Values: v}, nil) {
			return false
		}
	}
	return true
}

func (r *embedding) round(ctx context.Context, chunks []corpus.Chunk) ([][]float32, error) {
	out := make([][]float32, len(chunks))
	cuts := make([]int, len(chunks))
	g, gctx := errgroup.WithContext(ctx)
	for from := 0; from < len(chunks); from += r.config.Batch {
		to := min(from+r.config.Batch, len(chunks))
		g.Go(func() (err error) {
			return r.batch(gctx, chunks[from:to], out[from:to], cuts[from:to])
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, n := range cuts {
		r.cut += n
	}
	return out, context.Cause(ctx)
}

// batch embeds some chunks. Those that are too long are dealt with one by one,
// the rest of the batch is kept.
func (r *embedding) batch(ctx context.Context, chunks []corpus.Chunk, out [][]float32, cut []int) error {
	left := make([]int, len(chunks))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		texts := make([]string, len(left))
		for j, i := range left {
			texts[j] = chunks[i].Text
		}
		vectors, err := r.embed(ctx, r.config.Prefix, texts)
		if err == nil {
			for j, i := range left {
				out[i] = vectors[j]
			}
			return nil
		}
		if isDry(err) {
			return nil // counted; nobody reads the vectors
		}
		tooLong := llm.TooLong(err)
		if len(tooLong) == 0 || slices.Max(tooLong) >= len(left) {
			return err
		}
		for _, at := range tooLong {
			i := left[at]
			if out[i], err = r.long(ctx, chunks[i]); err != nil {
				return err
			}
			cut[i] = 1
		}
		left = slices.DeleteFunc(left, func(i int) bool { return cut[i] > 0 })
	}
	return nil
}
