package pipeline

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/goldgen/goldgen/retrieve"
)

func (p *Project) doctorRetrievers(ctx context.Context) []Finding {
	var out []Finding
	for _, name := range p.Config.Eval.Retrievers {
		spec, err := retrieve.ParseSpec(name, p.Config.Retrievers)
		if err == nil {
			err = p.doctorSpec(ctx, spec)
		}
		out = append(out, finding("retriever "+name, err, spec.Kind))
	}
	return out
}

func (p *Project) doctorSpec(ctx context.Context, spec retrieve.Spec) error {
	if spec.Uses(retrieve.KindDense, p.Config.Retrievers) && p.Config.Embedding == nil {
		return hinted("add embedding: {provider: ollama, model: all-minilm} to goldgen.yaml", "needs vectors, and no embedding is configured")
	}
	if run, ok := spec.Config.(*retrieve.RunConfig); ok {
		_, err := os.Stat(p.Path(run.File))
		return err
	}
	if spec.Starts(p.Config.Retrievers) != "" && !p.mayExec() {
		return hinted("--allow-exec", "starts a command, which needs --allow-exec where CI is set")
	}
	if slices.Contains([]string{retrieve.KindHTTP, retrieve.KindQdrant, retrieve.KindPGVector, retrieve.KindMCP}, spec.Kind) {
		return p.askRetriever(ctx, spec)
	}
	return nil
}

// askRetriever asks a server for one hit of a word.
func (p *Project) askRetriever(ctx context.Context, spec retrieve.Spec) (err error) {
	deps := retrieve.Deps{Dir: p.Dir, AllowExec: true, Configured: p.Config.Retrievers, Getenv: p.Getenv}
	if p.Config.Embedding != nil {
		e, err := p.openEmbedder(ctx)
		if err != nil {
			return err
		}
		defer e.Close()
		deps.Embedder, deps.Embedding = e, &e.pin
	}
	b := retrieve.NewBuilder(deps)
	defer func() { err = errors.Join(err, b.Close()) }()
	r, err := b.Build(ctx, spec)
	if err != nil {
		return err
	}
	_, err = r.Retrieve(ctx, retrieve.Query{ID: "doctor", Text: probe, K: 1})
	return err
}
