package llm

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Calls counts what was asked of servers. Its JSON is part of what commands
// print.
type Calls struct {
	Made      int           `json:"made"`   // sent to a server
	Cached    int           `json:"cached"` // answered by the cache
	Failed    int           `json:"failed"` // of those made, without a complete reply
	TokensIn  int           `json:"tokens_in"`
	TokensOut int           `json:"tokens_out"`
	Busy      time.Duration `json:"-"` // time that calls took, summed
}

// Counter counts calls; a nil one counts nothing. It may be shared by clients
// and embedders.
type Counter struct {
	mu    sync.Mutex
	calls Calls
}

// Calls gives the figures so far.
func (c *Counter) Calls() Calls {
	if c == nil {
		return Calls{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

func (c *Counter) hit(n int) {
	if c == nil || n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls.Cached += n
}

func (c *Counter) made(start time.Time, in, out int, err error) {
	if c == nil || errors.Is(err, ErrDryRun) || errors.Is(err, ErrBudget) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls.Made++
	c.calls.TokensIn += in
	c.calls.TokensOut += out
	c.calls.Busy += time.Since(start)
	if err != nil {
		c.calls.Failed++
	}
}

// Client counts the calls of a client; it belongs below the cache.
func (c *Counter) Client(client Client) Client {
	return clientFunc(func(ctx context.Context, req Request) (Reply, error) {
		start := time.Now()
		reply, err := client.Complete(ctx, req)
		c.made(start, reply.PromptTokens, reply.OutputTokens, err)
		return reply, err
	})
}

// Embedder counts the calls of an embedder, one a batch.
func (c *Counter) Embedder(e Embedder) Embedder {
	return embedderFunc(func(ctx context.Context, req EmbedRequest) ([][]float32, error) {
		start := time.Now()
		got, err := e.Embed(ctx, req)
		c.made(start, 0, 0, err)
		return got, err
	})
}

type clientFunc func(context.Context, Request) (Reply, error)

func (f clientFunc) Complete(ctx context.Context, req Request) (Reply, error) { return f(ctx, req) }

type embedderFunc func(context.Context, EmbedRequest) ([][]float32, error)

func (f embedderFunc) Embed(ctx context.Context, req EmbedRequest) ([][]float32, error) {
	return f(ctx, req)
}
