package retrieve_test

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
)

func ExampleNewBM25() {
	chunks := func(yield func(corpus.Chunk, error) bool) {
		_ = yield(corpus.Chunk{ID: "returns.md#0", Text: "Unused clay can be returned within thirty days."}, nil) &&
			yield(corpus.Chunk{ID: "hours.md#0", Text: "The studio is open from nine to six."}, nil)
	}
	r, err := retrieve.NewBM25(chunks, retrieve.DefaultBM25())
	if err != nil {
		panic(err)
	}
	result, err := r.Retrieve(context.Background(), retrieve.Query{ID: "q1", Text: "how do I return clay", K: 10})
	if err != nil {
		panic(err)
	}
	for _, hit := range result.Hits {
		fmt.Printf("%.3f %s\n", hit.Score, hit.ChunkID)
	}
	// Output: 0.707 returns.md#0
}
