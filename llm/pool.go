package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Endpoint is one server of a pool. Client or Embedder may be nil where the
// pool is not asked for it.
type Endpoint struct {
	Name     string // as shown in errors: an address without user and query
	Client   Client
	Embedder Embedder
}

// PoolOptions say when an endpoint is left alone.
type PoolOptions struct {
	Failures int           // in a row, after which it is left alone; 0 means 3
	Rest     time.Duration // for how long; 0 means 30 s
}

// Pool spreads calls over several servers of the same models: the least busy
// one first. A call that a server could not answer is tried on the others; a
// server that fails several times in a row is left alone for a while. A single
// endpoint is always asked.
type Pool struct {
	members []*member
	mu      sync.Mutex // guards busy of all members
}

type member struct {
	Endpoint
	busy    int
	breaker *gobreaker.CircuitBreaker[any]
}

// NewPool makes a pool of at least one endpoint.
func NewPool(endpoints []Endpoint, opts PoolOptions) (*Pool, error) {
	if len(endpoints) == 0 {
		return nil, errors.New("endpoints: none given")
	}
	if opts.Failures <= 0 {
		opts.Failures = 3
	}
	if opts.Rest <= 0 {
		opts.Rest = 30 * time.Second
	}
	p := &Pool{}
	for _, e := range endpoints {
		p.members = append(p.members, &member{Endpoint: e, breaker: newBreaker(e.Name, opts)})
	}
	return p, nil
}

func newBreaker(name string, opts PoolOptions) *gobreaker.CircuitBreaker[any] {
	return gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		Name:    name,
		Timeout: opts.Rest,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return int(c.ConsecutiveFailures) >= opts.Failures
		},
		IsSuccessful: func(err error) bool { return !endpointFailed(err) },
		IsExcluded:   func(err error) bool { return err != nil && KindOf(err) == "" },
	})
}

// endpointFailed tells what another server may do better from what every
// server would say.
func endpointFailed(err error) bool {
	switch KindOf(err) {
	case KindServerDown, KindServerGone, KindServerError, KindTimeout, KindRateLimited, KindNotTheProtocol:
		return true
	}
	return false
}

// Complete is that of Client.
func (p *Pool) Complete(ctx context.Context, req Request) (Reply, error) {
	return overPool(ctx, p, func(m *member) (Reply, error) { return m.Client.Complete(ctx, req) })
}

// Embed is that of Embedder.
func (p *Pool) Embed(ctx context.Context, req EmbedRequest) ([][]float32, error) {
	return overPool(ctx, p, func(m *member) ([][]float32, error) { return m.Embedder.Embed(ctx, req) })
}

func overPool[T any](ctx context.Context, p *Pool, call func(*member) (T, error)) (T, error) {
	if len(p.members) == 1 {
		return call(p.members[0])
	}
	var zero T
	var failed error
	tried := map[*member]bool{}
	for len(tried) < len(p.members) {
		m := p.enter(tried)
		tried[m] = true
		got, err := m.breaker.Execute(func() (any, error) { return call(m) })
		p.leave(m)
		if err == nil {
			return got.(T), nil
		}
		if ctx.Err() != nil {
			return zero, context.Cause(ctx)
		}
		if resting(err) {
			err = &Error{Kind: KindServerDown, Detail: "left alone after several failures"}
		}
		if !endpointFailed(err) {
			return zero, err
		}
		failed = errors.Join(failed, fmt.Errorf("endpoint %s: %w", m.Name, err))
	}
	return zero, fmt.Errorf("no endpoint answered: %w", failed)
}

func resting(err error) bool {
	return errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests)
}

// enter takes the least busy member that was not tried; one that rests only
// when there is no other. Equally busy ones are taken in the order given.
func (p *Pool) enter(tried map[*member]bool) *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *member
	for _, m := range p.members {
		if !tried[m] && (best == nil || m.before(best)) {
			best = m
		}
	}
	best.busy++
	return best
}

func (m *member) before(o *member) bool {
	mOpen, oOpen := m.breaker.State() == gobreaker.StateOpen, o.breaker.State() == gobreaker.StateOpen
	if mOpen != oOpen {
		return oOpen
	}
	return m.busy < o.busy
}

func (p *Pool) leave(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.busy--
}
