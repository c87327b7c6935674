package ollama

import (
	"context"

	"github.com/ollama/ollama/api"

	"github.com/goldgen/goldgen/llm"
)

// Embed is that of llm.Embedder. A chat model, which would answer with vectors
// that mean nothing, is refused.
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
	return llm.EmbedHalving(ctx, req, c.embed)
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
	if err != nil {
		return nil, err
	}
	return resp.Embeddings, llm.CheckVectors(req.Model.Name, len(texts), resp.Embeddings)
}
