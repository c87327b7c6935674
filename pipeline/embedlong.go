package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/llm"
)

// minLongText is the length in bytes under which a refused text is no longer
// shortened: the server means something else.
const minLongText = 64

// long embeds a chunk that is too long for the model, as embedding.long says.
func (r *embedding) long(ctx context.Context, c corpus.Chunk) ([]float32, error) {
	switch r.config.Long {
	case "cut":
		v, _, err := r.longestPrefix(ctx, c.Text)
		return v, named(c, err)
	case "split":
		v, err := r.meanOfParts(ctx, c.Text)
		return v, named(c, err)
	}
	return nil, hinted("set embedding.long to cut or split, or make chunks smaller",
		"chunk %s: longer than %s takes (embedding.long: fail)", c.ID, r.pin.Model)
}

func named(c corpus.Chunk, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("chunk %s: %w", c.ID, err)
}

// longestPrefix shortens the text by a tenth until the model takes it, and says
// how many bytes it took.
func (r *embedding) longestPrefix(ctx context.Context, text string) ([]float32, int, error) {
	for {
		text = clip.Bytes(text, len(text)*9/10)
		vectors, err := r.embed(ctx, r.config.Prefix, []string{text})
		if err == nil {
			return vectors[0], len(text), nil
		}
		if !errors.Is(err, llm.KindTooLong) || len(text) < minLongText {
			return nil, 0, err
		}
	}
}

// meanOfParts embeds the text piece by piece and returns the mean of the
// pieces' vectors, weighted by their lengths.
func (r *embedding) meanOfParts(ctx context.Context, text string) ([]float32, error) {
	var mean []float32
	for strings.TrimSpace(text) != "" {
		v, n, err := r.longestPrefix(ctx, text+" ")
		if err != nil {
			return nil, err
		}
		if mean == nil {
			mean = make([]float32, len(v))
		}
		for i, x := range v {
			mean[i] += float32(n) * x
		}
		text = text[min(n, len(text)):]
	}
	return mean, nil // WriteVectors makes it unit norm
}
