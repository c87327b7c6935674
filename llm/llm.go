// Package llm is what goldgen asks of a language model or an embedder, and the
// wrappers that every server needs: cache, retry, limits, a pool of endpoints,
// budgets. It does not know what is asked.
package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Model names a model so that a cached reply can be trusted to be its.
type Model struct {
	Provider string `json:"provider"` // ollama, openai
	Name     string `json:"name"`
	Digest   string `json:"digest,omitempty"`   // Ollama's digest
	Revision string `json:"revision,omitempty"` // configured, where the server has no digest
}

// Message is one turn. Role is system, user or assistant.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Options are sent explicitly with every call; a zero NumCtx or NumPredict is a
// mistake of the caller (Validate says so).
type Options struct {
	NumCtx      int     `json:"num_ctx"`
	NumPredict  int     `json:"num_predict"`
	NumThread   int     `json:"num_thread,omitempty"`
	Temperature float64 `json:"temperature"`
	Seed        int64   `json:"seed"`
	TopLogprobs int     `json:"top_logprobs,omitempty"` // > 0 asks for the log-probabilities of the first tokens
}

// Request is one complete question to a model. The digest of its canonical
// JSON is the cache key; the endpoint is no part of it.
type Request struct {
	Model    Model           `json:"model"`
	Messages []Message       `json:"messages"`
	Schema   json.RawMessage `json:"schema,omitempty"` // JSON schema that the reply must match
	Options  Options         `json:"options"`
	Attempt  int             `json:"attempt"` // 0, 1, 2: a further attempt after an unusable reply
}

// Finish reasons of a complete reply.
const (
	FinishStop   = "stop"
	FinishLength = "length" // num_predict reached

	FinishFilter  = "content_filter" // the service held text back
	FinishRefusal = "refusal"        // the service marked the text as a refusal
)

// TokenLogprob is a token and the log-probabilities of its alternatives
// (natural logarithm), the token itself included where the server does so.
type TokenLogprob struct {
	Token   string       `json:"token"`
	Logprob float64      `json:"logprob"`
	Top     []TopLogprob `json:"top,omitempty"`
}

// TopLogprob is one alternative at a token's place.
type TopLogprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// Reply is a complete answer as the server gave it. Whether it can be used is
// decided above.
type Reply struct {
	Text         string         `json:"text"`
	Thinking     string         `json:"thinking,omitempty"`
	FinishReason string         `json:"finish_reason"`
	Logprobs     []TokenLogprob `json:"logprobs,omitempty"`
	PromptTokens int            `json:"prompt_tokens"`
	OutputTokens int            `json:"output_tokens"`
	Cached       bool           `json:"-"`
	Elapsed      time.Duration  `json:"elapsed_ns,omitempty"` // of the call that brought it
}

// Client asks a model. Complete may be called concurrently. An error means
// that there is no complete reply: transport, HTTP status, a prompt longer than
// the window. Errors carry a Kind (see Error).
type Client interface {
	Complete(ctx context.Context, req Request) (Reply, error)
}

// EmbedRequest asks for one vector a text. Prefix is put before every text.
type EmbedRequest struct {
	Model  Model    `json:"model"`
	Prefix string   `json:"prefix,omitempty"`
	Texts  []string `json:"texts"`
}

// Embedder turns texts into vectors. Embed returns exactly one vector a text,
// all of the same length, none of them zero; else an error. It may be called
// concurrently. A text too long for the model gives an *Error of KindTooLong
// whose Index names the text.
type Embedder interface {
	Embed(ctx context.Context, req EmbedRequest) ([][]float32, error)
}
