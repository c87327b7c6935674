package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/pipeline"
)

// modelOptions are the flags of every command that asks a model.
type modelOptions struct {
	provider, model string
	endpoints       []string
	dryRun          bool
	retryUnknown    bool
	maxCalls        int
	maxTokens       int
	maxTime         time.Duration
}

func (o *modelOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.provider, "provider", "", "ollama, openai or builtin; wins over goldgen.yaml")
	f.StringVar(&o.model, "model", "", "the model's name; wins over goldgen.yaml")
	f.StringSliceVar(&o.endpoints, "endpoint", nil, "a server's address, repeatable; wins over goldgen.yaml")
	f.BoolVar(&o.dryRun, "dry-run", false, "ask nothing; say how many calls are cached and how many remain")
	f.BoolVar(&o.retryUnknown, "retry-unknown", false, "make new attempts where earlier replies could not be used")
	f.IntVar(&o.maxCalls, "max-calls", 0, "stop after this many model calls")
	f.IntVar(&o.maxTokens, "max-tokens", 0, "stop after this many tokens, in and out")
	f.DurationVar(&o.maxTime, "max-time", 0, "stop after this time, such as 2h")
}

// apply puts the flags over the configuration of the stages that it is given.
func (o *modelOptions) apply(p *pipeline.Project, stages ...*pipeline.ModelConfig) error {
	for _, m := range stages {
		o.applyTo(m)
	}
	if slices.Contains(stages, &p.Config.Judge.ModelConfig) && (o.provider != "" || o.model != "") {
		p.Config.Judge.Panel = nil // the model that a flag names judges alone
	}
	if len(o.endpoints) > 0 {
		p.Config.Endpoints = o.endpoints
		for _, m := range stages {
			m.Endpoints = nil
		}
		for i := range p.Config.Judge.Panel {
			p.Config.Judge.Panel[i].Endpoints = nil
		}
	}
	p.Limits = llm.Limits{Calls: o.maxCalls, Tokens: o.maxTokens, Time: o.maxTime}
	p.RetryUnknown = o.retryUnknown
	p.DryRun = o.dryRun
	if err := p.Limits.Validate(); err != nil {
		return usagef("%w", err)
	}
	if err := p.Config.Validate(); err != nil {
		return usagef("%w", err)
	}
	return nil
}

func (o *modelOptions) applyTo(m *pipeline.ModelConfig) {
	if o.provider != "" {
		m.Provider = o.provider
	}
	if o.model != "" {
		m.Model = o.model
		if o.provider == "" && !m.UsesModel() {
			m.Provider = pipeline.ProviderOllama
		}
	}
}

// reportDryRun prints what a run would ask for.
func (a *app) reportDryRun(ctx context.Context, p *pipeline.Project) error {
	d, err := p.DryRunReport(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(d)
	}
	_, err = fmt.Fprintf(a.stdout, "dry run: %d calls are cached, at least %d remain: about %d tokens in, at most %d out, %s\n",
		d.Cached, d.Remaining, d.TokensIn, d.TokensOut, d.TimeText())
	return err
}
