package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	"github.com/goldgen/goldgen/llm"
)

// Embed is that of llm.Embedder. The protocol has no way to forbid that long
// texts are cut: a server that refuses them gives KindTooLong with the text's
// index, one that cuts them is not noticed.
func (c *Client) Embed(ctx context.Context, req llm.EmbedRequest) ([][]float32, error) {
	if len(req.Texts) == 0 {
		return nil, nil
	}
	return llm.EmbedHalving(ctx, req, c.embed)
}

func (c *Client) embed(ctx context.Context, req llm.EmbedRequest) ([][]float32, error) {
	texts := make([]string, len(req.Texts))
	for i, t := range req.Texts {
		texts[i] = req.Prefix + t
	}
	resp, err := c.api.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{
		Input: texts, Model: openai.EmbeddingModel(req.Model.Name), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
	})
	if err != nil {
		return nil, c.fail(ctx, req.Model.Name, err)
	}
	got, err := inOrder(req.Model.Name, len(texts), resp.Data)
	if err != nil {
		return nil, err
	}
	return got, llm.CheckVectors(req.Model.Name, len(texts), got)
}

// inOrder puts vectors where their index says.
func inOrder(model string, n int, data []openai.Embedding) ([][]float32, error) {
	if len(data) != n {
		return nil, &llm.Error{Kind: llm.KindVectors, Model: model, Detail: fmt.Sprintf("%d vectors for %d texts", len(data), n)}
	}
	got := make([][]float32, n)
	for _, d := range data {
		if d.Index < 0 || d.Index >= n || got[d.Index] != nil {
			return nil, &llm.Error{Kind: llm.KindVectors, Model: model, Detail: fmt.Sprintf("vector index %d is out of order", d.Index)}
		}
		got[d.Index] = d.Embedding
	}
	return got, nil
}

// Models lists what the server has.
func (c *Client) Models(ctx context.Context) ([]llm.Model, error) {
	list, err := c.api.ListModels(ctx)
	if err != nil {
		return nil, c.fail(ctx, "", err)
	}
	models := make([]llm.Model, 0, len(list.Models))
	for _, m := range list.Models {
		models = append(models, llm.Model{Provider: "openai", Name: m.ID})
	}
	return models, nil
}

// Resolve checks that the server has the model. The protocol has no digests: a
// model is its name and the revision that the configuration gives it.
func (c *Client) Resolve(ctx context.Context, name string) (llm.Model, error) {
	models, err := c.Models(ctx)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Status == http.StatusNotFound {
		// Not every server lists its models: a wrong name is told by the first call.
		return llm.Model{Provider: "openai", Name: name}, nil
	}
	if err != nil {
		return llm.Model{}, err
	}
	for _, m := range models {
		if m.Name == name || m.Name == name+":latest" {
			return llm.Model{Provider: "openai", Name: name}, nil
		}
	}
	return llm.Model{}, &llm.Error{Kind: llm.KindModelNotFound, Model: name, Endpoint: llm.RedactURL(c.endpoint), Detail: "the server does not list it", Advice: c.listAdvice()}
}
