// Package connect joins llm's wrappers and a provider into one stack:
// Cached(Budget(Counted(Pool(Limited(Retry(client)))))).
package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/ollama"
	"github.com/goldgen/goldgen/llm/openai"
)

// Config says which model is asked, where, and how gently.
type Config struct {
	Provider    string        // ollama or openai
	Model       string        // its name on the servers
	Revision    string        // part of the model's identity where the server has no digest
	Endpoints   []string      // addresses; for ollama, none means its default
	Concurrency int           // calls in flight at one endpoint; 0 means 2
	Rate        float64       // requests a second at one endpoint; 0 means no limit
	Timeout     time.Duration // of one attempt; 0 means 10 minutes
	Retries     int           // further attempts; 0 means 4, negative none
	KeepAlive   time.Duration // ollama: how long the model stays loaded; 0 means the server's own
	APIKey      string        // openai: from the environment or a file, never shown
	BatchTexts  int           // texts in one embedding call; 0 means 32
	WaitMin     time.Duration // before the first retry; 0 means 500 ms
	WaitMax     time.Duration // cap of waits; 0 means 60 s

	// CachePath is opened unless Cache is given. Stages of one run share a
	// cache, a budget and a counter by handing them in.
	CachePath string
	Cache     *llm.Cache
	Budget    *llm.Budget
	Counter   *llm.Counter
	DryRun    *llm.DryRun // where set, no server is called
}

// Validate names the field that cannot be used.
func (c Config) Validate() error {
	switch {
	case c.Provider != "ollama" && c.Provider != "openai":
		return fmt.Errorf("provider: %q is not one of ollama, openai", c.Provider)
	case strings.TrimSpace(c.Model) == "":
		return errors.New("model: empty name")
	case c.Provider == "openai" && len(c.Endpoints) == 0:
		return errors.New("endpoints: provider openai needs at least one")
	case c.Concurrency < 0:
		return fmt.Errorf("concurrency: %d is negative", c.Concurrency)
	case c.Rate < 0:
		return fmt.Errorf("rate: %v is negative", c.Rate)
	case c.Timeout < 0:
		return fmt.Errorf("timeout: %s is negative", c.Timeout)
	case c.Cache == nil && c.CachePath == "":
		return errors.New("cache: no path")
	}
	for i, e := range c.Endpoints {
		u, err := url.Parse(e)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("endpoints: entry %d is no http address", i)
		}
	}
	return nil
}

func (c Config) withDefaults() Config {
	if len(c.Endpoints) == 0 {
		c.Endpoints = []string{ollama.DefaultEndpoint}
	}
	if c.Concurrency == 0 {
		c.Concurrency = 2
	}
	if c.Counter == nil {
		c.Counter = &llm.Counter{}
	}
	if c.Budget == nil {
		c.Budget = llm.NewBudget(llm.Limits{}, nil)
	}
	return c
}

// Stack is a model behind all wrappers. Client and Embedder may be used
// concurrently; Concurrency calls keep all endpoints busy.
type Stack struct {
	Client      *llm.CachedClient
	Embedder    llm.Embedder
	Model       llm.Model
	Seen        llm.Seen // when the model's digest was seen, and whether from the cache
	Cache       *llm.Cache
	Counter     *llm.Counter
	Concurrency int

	ownsCache bool
	transport []*http.Client
}

// server is what both providers' clients can do.
type server interface {
	llm.Client
	llm.Embedder
	llm.Resolver
}

// Open builds the stack and finds out which model the name stands for. When no
// server can be reached, the model seen last is taken (Seen.FromCache); with
// none seen it is an error.
func Open(ctx context.Context, cfg Config) (*Stack, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Stack{Cache: cfg.Cache, Counter: cfg.Counter, Concurrency: cfg.Concurrency * len(cfg.Endpoints)}
	if s.Cache == nil {
		cache, err := llm.OpenCache(ctx, cfg.CachePath, nil)
		if err != nil {
			return nil, err
		}
		s.Cache, s.ownsCache = cache, true
	}
	if err := s.build(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stack) build(ctx context.Context, cfg Config) error {
	var endpoints []llm.Endpoint
	var resolvers []llm.Resolver
	for _, address := range cfg.Endpoints {
		srv, err := s.dial(cfg, address)
		if err != nil {
			return err
		}
		resolvers = append(resolvers, srv)
		endpoints = append(endpoints, gentle(cfg, address, srv))
	}
	seen, err := llm.ResolveModel(ctx, s.Cache, cfg.Provider, cfg.Model, resolvers...)
	if cfg.DryRun != nil && llm.KindOf(err) == llm.KindServerDown {
		// Nothing can be cached of a model that was never seen.
		seen, err = llm.Seen{Model: llm.Model{Provider: cfg.Provider, Name: cfg.Model}}, nil
	}
	if err != nil {
		return err
	}
	s.Seen, s.Model = seen, seen.Model
	if s.Model.Digest == "" {
		s.Model.Revision = cfg.Revision
	}
	pool, err := llm.NewPool(endpoints, llm.PoolOptions{})
	if err != nil {
		return err
	}
	s.wrap(cfg, pool, pool)
	return nil
}

// wrap puts what the endpoints share above them. A dry run stands in the place
// of the servers.
func (s *Stack) wrap(cfg Config, client llm.Client, embedder llm.Embedder) {
	if cfg.DryRun != nil {
		client, embedder = cfg.DryRun, cfg.DryRun
	}
	s.Client = llm.Cached(cfg.Budget.Client(s.Counter.Client(client)), s.Cache)
	s.Client.Counter = s.Counter
	embeddings := llm.CachedEmbedder(cfg.Budget.Embedder(s.Counter.Embedder(embedder)), s.Cache)
	embeddings.Counter, embeddings.Batch = s.Counter, cfg.BatchTexts
	s.Embedder = embeddings
}

func (s *Stack) dial(cfg Config, address string) (server, error) {
	client := llm.NewHTTPClient(llm.TransportConfig{
		Timeout: cfg.Timeout, Retries: cfg.Retries, Rate: cfg.Rate,
		Connections: cfg.Concurrency, WaitMin: cfg.WaitMin, WaitMax: cfg.WaitMax,
	})
	s.transport = append(s.transport, client)
	if cfg.Provider == "openai" {
		return openai.New(openai.Config{Endpoint: address, APIKey: cfg.APIKey, HTTP: client})
	}
	return ollama.New(ollama.Config{Endpoint: address, HTTP: client, KeepAlive: cfg.KeepAlive})
}

// gentle wraps one server in its own limits.
func gentle(cfg Config, address string, srv server) llm.Endpoint {
	limit := llm.NewLimiter(cfg.Concurrency)
	retry := llm.Retry{Times: 2, Wait: 500 * time.Millisecond}
	if cfg.WaitMin > 0 {
		retry.Wait = cfg.WaitMin
	}
	return llm.Endpoint{
		Name:     llm.RedactURL(address),
		Client:   limit.Client(retry.Client(srv)),
		Embedder: limit.Embedder(retry.Embedder(srv)),
	}
}

// Close writes what the cache still holds, if the stack opened it, and closes
// connections.
func (s *Stack) Close() error {
	for _, c := range s.transport {
		c.CloseIdleConnections()
	}
	if !s.ownsCache {
		return s.Cache.Flush()
	}
	return s.Cache.Close()
}
