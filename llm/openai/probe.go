package openai

import (
	"context"
	"strings"
	"sync"

	"github.com/goldgen/goldgen/llm"
)

// probe is what was found out about a model, once.
type probe struct {
	mu       sync.Mutex
	done     bool
	noSystem error
}

func hasSystem(req llm.Request) bool {
	for _, m := range req.Messages {
		if m.Role == "system" {
			return true
		}
	}
	return false
}

// userMark is the question of a probe.
const userMark = "goldgenusermark"

// systemDelivered compares the server's own counts of a prompt with and without
// a system message of 200 words: two calls of one token each, once for a model.
// Where the server counts nothing, or refuses such a call, nothing is known and
// the model is taken at its word.
func (c *Client) systemDelivered(ctx context.Context, req llm.Request) error {
	p := c.probe(req.Model.Name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return p.noSystem
	}
	long := strings.TrimSpace(strings.Repeat("word ", 200))
	without, err := c.promptLength(ctx, req, llm.Message{Role: "user", Content: userMark})
	if err != nil {
		return err
	}
	with, err := c.promptLength(ctx, req, llm.Message{Role: "system", Content: long}, llm.Message{Role: "user", Content: userMark})
	if err != nil {
		return err
	}
	p.done = true
	if without > 0 && with > 0 && with < without+100 {
		p.noSystem = &llm.Error{Kind: llm.KindNoSystem, Model: req.Model.Name, Endpoint: llm.RedactURL(c.endpoint), Detail: "a system message does not lengthen the prompt"}
	}
	return p.noSystem
}

func (c *Client) probe(model string) *probe {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.probes[model] == nil {
		c.probes[model] = &probe{}
	}
	return c.probes[model]
}

// promptLength is 0 where the server does not say.
func (c *Client) promptLength(ctx context.Context, req llm.Request, messages ...llm.Message) (int, error) {
	req.Messages, req.Schema = messages, nil
	req.Options.NumPredict, req.Options.TopLogprobs = 1, 0
	resp, err := c.api.CreateChatCompletion(ctx, wire(req))
	if err == nil {
		return resp.Usage.PromptTokens, nil
	}
	err = c.fail(ctx, req.Model.Name, err)
	if kind := llm.KindOf(err); kind == llm.KindBadRequest || kind == llm.KindPromptTooLong {
		return 0, nil
	}
	return 0, err
}
