// Package openai asks any server that speaks OpenAI's protocol: vLLM,
// llama.cpp, LM Studio, Ollama's /v1, a hosted API. It owns how llm's requests
// are worded there and what the answers mean.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/goldgen/goldgen/llm"
)

// Config says which server is asked.
type Config struct {
	Endpoint string       // with its path, such as http://127.0.0.1:8000/v1
	APIKey   string       // sent as a bearer token; "" sends none. It is never shown
	HTTP     *http.Client // from llm.NewHTTPClient; nil means one with its defaults
}

// Client is an llm.Client and llm.Embedder over one server. It may be used
// concurrently.
type Client struct {
	endpoint string
	key      string
	api      *openai.Client

	mu     sync.Mutex
	probes map[string]*probe
}

// New makes a client. No call is made.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.Endpoint)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("openai: endpoint is no http address")
	}
	if cfg.HTTP == nil {
		cfg.HTTP = llm.NewHTTPClient(llm.TransportConfig{})
	}
	conf := openai.DefaultConfig(cfg.APIKey)
	conf.BaseURL = strings.TrimSuffix(cfg.Endpoint, "/")
	conf.HTTPClient = cfg.HTTP
	return &Client{endpoint: cfg.Endpoint, key: cfg.APIKey, api: openai.NewClientWithConfig(conf), probes: map[string]*probe{}}, nil
}

// Complete is that of llm.Client. The first call for a model that has a system
// message finds out whether the server delivers one.
func (c *Client) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := req.Validate(); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.KindBadRequest, Model: req.Model.Name, Detail: err.Error()}
	}
	if hasSystem(req) {
		if err := c.systemDelivered(ctx, req); err != nil {
			return llm.Reply{}, err
		}
	}
	return c.chat(ctx, req)
}

func (c *Client) chat(ctx context.Context, req llm.Request) (llm.Reply, error) {
	start := time.Now()
	resp, err := c.api.CreateChatCompletion(ctx, wire(req))
	if err != nil {
		return llm.Reply{}, c.fail(ctx, req.Model.Name, err)
	}
	if len(resp.Choices) == 0 {
		return llm.Reply{}, &llm.Error{Kind: llm.KindEmpty, Model: req.Model.Name, Endpoint: llm.RedactURL(c.endpoint), Detail: "no choices in the answer", Cut: true}
	}
	reply := fromWire(resp)
	if reply.FinishReason == "" {
		return llm.Reply{}, &llm.Error{Kind: llm.KindServerGone, Model: req.Model.Name, Endpoint: llm.RedactURL(c.endpoint), Detail: "the answer ended before its finish reason", Cut: true}
	}
	if err := cutPrompt(req, reply); err != nil {
		return llm.Reply{}, err
	}
	reply.Elapsed = time.Since(start)
	return reply, nil
}

// reasoning says whether the name is of a series that refuses max_tokens,
// temperature and log-probabilities.
func reasoning(model string) bool {
	name := model[strings.LastIndex(model, "/")+1:]
	for _, series := range []string{"o1", "o3", "o4", "gpt-5"} {
		if strings.HasPrefix(name, series) {
			return true
		}
	}
	return false
}

// wire words a request.
func wire(req llm.Request) openai.ChatCompletionRequest {
	seed := int(req.Options.Seed)
	r := openai.ChatCompletionRequest{Model: req.Model.Name, Seed: &seed}
	if reasoning(req.Model.Name) {
		r.MaxCompletionTokens = req.Options.NumPredict
	} else {
		//lint:ignore SA1019 servers of one's own know max_tokens, and not all of them its successor
		r.MaxTokens = req.Options.NumPredict
		r.Temperature = temperature(req.Options.Temperature)
		r.LogProbs = req.Options.TopLogprobs > 0
		r.TopLogProbs = req.Options.TopLogprobs
	}
	for _, m := range req.Messages {
		r.Messages = append(r.Messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	if len(req.Schema) > 0 {
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: "reply", Schema: req.Schema, Strict: true,
			},
		}
	}
	return r
}

// nearZero stands for a temperature of 0, which the library drops on the way
// (and a server takes as 1). The smallest float32 will not do: llama.cpp divides
// by it and its runner aborts.
const nearZero = 1e-6

func temperature(t float64) float32 {
	return float32(max(t, nearZero))
}

