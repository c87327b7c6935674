package ollama

import (
	"context"
	"errors"

	"github.com/ollama/ollama/api"

	"github.com/goldgen/goldgen/llm"
)

// Embed is that of llm.Embedder. A chat model, which would answer with vectors
// that mean nothing, is refused. Ollama fails a whole batch for one text that is
// too long and does not say which: it is found by halving the batch.
func (c *Client) Embed(ctx context.Context, req llm.EmbedRequest) ([][]float32, error) {
	if len(req.Texts) == 0 {
		return nil, nil
	}
	can, err := c.capabilities(ctx, req.Model.Name)
	if err != nil {
		return nil, err
	}
	if can != nil && !can["embedding"] {
		return nil, c.fail(llm.KindNotAnEmbedder, req.Model.Name, "its capabilities are "+names(can))
	}
	return c.embed(ctx, req)
}

func (c *Client) embed(ctx context.Context, req llm.EmbedRequest) ([][]float32, error) {
	no := false
	texts := make([]string, len(req.Texts))
	for i, t := range req.Texts {
		texts[i] = req.Prefix + t
	}
	wire := &api.EmbedRequest{Model: req.Model.Name, Input: texts, KeepAlive: c.keepAlive, Truncate: &no}
	var resp api.EmbedResponse
	err := c.post(ctx, "/api/embed", req.Model.Name, wire, &resp)
	if errors.Is(err, llm.KindPromptTooLong) {
		return nil, c.tooLong(ctx, req, err)
	}
	if err != nil {
		return nil, err
	}
	return resp.Embeddings, llm.CheckVectors(req.Model.Name, len(texts), resp.Embeddings)
}

// tooLong names the first text that is too long in a batch that has one.
func (c *Client) tooLong(ctx context.Context, req llm.EmbedRequest, whole error) error {
	if len(req.Texts) == 1 {
		e := c.fail(llm.KindTooLong, req.Model.Name, "longer than the embedder takes")
		if w, ok := errors.AsType[*llm.Error](whole); ok {
			e.Status = w.Status
		}
		return e
	}
	half := len(req.Texts) / 2
	first, second := req, req
	first.Texts, second.Texts = req.Texts[:half], req.Texts[half:]
	if _, err := c.embed(ctx, first); err != nil {
		return err
	}
	_, err := c.embed(ctx, second)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Kind == llm.KindTooLong {
		e.Index += half
	}
	if err == nil {
		// Each half fits, so the server counts the batch as a whole.
		return c.fail(llm.KindTooLong, req.Model.Name, "the batch as a whole is longer than the embedder takes")
	}
	return err
}
