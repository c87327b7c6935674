package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// What ends a run from inside, found with errors.Is.
var (
	ErrBudget = errors.New("budget used up")                     // calls, tokens or time
	ErrDryRun = errors.New("dry run: the reply is not in cache") // no call is made
	ErrCache  = errors.New("cache")                              // the cache cannot be read or written
)

// EstimateTokens guesses how many tokens a text has without a tokenizer: one
// for four bytes, which holds for English within a third or so.
func EstimateTokens(text string) int { return (len(text) + 3) / 4 }

func promptTokens(req Request) int {
	n := 0
	for _, m := range req.Messages {
		n += 4 + EstimateTokens(m.Content) // 4: the marks around a turn
	}
	return n
}

// Limits are hard: a call that could pass one is not made. Zero means none.
type Limits struct {
	Calls  int
	Tokens int // in and out together
	Time   time.Duration
}

// Validate names a limit that is negative.
func (l Limits) Validate() error {
	switch {
	case l.Calls < 0:
		return fmt.Errorf("max-calls: %d is negative", l.Calls)
	case l.Tokens < 0:
		return fmt.Errorf("max-tokens: %d is negative", l.Tokens)
	case l.Time < 0:
		return fmt.Errorf("max-time: %s is negative", l.Time)
	}
	return nil
}

// Budget is shared by all clients and embedders of a run.
type Budget struct {
	limits Limits
	now    func() time.Time
	end    time.Time // zero without a time limit

	mu     sync.Mutex
	calls  int
	tokens int // used, and set aside for calls in flight
}

// NewBudget starts the clock; nil means time.Now.
func NewBudget(limits Limits, now func() time.Time) *Budget {
	if now == nil {
		now = time.Now
	}
	b := &Budget{limits: limits, now: now}
	if limits.Time > 0 {
		b.end = now().Add(limits.Time)
	}
	return b
}

// Client limits a client; it belongs below the cache, since what is cached
// costs nothing.
func (b *Budget) Client(client Client) Client {
	return clientFunc(func(ctx context.Context, req Request) (Reply, error) {
		held := promptTokens(req) + req.Options.NumPredict
		if err := b.take(held); err != nil {
			return Reply{}, err
		}
		ctx, cancel := b.within(ctx)
		defer cancel()
		reply, err := client.Complete(ctx, req)
		b.settle(held, reply.PromptTokens+reply.OutputTokens)
		return reply, b.cause(ctx, err)
	})
}

// Embedder limits an embedder: one call a batch, tokens by estimate.
func (b *Budget) Embedder(e Embedder) Embedder {
	return embedderFunc(func(ctx context.Context, req EmbedRequest) ([][]float32, error) {
		tokens := 0
		for _, t := range req.Texts {
			tokens += EstimateTokens(req.Prefix + t)
		}
		if err := b.take(tokens); err != nil {
			return nil, err
		}
		ctx, cancel := b.within(ctx)
		defer cancel()
		got, err := e.Embed(ctx, req)
		return got, b.cause(ctx, err)
	})
}

func (b *Budget) take(tokens int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.limits.Calls > 0 && b.calls >= b.limits.Calls:
		return fmt.Errorf("%w: max-calls %d", ErrBudget, b.limits.Calls)
	case b.limits.Tokens > 0 && b.tokens+tokens > b.limits.Tokens:
		return fmt.Errorf("%w: max-tokens %d", ErrBudget, b.limits.Tokens)
	case !b.end.IsZero() && !b.now().Before(b.end):
		return fmt.Errorf("%w: max-time %s", ErrBudget, b.limits.Time)
	}
	b.calls++
	b.tokens += tokens
	return nil
}

func (b *Budget) settle(held, used int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens += used - held
}

// within ends a call in flight when the time is over.
func (b *Budget) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.end.IsZero() {
		return ctx, func() {}
	}
	left := b.end.Sub(b.now())
	return context.WithTimeoutCause(ctx, left, fmt.Errorf("%w: max-time %s", ErrBudget, b.limits.Time))
}

func (b *Budget) cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// Missed is what a dry run would have asked a server for.
type Missed struct {
	Calls     int `json:"calls"`
	TokensIn  int `json:"tokens_in"`      // estimated
	TokensOut int `json:"tokens_out_max"` // at most: the sum of num_predict
}

// DryRun stands in the place of a server: it counts and never calls.
type DryRun struct {
	mu      sync.Mutex
	missed  Missed
	replies map[Model]int // calls to Complete, by model
}

// Missed gives the figures so far.
func (d *DryRun) Missed() Missed {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.missed
}

// Replies says how many replies of each model were missed; embeddings are not
// among them.
func (d *DryRun) Replies() map[Model]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.replies)
}

// Complete returns an error that wraps ErrDryRun.
func (d *DryRun) Complete(_ context.Context, req Request) (Reply, error) {
	d.count(promptTokens(req), req.Options.NumPredict)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.replies == nil {
		d.replies = map[Model]int{}
	}
	d.replies[req.Model]++
	return Reply{}, ErrDryRun
}

// Embed returns an error that wraps ErrDryRun.
func (d *DryRun) Embed(_ context.Context, req EmbedRequest) ([][]float32, error) {
	tokens := 0
	for _, t := range req.Texts {
		tokens += EstimateTokens(req.Prefix + t)
	}
	d.count(tokens, 0)
	return nil, ErrDryRun
}

func (d *DryRun) count(in, out int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.missed.Calls++
	d.missed.TokensIn += in
	d.missed.TokensOut += out
}

// Limiter lets at most n calls be in flight at one endpoint. Calls wait here,
// so that waiting is no part of a call's timeout.
type Limiter struct{ slots chan struct{} }

// NewLimiter makes a limiter of n slots, at least one.
func NewLimiter(n int) *Limiter { return &Limiter{make(chan struct{}, max(1, n))} }

// Client limits a client.
func (l *Limiter) Client(client Client) Client {
	return clientFunc(func(ctx context.Context, req Request) (Reply, error) {
		if err := l.enter(ctx); err != nil {
			return Reply{}, err
		}
		defer l.leave()
		return client.Complete(ctx, req)
	})
}

// Embedder limits an embedder.
func (l *Limiter) Embedder(e Embedder) Embedder {
	return embedderFunc(func(ctx context.Context, req EmbedRequest) ([][]float32, error) {
		if err := l.enter(ctx); err != nil {
			return nil, err
		}
		defer l.leave()
		return e.Embed(ctx, req)
	})
}

func (l *Limiter) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Limiter) leave() { <-l.slots }