func fromWire(resp openai.ChatCompletionResponse) llm.Reply {
	choice := resp.Choices[0]
	r := llm.Reply{
		Text:         choice.Message.Content,
		Thinking:     choice.Message.ReasoningContent,
		FinishReason: string(choice.FinishReason),
		PromptTokens: resp.Usage.PromptTokens,
		OutputTokens: resp.Usage.CompletionTokens,
	}
	if choice.Message.Refusal != "" {
		r.Text, r.FinishReason = choice.Message.Refusal, llm.FinishRefusal
	}
	r.Text, r.Thinking = splitThinking(r.Text, r.Thinking)
	if choice.LogProbs == nil {
		return r
	}
	for _, t := range choice.LogProbs.Content {
		out := llm.TokenLogprob{Token: t.Token, Logprob: t.LogProb}
		for _, o := range t.TopLogProbs {
			out.Top = append(out.Top, llm.TopLogprob{Token: o.Token, Logprob: o.LogProb})
		}
		r.Logprobs = append(r.Logprobs, out)
	}
	return r
}

// splitThinking moves a <think> block at the beginning out of the answer. A
// block that never ends is all thinking. Some templates open the block in the
// prompt, so that only its end is in the reply.
func splitThinking(text, thinking string) (string, string) {
	trimmed := strings.TrimSpace(text)
	body, opened := strings.CutPrefix(trimmed, "<think>")
	inside, answer, closed := strings.Cut(body, "</think>")
	switch {
	case closed:
		return strings.TrimSpace(answer), joined(thinking, inside)
	case opened:
		return "", joined(thinking, body)
	}
	return text, thinking
}

func joined(a, b string) string { return strings.TrimSpace(a + "\n" + b) }

// cutPrompt finds prompts that the server cut to its window without a word.
// Tokenizers do not merge words, so a prompt has at least as many tokens as
// words; a server that counts fewer has not read all of it. A cut of less than
// the difference between words and tokens is not seen.
func cutPrompt(req llm.Request, reply llm.Reply) error {
	words := 0
	for _, m := range req.Messages {
		words += len(strings.Fields(m.Content))
	}
	if reply.PromptTokens == 0 || reply.PromptTokens >= words {
		return nil
	}
	return &llm.Error{
		Kind: llm.KindPromptTooLong, Model: req.Model.Name,
		Detail: fmt.Sprintf("the server read %d tokens of a prompt of %d words", reply.PromptTokens, words),
	}
}

// fail turns an error of the library into an *llm.Error.
func (c *Client) fail(ctx context.Context, model string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*openai.APIError](err); ok {
		return c.status(model, e.HTTPStatusCode, fmt.Sprint(e.Message, " ", code(e.Code)))
	}
	if e, ok := errors.AsType[*openai.RequestError](err); ok && e.HTTPStatusCode >= http.StatusBadRequest {
		return c.status(model, e.HTTPStatusCode, string(e.Body))
	}
	if broken := c.brokenBody(model, err); broken != nil {
		return broken
	}
	if refusedByLibrary(err) {
		return &llm.Error{Kind: llm.KindBadRequest, Model: model, Detail: err.Error()}
	}
	return llm.CallError(ctx, model, c.endpoint, err)
}

func code(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

// status hides the key where a server repeats it.
func (c *Client) status(model string, status int, said string) error {
	if c.key != "" {
		said = strings.ReplaceAll(said, c.key, "(key)")
	}
	err := llm.StatusError(model, c.endpoint, status, said)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Kind == llm.KindModelNotFound {
		e.Advice = c.listAdvice()
	}
	return err
}

func (c *Client) listAdvice() string {
	return "see which models the server has: " + strings.TrimSuffix(llm.RedactURL(c.endpoint), "/") + "/models"
}

// brokenBody tells a body that ended early from one of another protocol; nil
// if it is neither.
func (c *Client) brokenBody(model string, err error) error {
	e := &llm.Error{Model: model, Endpoint: llm.RedactURL(c.endpoint), Status: http.StatusOK, Detail: err.Error()}
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	_, isType := errors.AsType[*json.UnmarshalTypeError](err)
	sent := strings.HasPrefix(err.Error(), "Post ") || strings.HasPrefix(err.Error(), "Get ")
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF) && !sent:
		e.Kind, e.Cut = llm.KindServerGone, true
	case isSyntax && strings.Contains(syntax.Error(), "unexpected end"):
		e.Kind, e.Cut = llm.KindServerGone, true
	case isSyntax, isType:
		e.Kind = llm.KindNotTheProtocol
	default:
		return nil
	}
	return e
}

func refusedByLibrary(err error) bool {
	for _, known := range []error{
		openai.ErrReasoningModelMaxTokensDeprecated, openai.ErrReasoningModelLimitationsLogprobs,
		openai.ErrReasoningModelLimitationsOther, openai.ErrCompletionUnsupportedModel,
		openai.ErrReasoningSamplingUnsupported,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
