package llm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/llm"
)

// A server that takes so many bytes a text, or so many a batch, and tells neither
// which text it refuses nor why.
func TestEmbedHalving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 20).Draw(rt, "lengths")
		perText := rapid.IntRange(8, 12).Draw(rt, "bytes a text")
		perBatch := rapid.IntRange(12, 60).Draw(rt, "bytes a batch")
		req := llm.EmbedRequest{Model: model}
		tooLong := -1
		want := make([][]float32, len(lengths))
		for i, n := range lengths {
			req.Texts = append(req.Texts, string(make([]byte, n)))
			want[i] = []float32{float32(n)}
			if n > perText && tooLong < 0 {
				tooLong = i
			}
		}
		got, err := llm.EmbedHalving(t.Context(), req, func(_ context.Context, r llm.EmbedRequest) ([][]float32, error) {
			sum, vectors := 0, [][]float32{}
			for _, text := range r.Texts {
				if sum += len(text); sum > perBatch || len(text) > perText {
					return nil, &llm.Error{Kind: llm.KindPromptTooLong, Status: 400, Detail: "too many tokens"}
				}
				vectors = append(vectors, []float32{float32(len(text))})
			}
			return vectors, nil
		})
		if tooLong < 0 {
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				rt.Fatalf("%v\n%s", err, diff)
			}
			return
		}
		refused := &llm.Error{Kind: llm.KindTooLong, Status: 400, Index: tooLong, Detail: "longer than the embedder takes"}
		e, _ := errors.AsType[*llm.Error](err)
		if diff := cmp.Diff(refused, e); diff != "" || got != nil {
			rt.Fatalf("got %v\n%s", got, diff)
		}
	})
}
