package retrieve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// Deps are what retrievers are built from.
type Deps struct {
	Chunks     Chunks              // of the snapshot; read once an index
	Vectors    Vectors             // of the chunks; nil where none were made
	Embedder   QueryEmbedder       // of the same model; nil where none is configured
	Embedding  *corpus.Embedding   // what Embedder makes, nil where that is not known
	Getenv     func(string) string // variables that configurations name; nil: none
	Dir        string              // what relative paths and commands start from
	AllowExec  bool                // whether exec may start a command
	Configured map[string]Spec     // retrievers by name, for a hybrid's members
}

// Builder builds retrievers and shares the equal ones among them: an index is
// made once. It is not for concurrent use; what it builds is.
type Builder struct {
	deps  Deps
	built map[string]Retriever // by the digest of the description and how it is asked
	open  []io.Closer
}

// NewBuilder returns a builder. Close it when its retrievers are done with: they
// may share what they hold, so none is closed alone.
func NewBuilder(deps Deps) *Builder { return &Builder{deps: deps, built: map[string]Retriever{}} }

// Build builds one retriever. If it is an io.Closer, close it.
func Build(ctx context.Context, spec Spec, deps Deps) (Retriever, error) {
	b := NewBuilder(deps)
	r, err := b.Build(ctx, spec)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return r, nil
}

// Close ends what the built retrievers hold.
func (b *Builder) Close() error {
	var errs []error
	for _, c := range b.open {
		errs = append(errs, c.Close())
	}
	b.open = nil
	return errors.Join(errs...)
}

// Build builds a retriever, or returns the equal one that was built before.
func (b *Builder) Build(ctx context.Context, spec Spec) (Retriever, error) {
	description, err := spec.Describe(b.deps.Configured)
	if err != nil {
		return nil, err
	}
	key := description.Digest() + fmt.Sprint(spec.calls())
	if r, ok := b.built[key]; ok {
		return r, nil
	}
	r, err := spec.config().build(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("retriever %s: %w", spec.Name, err)
	}
	if c, ok := r.(io.Closer); ok {
		b.open = append(b.open, c)
	}
	b.built[key] = r
	return r, nil
}

// chunks ends the stream when the context does.
func (b *Builder) chunks(ctx context.Context) Chunks {
	return endWith(ctx, b.deps.Chunks)
}

func (b *Builder) path(arg string) string {
	if filepath.IsAbs(arg) {
		return arg
	}
	return filepath.Join(b.deps.Dir, arg)
}

// mayStart refuses a command where commands were not allowed.
func (b *Builder) mayStart(command string) error {
	if !b.deps.AllowExec {
		return wrong("would start %q, which %w", command, ErrNotAllowed)
	}
	return nil
}

// fields are the metadata keys of the chunks, which filters may name; nil where
// there are no chunks to know them from.
func (b *Builder) fields(ctx context.Context) ([]string, error) {
	if b.deps.Chunks == nil {
		return nil, nil
	}
	keys := map[string]bool{}
	for c, err := range b.chunks(ctx) {
		if err != nil {
			return nil, err
		}
		for key := range c.Metadata {
			keys[key] = true
		}
	}
	return sortedKeys(keys), nil
}

// sortedKeys are the keys of a map, never nil.
func sortedKeys[V any](m map[string]V) []string {
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(m))))
}

// checkEmbedder refuses to search vectors that the configured embedder cannot
// be compared with: model is what is known of the model that made them, dim
// their length, 0 and "" where it is not.
func (b *Builder) checkEmbedder(model string, dim int) error {
	if b.deps.Embedder == nil {
		return wrong("needs the vectors of queries, and no embedding is configured")
	}
	e := b.deps.Embedding
	if e == nil {
		return nil
	}
	if model != "" && !sameModel(model, e.Model) {
		return wrong("its vectors are of model %s, the configured embedding is %s", model, e.Model)
	}
	if dim != 0 && dim != e.Dimensions {
		return wrong("its vectors have %d dimensions, those of the configured embedding (%s) have %d", dim, e.Model, e.Dimensions)
	}
	return nil
}

// sameModel compares names of models; Ollama calls all-minilm all-minilm:latest.
func sameModel(a, b string) bool {
	return strings.TrimSuffix(a, ":latest") == strings.TrimSuffix(b, ":latest")
}

// member builds a retriever that another one is made of.
func (b *Builder) member(ctx context.Context, name string) (Retriever, error) {
	spec, err := ParseSpec(name, b.deps.Configured)
	if err != nil {
		return nil, err
	}
	return b.Build(ctx, spec)
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
