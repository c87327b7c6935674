package ollama

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"github.com/goldgen/goldgen/llm"
)

// Models lists what the server has.
func (c *Client) Models(ctx context.Context) ([]llm.Model, error) {
	list, err := c.api.List(ctx)
	if err != nil {
		return nil, c.apiError(ctx, "", err)
	}
	models := make([]llm.Model, 0, len(list.Models))
	for _, m := range list.Models {
		models = append(models, llm.Model{Provider: "ollama", Name: m.Name, Digest: m.Digest})
	}
	return models, nil
}

// Resolve gives the model with its digest. A name without a tag means latest,
// as everywhere in Ollama; the name is kept as it was given.
func (c *Client) Resolve(ctx context.Context, name string) (llm.Model, error) {
	models, err := c.Models(ctx)
	if err != nil {
		return llm.Model{}, err
	}
	for _, m := range models {
		if m.Name == name || m.Name == name+":latest" {
			m.Name = name
			return m, nil
		}
	}
	return llm.Model{}, c.fail(llm.KindModelNotFound, name, "the server does not have it")
}

// Version is what the server says it is; a build from source says 0.0.0.
func (c *Client) Version(ctx context.Context) (string, error) {
	v, err := c.api.Version(ctx)
	if err != nil {
		return "", c.apiError(ctx, "", err)
	}
	return v, nil
}

// Pull fetches a model. progress, where given, is told what is done: bytes
// completed of total, both 0 for steps without a size.
func (c *Client) Pull(ctx context.Context, name string, progress func(status string, completed, total int64)) error {
	finished := false
	err := c.api.Pull(ctx, &api.PullRequest{Model: name}, func(p api.ProgressResponse) error {
		finished = finished || p.Status == "success"
		if progress != nil {
			progress(p.Status, p.Completed, p.Total)
		}
		return nil
	})
	switch {
	case err != nil:
		return c.apiError(ctx, name, err)
	case !finished:
		return c.fail(llm.KindServerGone, name, "the pull ended before success")
	}
	return nil
}

// Capabilities says what a model can do: completion, embedding, thinking and
// others; nil where the server does not say.
func (c *Client) Capabilities(ctx context.Context, name string) ([]string, error) {
	can, err := c.capabilities(ctx, name)
	if err != nil || can == nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(can)), nil
}

func names(m map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }

// capabilities asks once for a model.
func (c *Client) capabilities(ctx context.Context, name string) (map[string]bool, error) {
	k := c.model(name)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked {
		return k.capabilities, nil
	}
	var resp struct {
		Capabilities []string `json:"capabilities"`
	}
	err := c.post(ctx, "/api/show", name, &api.ShowRequest{Model: name}, &resp)
	if err != nil {
		return nil, err
	}
	k.asked = true
	for _, s := range resp.Capabilities {
		if k.capabilities == nil {
			k.capabilities = map[string]bool{}
		}
		k.capabilities[s] = true
	}
	return k.capabilities, nil
}

// apiError translates the errors of Ollama's own client.
func (c *Client) apiError(ctx context.Context, model string, err error) error {
	if s, ok := errors.AsType[api.StatusError](err); ok {
		return llm.StatusError(model, c.base.String(), s.StatusCode, said([]byte(s.ErrorMessage)))
	}
	if a, ok := errors.AsType[api.AuthorizationError](err); ok {
		return llm.StatusError(model, c.base.String(), a.StatusCode, "")
	}
	if strings.HasPrefix(err.Error(), "invalid character") {
		return c.fail(llm.KindNotTheProtocol, model, "answer is not JSON")
	}
	return llm.CallError(ctx, model, c.base.String(), err)
}
