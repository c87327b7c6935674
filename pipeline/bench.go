package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// bench is a snapshot with its retrievers and, where an embedder is
// configured, its vectors: what judge and eval work at.
type bench struct {
	*view
	builder    *retrieve.Builder
	configured map[string]retrieve.Spec
	embedder   *chunkEmbedder // nil without one
	hasVectors bool
}

// pinnedBench opens the bench of the snapshot that what is pinned to.
func (p *Project) pinnedBench(ctx context.Context, pin datasets.CorpusPin, what string) (*bench, error) {
	s, err := p.pinnedSnapshot("", pin, what)
	if err != nil {
		return nil, err
	}
	return p.openBench(ctx, s, p.mayExec())
}

func (p *Project) openBench(ctx context.Context, s *corpus.Snapshot, allowExec bool) (*bench, error) {
	v, err := loadView(s)
	if err != nil {
		return nil, err
	}
	return p.benchOver(ctx, s, v, allowExec)
}

// benchOver is the bench of a snapshot that is in memory.
func (p *Project) benchOver(ctx context.Context, s *corpus.Snapshot, v *view, allowExec bool) (_ *bench, err error) {
	b := &bench{view: v, configured: p.Config.Retrievers}
	deps := retrieve.Deps{Chunks: v.all(), Dir: p.Dir, AllowExec: allowExec, Configured: p.Config.Retrievers, Getenv: p.Getenv}
	if p.Config.Embedding != nil {
		if b.embedder, err = p.openEmbedder(ctx); err != nil {
			return nil, err
		}
		deps.Embedder = b.embedder
		if b.embedder.pin.Dimensions > 0 { // else it is a dry run's
			deps.Embedding = &b.embedder.pin
		}
		var key string
		if key, b.hasVectors = b.embedder.stored(s); b.hasVectors {
			deps.Vectors = s.Vectors(key)
		}
	}
	b.builder = retrieve.NewBuilder(deps)
	return b, nil
}

// Close ends what the retrievers and the embedder hold.
func (b *bench) Close() error {
	err := b.builder.Close()
	if b.embedder != nil {
		if e := b.embedder.Close(); err == nil {
			err = e
		}
	}
	return err
}

// embeddingKey is the digest of the embedding whose vectors the snapshot has, ""
// for none.
func (b *bench) embeddingKey() string {
	if !b.hasVectors {
		return ""
	}
	return b.embedder.pin.Key()
}

func (b *bench) retriever(ctx context.Context, spec string) (retrieve.Retriever, retrieve.Description, error) {
	parsed, err := retrieve.ParseSpec(spec, b.configured)
	if err != nil {
		return nil, retrieve.Description{}, err
	}
	description, err := parsed.Describe(b.configured)
	if err != nil {
		return nil, description, err
	}
	if parsed.Uses(retrieve.KindDense, b.configured) && !b.hasVectors {
		return nil, description, b.noVectors(spec)
	}
	r, err := b.builder.Build(ctx, parsed)
	return r, description, err
}

var errNoVectors = errors.New("the snapshot has none")

func (b *bench) noVectors(spec string) error {
	if b.embedder == nil {
		return hinted("add to goldgen.yaml: embedding: {provider: ollama, model: all-minilm}, then run goldgen snapshot",
			"%w: retriever %s needs vectors, and no embedding is configured", ErrConfig, spec)
	}
	return hinted("goldgen snapshot", "retriever %s needs vectors of %s, and %w", spec, b.embedder.pin.Model, errNoVectors)
}

// pool is the configured pool as this snapshot can have it: without vectors,
// lsa stands in for dense at its depth, unless it has a depth of its own.
func (b *bench) pool(configured map[string]int) map[string]int {
	depth, named := configured[retrieve.KindDense]
	if b.hasVectors || !named {
		return configured
	}
	pool := maps.Clone(configured)
	delete(pool, retrieve.KindDense)
	if _, own := pool[retrieve.KindLSA]; !own {
		pool[retrieve.KindLSA] = depth
	}
	return pool
}

// poolMembers builds the retrievers that judging pools: those of the
// configured pool that this project can have, and every one of eval.
func (p *Project) poolMembers(ctx context.Context, b *bench) (map[string]retrieve.Retriever, map[string]int, error) {
	members, depth := map[string]retrieve.Retriever{}, map[string]int{}
	pool := b.pool(p.Config.Judge.Pool)
	for _, name := range slices.Sorted(maps.Keys(pool)) {
		k := pool[name]
		depth[name] = k
		if isPoolSetting(name) || k == 0 {
			continue
		}
		r, _, err := b.retriever(ctx, name)
		if err != nil {
			return nil, nil, fmt.Errorf("judge.pool: %w", err)
		}
		members[name] = r
	}
	for _, name := range p.Config.Eval.Retrievers {
		if _, ok := depth[name]; ok {
			continue
		}
		r, _, err := b.retriever(ctx, name)
		if p.DryRun && errors.Is(err, errNoVectors) {
			continue // they are among what the run would ask for
		}
		if err != nil {
			return nil, nil, fmt.Errorf("eval.retrievers: %w", err)
		}
		members[name], depth[name] = r, p.maxK()
	}
	if p.DryRun {
		for name, r := range members {
			members[name] = dryMember{r}
		}
	}
	return members, depth, nil
}

// dryMember finds nothing where a query would have to be embedded first.
type dryMember struct{ retrieve.Retriever }

func (d dryMember) Retrieve(ctx context.Context, q retrieve.Query) (retrieve.Result, error) {
	found, err := d.Retriever.Retrieve(ctx, q)
	if isDry(err) {
		return retrieve.Result{}, nil
	}
	return found, err
}

// isPoolSetting tells the depths of a pool that name no retriever.
func isPoolSetting(name string) bool {
	return slices.Contains([]string{judge.DepthRandom, judge.DepthNeighbours, judge.DepthNear, judge.DepthMax}, name)
}

func (p *Project) maxK() int {
	k := 0
	for _, v := range p.Config.Eval.K {
		k = max(k, v)
	}
	return k
}
