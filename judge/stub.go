package judge

import (
	"context"

	"github.com/goldgen/goldgen/datasets"
)

func run(ctx context.Context, candidates []Candidate, deps Deps, o Options) (Result, error) {
	return Result{}, nil
}
func extend(ctx context.Context, cases []datasets.Case, rankings map[string][]Ranking, depth int, deps Deps, o Options) (Extension, error) {
	return Extension{}, nil
}
