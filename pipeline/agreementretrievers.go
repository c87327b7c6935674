package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// build makes the retrievers that a side is asked by. dense says that both sides
// have vectors.
func (j *agreementJob) build(ctx context.Context, s *agreementSide, dense bool) error {
	if j.o.Runs != "" {
		return j.buildRuns(ctx, s)
	}
	for _, spec := range j.o.Retrievers {
		if isBuiltin(spec) {
			if err := j.buildVariants(ctx, s, spec, dense); err != nil {
				return err
			}
			continue
		}
		if err := j.addSpec(ctx, s, spec, spec); err != nil {
			return err
		}
	}
	return nil
}

// addSpec adds what a SPEC names.
func (j *agreementJob) addSpec(ctx context.Context, s *agreementSide, spec, name string) error {
	r, d, err := s.bench.retriever(ctx, spec)
	if err != nil {
		return err
	}
	if run, ok := r.(*retrieve.RunRetriever); ok {
		if err := s.checkRun(run.Run(), name); err != nil {
			return err
		}
	}
	if name == spec {
		name = d.Name // without a password
	}
	return s.add(r, eval.RetrieverRef{Spec: d.Name, Name: name, Kind: d.Kind, Config: settings(d)})
}

func (s *agreementSide) add(r retrieve.Retriever, ref eval.RetrieverRef) error {
	if s.has(ref.Name) {
		return fmt.Errorf("%w: retriever %s is named twice", ErrConfig, ref.Name)
	}
	s.asked = append(s.asked, askedRetriever{ref: ref, retriever: r})
	return nil
}

func (s *agreementSide) has(name string) bool {
	return slices.ContainsFunc(s.asked, func(a askedRetriever) bool { return a.ref.Name == name })
}

// checkRun refuses a run none of whose queries is a case of the set. It may hold
// queries of the other set besides.
func (s *agreementSide) checkRun(run *retrieve.Run, name string) error {
	for i := range s.cases {
		if _, ok := run.Ranking(s.cases[i].ID); ok {
			return nil
		}
	}
	return hinted("a run file names cases by their ids; where the two sets have runs of their own, put them into the folders reference and tested of --runs",
		"%s: none of its %d queries (%s) is a case of %s", name, len(run.Queries), firstFew(run.Queries), s.set.Ref())
}

// buildVariants adds the ready-made retrievers. Beside others they go by their
// SPEC, so that a name says which is meant.
func (j *agreementJob) buildVariants(ctx context.Context, s *agreementSide, spec string, dense bool) error {
	n, err := strconv.Atoi(strings.TrimPrefix(spec, builtinPrefix))
	if err != nil {
		return fmt.Errorf("%w: retrievers %s: want %sN, N from 2 to %d", ErrConfig, spec, builtinPrefix, retrieve.VariantCount)
	}
	variants, built := s.bench.variants[n]
	if !built {
		if variants, err = s.bench.buildVariants(ctx, n, dense); err != nil {
			return fmt.Errorf("retrievers %s: %w", spec, err)
		}
		s.bench.variants[n] = variants
	}
	for _, v := range variants {
		name := v.Name
		if len(j.o.Retrievers) > 1 {
			name = builtinPrefix + v.Name
		}
		if err := s.add(v.Retriever, eval.RetrieverRef{Spec: builtinPrefix + v.Name, Name: name, Kind: variantKind(v.Name)}); err != nil {
			return err
		}
	}
	return nil
}

func (b *agreementBench) buildVariants(ctx context.Context, n int, dense bool) ([]retrieve.Variant, error) {
	deps := retrieve.Deps{Chunks: b.all()}
	if dense {
		key, _ := b.embedder.stored(b.snapshot)
		deps.Embedder, deps.Vectors = b.embedder, b.snapshot.Vectors(key)
	}
	return retrieve.Variants(ctx, deps, n)
}

// variantKind is the kind of a variant that is one of the plain retrievers, so
// that those which a label model sees are known; the others are of none.
func variantKind(name string) string {
	kinds := map[string]string{
		"bm25": retrieve.KindBM25, "ngram-4": retrieve.KindNGram, "lsa-200": retrieve.KindLSA, "dense": retrieve.KindDense,
	}
	if kind, ok := kinds[name]; ok {
		return kind
	}
	return "builtin"
}

// buildRuns adds each run file of the folder under its name: of the side's own
// folder in it where there is one, else of the folder itself.
func (j *agreementJob) buildRuns(ctx context.Context, s *agreementSide) error {
	dir := j.p.Path(j.o.Runs)
	if own := filepath.Join(dir, s.role); isFolder(own) {
		dir = own
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("--runs: %w", err)
	}
	for _, f := range files {
		if f.IsDir() || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		name := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))
		if err := j.addSpec(ctx, s, "run:"+filepath.Join(dir, f.Name()), name); err != nil {
			return err
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
