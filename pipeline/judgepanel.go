package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/llm"
)

// members are the models that judge: one, or those of a panel.
type members struct {
	judges []judge.Judge
	pins   []datasets.ModelPin
	closes []func() error
}

func (m *members) close() error {
	var errs []error
	for _, f := range m.closes {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// asItIs leaves a model's client alone.
func asItIs(c llm.Client) llm.Client { return c }

// openMembers connects the configured judge, or each member of its panel, each
// through wrap.
func (p *Project) openMembers(ctx context.Context, seed int64, wrap func(llm.Client) llm.Client) (*members, error) {
	c := p.Config.Judge
	configs := c.Panel
	if len(configs) == 0 {
		configs = []PanelMember{{ModelConfig: c.ModelConfig, Ask: c.Ask}}
	}
	out := &members{}
	for _, config := range configs {
		if err := p.openMember(ctx, out, config, seed, wrap); err != nil {
			return nil, errors.Join(err, out.close())
		}
	}
	return out, nil
}

func (p *Project) openMember(ctx context.Context, m *members, c PanelMember, seed int64, wrap func(llm.Client) llm.Client) error {
	stack, err := p.openModel(ctx, c.ModelConfig)
	if err != nil {
		return fmt.Errorf("judge: %w", err)
	}
	m.closes = append(m.closes, stack.Close)
	model, err := judge.NewModel(wrap(stack.Client), judge.ModelOptions{
		Model: stack.Model, NumCtx: c.NumCtx, NumThread: c.NumThread, Seed: seed, Temperature: c.Temperature,
		RetryUnknown: p.RetryUnknown, Ask: c.Ask, Prompts: p.Prompts,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	pin, err := pinOf(stack.Model, c.options(seed), model.Prompts())
	if err != nil {
		return err
	}
	m.judges, m.pins = append(m.judges, judge.Judge{Grader: model, Name: model.Name()}), append(m.pins, *pin)
	return nil
}

// judge puts the one judge, or the panel, into deps and says what is pinned.
func (m *members) judge(c JudgeConfig, deps *judgeDeps) (*datasets.ModelPin, error) {
	if len(m.judges) == 1 {
		deps.Judge = m.judges[0]
		return &m.pins[0], nil
	}
	var err error
	if deps.Judge, err = judge.NewPanel(judge.Panel{Members: m.judges, Combine: c.Combine}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return &datasets.ModelPin{Provider: ProviderPanel, Model: deps.Judge.Name, Panel: m.pins}, nil
}
