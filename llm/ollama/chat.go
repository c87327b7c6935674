package ollama

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/goldgen/goldgen/llm"
)

// Complete is that of llm.Client. The first call for a model asks the server
// what the model can do and, where there is a system message, whether its
// template delivers one.
func (c *Client) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := req.Validate(); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.KindBadRequest, Model: req.Model.Name, Detail: err.Error()}
	}
	can, err := c.capabilities(ctx, req.Model.Name)
	if err != nil {
		return llm.Reply{}, err
	}
	if can != nil && !can["completion"] {
		return llm.Reply{}, c.fail(llm.KindNotAChatModel, req.Model.Name, "its capabilities are "+names(can))
	}
	if hasSystem(req) {
		if err := c.systemDelivered(ctx, req); err != nil {
			return llm.Reply{}, err
		}
	}
	return c.chat(ctx, req, can["thinking"])
}

func hasSystem(req llm.Request) bool {
	for _, m := range req.Messages {
		if m.Role == "system" {
			return true
		}
	}
	return false
}

func (c *Client) chat(ctx context.Context, req llm.Request, thinks bool) (llm.Reply, error) {
	start := time.Now()
	wire := c.wire(req)
	if thinks {
		wire.Think = &api.ThinkValue{Value: false}
	}
	var resp api.ChatResponse
	if err := c.post(ctx, "/api/chat", req.Model.Name, wire, &resp); err != nil {
		return llm.Reply{}, err
	}
	if err := c.complete(req, resp); err != nil {
		return llm.Reply{}, err
	}
	reply := fromWire(resp)
	reply.Elapsed = time.Since(start)
	return reply, nil
}

// wire words a request. Truncation is off, so that a prompt longer than the
// window is an error, and every option that changes text is sent: the server's
// defaults differ by model, and repeat_penalty's counts the prompt.
func (c *Client) wire(req llm.Request) *api.ChatRequest {
	no := false
	r := &api.ChatRequest{
		Model:     req.Model.Name,
		Stream:    &no,
		Format:    req.Schema,
		KeepAlive: c.keepAlive,
		Truncate:  &no,
		Shift:     &no,
		Options:   options(req.Options),
	}
	if req.Options.TopLogprobs > 0 {
		r.Logprobs, r.TopLogprobs = true, req.Options.TopLogprobs
	}
	for _, m := range req.Messages {
		r.Messages = append(r.Messages, api.Message{Role: m.Role, Content: m.Content})
	}
	return r
}

func options(o llm.Options) map[string]any {
	m := map[string]any{
		"num_ctx":        o.NumCtx,
		"num_predict":    o.NumPredict,
		"seed":           o.Seed,
		"temperature":    o.Temperature,
		"repeat_penalty": 1.0,
		"top_k":          40,
		"top_p":          0.9,
		"min_p":          0.0,
	}
	if o.NumThread > 0 {
		m["num_thread"] = o.NumThread
	}
	return m
}

// complete refuses answers that only look like one.
func (c *Client) complete(req llm.Request, resp api.ChatResponse) error {
	switch {
	case !resp.Done:
		e := c.fail(llm.KindServerGone, req.Model.Name, "the answer ended before done")
		e.Cut = true
		return e
	case resp.DoneReason == "load" || resp.DoneReason == "unload":
		return c.fail(llm.KindEmpty, req.Model.Name, "the server only loaded the model")
	case resp.PromptEvalCount >= req.Options.NumCtx:
		// A server too old to know truncate cuts the prompt to the window.
		return c.fail(llm.KindPromptTooLong, req.Model.Name, fmt.Sprintf("cut to num_ctx=%d", req.Options.NumCtx))
	}
	return nil
}

func fromWire(resp api.ChatResponse) llm.Reply {
	r := llm.Reply{
		Text:         resp.Message.Content,
		Thinking:     resp.Message.Thinking,
		FinishReason: resp.DoneReason,
		PromptTokens: resp.PromptEvalCount,
		OutputTokens: resp.EvalCount,
	}
	for _, t := range resp.Logprobs {
		out := llm.TokenLogprob{Token: t.Token, Logprob: t.Logprob}
		for _, o := range t.TopLogprobs {
			out.Top = append(out.Top, llm.TopLogprob{Token: o.Token, Logprob: o.Logprob})
		}
		r.Logprobs = append(r.Logprobs, out)
	}
	return r
}

func (c *Client) fail(kind llm.Kind, model, detail string) *llm.Error {
	return &llm.Error{Kind: kind, Model: model, Endpoint: llm.RedactURL(c.base.String()), Detail: detail}
}

// Marks that no template and no tokenizer changes.
const (
	systemMark = "goldgensystemmark"
	userMark   = "goldgenusermark"
)

// systemDelivered finds out, once for a model, whether the template renders
// system messages. A model without a chat template drops them silently.
func (c *Client) systemDelivered(ctx context.Context, req llm.Request) error {
	k := c.model(req.Model.Name)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.probed {
		return k.noSystem
	}
	delivered, err := c.rendered(ctx, req)
	if err != nil {
		return err
	}
	k.probed = true
	if !delivered {
		k.noSystem = c.fail(llm.KindNoSystem, req.Model.Name, "its template drops the system message")
	}
	return k.noSystem
}

// rendered asks for the rendered template, which generates nothing. A server
// that does not know the debug field answers as usual: then the prompt's length
// with and without a system message tells.
func (c *Client) rendered(ctx context.Context, req llm.Request) (bool, error) {
	with := req
	with.Schema, with.Options.TopLogprobs, with.Options.NumPredict = nil, 0, 1
	with.Messages = []llm.Message{{Role: "system", Content: systemMark}, {Role: "user", Content: userMark}}
	wire := c.wire(with)
	wire.DebugRenderOnly = true
	var resp api.ChatResponse
	if err := c.post(ctx, "/api/chat", req.Model.Name, wire, &resp); err != nil {
		return false, err
	}
	if resp.DebugInfo != nil {
		return strings.Contains(resp.DebugInfo.RenderedTemplate, systemMark), nil
	}
	return c.longerWithSystem(ctx, with)
}

// longerWithSystem compares prompt lengths: a system message of 200 words adds
// at least 100 tokens where it is delivered.
func (c *Client) longerWithSystem(ctx context.Context, req llm.Request) (bool, error) {
	var counts [2]int
	long := strings.TrimSpace(strings.Repeat("word ", 200))
	for i, messages := range [][]llm.Message{
		{{Role: "user", Content: userMark}},
		{{Role: "system", Content: long}, {Role: "user", Content: userMark}},
	} {
		req.Messages = messages
		var resp api.ChatResponse
		if err := c.post(ctx, "/api/chat", req.Model.Name, c.wire(req), &resp); err != nil {
			return false, err
		}
		counts[i] = resp.PromptEvalCount
	}
	return counts[1] >= counts[0]+100, nil
}
