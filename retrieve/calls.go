package retrieve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/goldgen/goldgen/internal/httpretry"
)

// CallConfig is how a server is asked. It does not decide the ranking, so
// descriptions leave it out.
type CallConfig struct {
	Timeout     time.Duration `yaml:"timeout"`     // of one query, each further attempt anew
	Concurrency int           `yaml:"concurrency"` // queries in flight
	Retries     int           `yaml:"retries"`     // further attempts where the server was busy or broke off
	Rate        float64       `yaml:"rate"`        // queries a second, 0 no limit
}

// DefaultCalls asks four queries at a time and waits half a minute for each.
func DefaultCalls() CallConfig {
	return CallConfig{Timeout: 30 * time.Second, Concurrency: 4, Retries: 2}
}

// asked is the part of a Config that says how its server is asked.
func (c CallConfig) asked() CallConfig { return c }

// Validate names the field out of range and its value.
func (c CallConfig) Validate() error {
	switch {
	case c.Concurrency < 1 || c.Concurrency > 1024:
		return fmt.Errorf("concurrency: %d is not within 1 to 1024", c.Concurrency)
	case c.Retries < 0 || c.Retries > 20:
		return fmt.Errorf("retries: %d is not within 0 to 20", c.Retries)
	case !(c.Rate >= 0) || math.IsInf(c.Rate, 1):
		return fmt.Errorf("rate: %v is not 0 or more", c.Rate)
	}
	return checkTimeout(c.Timeout)
}

// gate lets queries through to a server: no more at once and a second than
// configured. A server that lets too many in a row go without an answer is not
// asked again; it would take the timeout for each of the rest.
type gate struct {
	config CallConfig
	slots  chan struct{}
	pace   *rate.Limiter // nil without a limit
	silent atomic.Int64  // queries in a row without an answer
}

func newGate(c CallConfig) *gate {
	g := &gate{config: c, slots: make(chan struct{}, c.Concurrency)}
	if c.Rate > 0 {
		g.pace = rate.NewLimiter(rate.Limit(c.Rate), max(1, int(math.Ceil(c.Rate))))
	}
	return g
}

// Concurrency is how many queries may be in flight: more callers than that
// only wait.
func (g *gate) Concurrency() int { return g.config.Concurrency }

// calls are the settings that the gate keeps.
func (g *gate) calls() CallConfig { return g.config }

// ask waits for its turn and then calls once. The time taken counts from there.
func (g *gate) ask(ctx context.Context, q Query, once func(context.Context) ([]Hit, error)) (Result, error) {
	if err := q.Validate(); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	defer func() { <-g.slots }()
	if g.pace != nil {
		if err := g.pace.Wait(ctx); err != nil {
			return Result{}, causeOr(ctx, err)
		}
	}
	if n := g.silent.Load(); n >= g.mostSilent() {
		return Result{}, fmt.Errorf("query %s: not asked: %d queries in a row went without an answer", q.ID, n)
	}
	start := time.Now()
	hits, err := once(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("query %s: %w", q.ID, g.note(ctx, err))
	}
	g.silent.Store(0)
	result := Result{Took: time.Since(start)}
	result.Hits, result.Notices = tidy(hits, q.K)
	return result, nil
}

// mostSilent is one more round than a stumbling server needs.
func (g *gate) mostSilent() int64 { return int64(maxSilent + 2*g.config.Concurrency) }

// note counts queries without an answer.
func (g *gate) note(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTimeout):
		g.silent.Add(1)
		return fmt.Errorf("%w (%v)", err, g.config.Timeout)
	case errors.Is(err, errDown):
		g.silent.Add(1)
		return err
	}
	g.silent.Store(0)
	return err
}

// within gives a call its own deadline. The error of a call that missed it is
// errTimeout.
func (g *gate) within(ctx context.Context, call func(context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, g.config.Timeout, errTimeout)
	defer cancel()
	err := call(limited)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(limited), errTimeout) {
		return errTimeout
	}
	return err
}

// retrying calls up to Retries times more, while again says that it may help;
// the time that again gives is what the server asks to wait, 0 for no word.
func retrying[T any](ctx context.Context, c CallConfig, again func(error) (time.Duration, bool), call func() (T, error)) (T, error) {
	for attempt := 0; ; attempt++ {
		v, err := call()
		if err == nil || attempt >= c.Retries || ctx.Err() != nil {
			return v, err
		}
		after, ok := again(err)
		if !ok {
			return v, err
		}
		if err := httpretry.Wait(ctx, attempt, after); err != nil {
			return v, err
		}
	}
}

// sharing is a retriever that ends with another one, and has nothing to close.
type sharing struct{ Retriever }

// closers are what a retriever has opened beside itself.
type closers struct {
	mu  sync.Mutex
	all []func()
}

func (c *closers) add(end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, end)
}

func (c *closers) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.all {
		end()
	}
	c.all = nil
}

// errDown is the cause of a query whose server could not be reached.
var errDown = errors.New("no server answers")

// downFor says why no connection came about, without the addresses tried.
func downFor(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op
	}
	return fmt.Errorf("%w: %s", errDown, httpretry.Innermost(err))
}

// causeOr is why the context ended, or err if it did not.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
