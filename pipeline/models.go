package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/connect"
)

// models is what the stages of one run share: the cache, the budget, and the
// count of calls.
type models struct {
	cache   *llm.Cache
	budget  *llm.Budget
	counter *llm.Counter
	dry     *llm.DryRun
	lanes   map[llm.Model]int // calls in flight at once, by model
	began   time.Time
}

// Calls says what the run has cost so far.
func (p *Project) Calls() llm.Calls { return p.models.counter.Calls() }

// Close writes what the cache still holds. A Project that asked no model holds
// nothing.
func (p *Project) Close() error {
	if p.models.cache == nil {
		return nil
	}
	err := p.models.cache.Close()
	p.models.cache = nil
	return err
}

// begin opens what stages share, once.
func (p *Project) begin(ctx context.Context) error {
	m := &p.models
	if m.cache != nil {
		return nil
	}
	cache, err := llm.OpenCache(ctx, p.CachePath(), p.Now)
	if err != nil {
		return err
	}
	m.cache, m.counter, m.began = cache, &llm.Counter{}, p.Now()
	m.budget = llm.NewBudget(p.Limits, p.Now)
	if p.DryRun {
		m.dry = &llm.DryRun{}
	}
	return nil
}

// open connects a model, or the embedder, behind the shared cache and budget.
func (p *Project) open(ctx context.Context, cfg connect.Config, own []string) (*connect.Stack, error) {
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	endpoints, err := p.endpoints(own, cfg.Provider)
	if err != nil {
		return nil, err
	}
	key, err := p.apiKey()
	if err != nil {
		return nil, err
	}
	s := p.Config.Server
	cfg.Endpoints, cfg.APIKey = endpoints, key
	cfg.Rate, cfg.Timeout, cfg.KeepAlive, cfg.Retries = s.Rate, s.Timeout, s.KeepAlive, s.Retries
	cfg.Cache, cfg.Budget, cfg.Counter, cfg.DryRun = p.models.cache, p.models.budget, p.models.counter, p.models.dry
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	stack, err := connect.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if p.models.lanes == nil {
		p.models.lanes = map[llm.Model]int{}
	}
	p.models.lanes[stack.Model] = stack.Concurrency
	if stack.Seen.FromCache {
		p.Log.Warn(fmt.Sprintf("no server of model %s answers; replies come from the cache, of the model seen %s",
			cfg.Model, stack.Seen.At.Format(time.DateTime)))
	}
	return stack, nil
}

func (p *Project) openModel(ctx context.Context, m ModelConfig) (*connect.Stack, error) {
	return p.open(ctx, connect.Config{
		Provider: m.Provider, Model: m.Model, Revision: m.Revision, Concurrency: m.Concurrency,
	}, m.Endpoints)
}

// options are what every call of a stage is sent with.
func (m ModelConfig) options(seed int64) llm.Options {
	return llm.Options{
		NumCtx: m.NumCtx, NumPredict: m.NumPredict, NumThread: m.NumThread, Temperature: m.Temperature, Seed: seed,
	}
}

// apiKey reads the key of a server from the environment or a file; it never
// comes from the YAML.
func (p *Project) apiKey() (string, error) {
	if p.Config.Server.KeyFile == "" {
		return p.Getenv(p.Config.Server.KeyEnv), nil
	}
	data, err := os.ReadFile(p.Path(p.Config.Server.KeyFile))
	if err != nil {
		return "", fmt.Errorf("%w: server.key_file: %w", ErrConfig, err)
	}
	return strings.TrimSpace(string(data)), nil
}

func (p *Project) endpoints(own []string, provider string) ([]string, error) {
	for _, list := range [][]string{own, p.Config.Endpoints} {
		if len(list) > 0 {
			return list, nil
		}
	}
	if provider == ProviderOllama {
		return ollamaHost(p.Getenv("OLLAMA_HOST")), nil
	}
	return nil, hinted("add to goldgen.yaml: endpoints: [http://127.0.0.1:8080/v1]",
		"%w: provider %s needs endpoints", ErrConfig, provider)
}

// ollamaHost reads the variable that Ollama itself obeys; nil is its default.
func ollamaHost(env string) []string {
	switch {
	case env == "":
		return nil
	case !strings.Contains(env, "://"):
		env = "http://" + env
	}
	return []string{env}
}

// pinOf records which model did a stage's work, and how it was asked.
func pinOf(m llm.Model, options llm.Options, prompts map[string]string) (*datasets.ModelPin, error) {
	raw, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	return &datasets.ModelPin{
		Provider: m.Provider, Model: m.Name, Digest: m.Digest, Revision: m.Revision, Options: raw, Prompts: prompts,
	}, nil
}

// ask says how unusable replies are dealt with.
func (p *Project) ask() llm.AskOptions { return llm.AskOptions{RetryUnknown: p.RetryUnknown} }

// DryRunReport says what a run would ask for. Remaining is a lower bound: what
// is asked next can depend on a reply that is not there yet.
type DryRunReport struct {
	Cached    int      `json:"cached"`
	Remaining int      `json:"remaining"`
	TokensIn  int      `json:"tokens_in"`
	TokensOut int      `json:"tokens_out_max"`
	Seconds   *float64 `json:"seconds"` // by the pace of cached replies, without embeddings; null unknown
}

// TimeText is the time in words.
func (d DryRunReport) TimeText() string {
	if d.Seconds == nil {
		return "time unknown before the model's first call"
	}
	return "about " + time.Duration(*d.Seconds*float64(time.Second)).Round(time.Second).String()
}

// DryRunReport sums up a dry run.
func (p *Project) DryRunReport(ctx context.Context) (DryRunReport, error) {
	if p.models.dry == nil {
		return DryRunReport{Seconds: new(float64)}, nil
	}
	missed := p.models.dry.Missed()
	seconds, err := p.remainingSeconds(ctx)
	return DryRunReport{
		Cached: p.Calls().Cached, Remaining: missed.Calls, TokensIn: missed.TokensIn, TokensOut: missed.TokensOut, Seconds: seconds,
	}, err
}

// remainingSeconds takes the pace of each model from its cached replies; nil
// where one has none.
func (p *Project) remainingSeconds(ctx context.Context) (*float64, error) {
	total := 0.0
	for model, calls := range p.models.dry.Replies() {
		pace, ok, err := p.models.cache.Pace(ctx, model)
		if err != nil || !ok {
			return nil, err
		}
		total += float64(calls) * pace.Seconds() / float64(max(1, p.models.lanes[model]))
	}
	return &total, nil
}

// costs are what a version's manifest records outside of its digest.
func (p *Project) costs() datasets.Costs {
	c := p.Calls()
	return datasets.Costs{
		CallsMade: c.Made, CallsCached: c.Cached, CallsFailed: c.Failed, TokensIn: c.TokensIn, TokensOut: c.TokensOut,
		Seconds: p.seconds(),
	}
}

func (p *Project) seconds() float64 {
	if p.models.began.IsZero() {
		return 0
	}
	return p.Now().Sub(p.models.began).Seconds()
}

// isDry reports an error that only says that nothing was asked.
func isDry(err error) bool { return errors.Is(err, llm.ErrDryRun) }
