package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/judge"
)

// Committed is a version that a stage wrote, or found to be there already.
type Committed struct {
	Ref      datasets.Ref
	Changed  bool // false: the newest version already was this one
	Manifest datasets.Manifest
}

// Judge grades the candidates and commits the next version of the set.
func (p *Project) Judge(ctx context.Context, h Header, records []generate.Record) (*Committed, error) {
	b, err := p.pinnedBench(ctx, h.Pins.Corpus, "the candidates file")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	candidates, rejects := split(records)
	result, pin, err := p.grade(ctx, b, h, candidates, clicked(b.View, records), datasets.Draft{})
	if err != nil || p.DryRun {
		return nil, err
	}
	h.Pins.Judge = pin
	return p.commit(ctx, h, result, rejects)
}

// split separates the accepted cases from the rejects, each in plan order.
func split(records []generate.Record) (candidates []judge.Candidate, rejects []datasets.Reject) {
	for _, r := range records {
		if r.Case != nil {
			candidates = append(candidates, judge.Candidate{Case: *r.Case, Spare: r.Spare})
		}
		if r.Reject != nil {
			rejects = append(rejects, *r.Reject)
		}
	}
	return candidates, rejects
}

// grade judges candidates, which are to join what stands beside them.
func (p *Project) grade(ctx context.Context, b *bench, h Header, candidates []judge.Candidate, extra map[string][]string, beside datasets.Draft) (judge.Result, *datasets.ModelPin, error) {
	c := p.Config.Judge
	built := (h.Pins.Generator == nil || h.Pins.Generator.Provider == ProviderBuiltin) && !allLogged(candidates)
	labels := c.labelModel(built, beside)
	deps, pin, done, err := p.openJudge(ctx, b, h.Pins.Seed, labels)
	if err != nil {
		return judge.Result{}, nil, err
	}
	defer done()
	if c.Labels == LabelsAuto && !built && len(beside.Cases) == 0 && !p.DryRun {
		p.sayLabels(labels)
	}
	p.Progress.Begin("judge", len(candidates))
	defer p.Progress.End()
	options := p.judgeOptions(h.Pins.Seed, deps.depth)
	options.Extra, options.Built, options.Beside = extra, built, beside.Cases
	options.Finish = func(r judge.Result) (judge.Result, error) { return p.finish(ctx, deps, options, r) }
	result, err := judge.Run(ctx, candidates, deps.Deps, options)
	if err == nil {
		p.sayOutside(deps, result.Trust)
	}
	return result, pin, err
}

// finish labels what a judge has graded, and picks the hard negatives.
func (p *Project) finish(ctx context.Context, deps judgeDeps, options judge.Options, r judge.Result) (judge.Result, error) {
	if failed := r.Unknown[judge.UnknownCallFailed]; failed > 0 && failed == r.Pairs && !p.DryRun {
		return r, fmt.Errorf("judge: every call failed: none of %d pairs was graded", failed)
	}
	var err error
	if r.Cases, r.Trust, err = p.label(ctx, deps, options, r.Cases, r.Trust); err != nil {
		return r, err
	}
	negatives(deps.View, judge.RelevantGrade, r.Trust).Fill(r.Cases)
	return r, nil
}

// negatives says what the hard negatives of a set are.
func negatives(view judge.CorpusView, relevantGrade int, trust datasets.Trust) judge.Negatives {
	return judge.Negatives{View: view, RelevantGrade: relevantGrade, JudgePassed: trust.Judge == judge.Passed}
}

func (p *Project) judgeOptions(seed int64, depth map[string]int) judge.Options {
	concurrency := 1
	if p.Config.Judge.UsesModel() {
		concurrency = p.concurrency(p.Config.Judge.ModelConfig)
	}
	return judge.Options{
		Pool:        judge.PoolOptions{Depth: depth, Seed: seed},
		Concurrency: concurrency,
		Progress:    p.judgeProgress(),
	}
}

func (p *Project) judgeProgress() func(judge.Progress) {
	var last judge.Progress
	calls := p.callSteps()
	return func(now judge.Progress) {
		if now.Total > last.Total && last.Total > 0 {
			p.Progress.Grow(now.Total - last.Total)
		}
		step := calls()
		step.Done, step.Unknown = now.Cases-last.Cases, now.Unknown-last.Unknown
		p.Progress.Step(step)
		last = now
	}
}

// judgeDeps are what judging works with, and how deep each member is pooled.
type judgeDeps struct {
	judge.Deps
	depth    map[string]int
	profile  *judge.Profile // of the label model, nil without one
	embedder string         // digest of the embedding of dense, "" without one
}

// openJudge makes the judge of the configured provider over a bench, and the label
// model that labels names.
func (p *Project) openJudge(ctx context.Context, b *bench, seed int64, labels string) (judgeDeps, *datasets.ModelPin, func() error, error) {
	nothing := func() error { return nil }
	deps := judgeDeps{Deps: judge.Deps{View: b.View}}
	c := p.Config.Judge
	if c.Provider == ProviderNone && labels == LabelsNone {
		return deps, nil, nothing, nil
	}
	if err := p.openPool(ctx, b, labels, &deps); err != nil || c.Provider == ProviderNone {
		return deps, nil, nothing, err
	}
	if c.Provider == ProviderBuiltin {
		p.Log.Info("judge: no model configured, provider builtin: labels without a model; the set's trust is not raised by them")
		deps.Judge = judge.NewBuiltin()
		if err := deps.checkProfile(); err != nil {
			return deps, nil, nothing, err
		}
		return deps, &datasets.ModelPin{Provider: ProviderBuiltin, Model: deps.Judge.Name, Pool: deps.depth}, nothing, nil
	}
	members, err := p.openMembers(ctx, seed, asItIs)
	if err != nil {
		return deps, nil, nothing, err
	}
	pin, err := members.judge(c, &deps)
	if err == nil {
		err = deps.checkProfile()
	}
	if err != nil {
		return deps, nil, nothing, errors.Join(err, members.close())
	}
	pin.Pool = deps.depth
	return deps, pin, members.close, nil
}

// commit writes the version that the judged cases make.
func (p *Project) commit(ctx context.Context, h Header, r judge.Result, rejects []datasets.Reject) (*Committed, error) {
	rejects = append(slices.Clone(rejects), r.Rejects...)
	funnel := map[string]int{}
	for _, reject := range rejects {
		funnel[reject.Reason]++
	}
	shortfall := append(append([]datasets.Shortfall{}, h.Shortfall...), r.Shortfall...)
	draft := datasets.Draft{Cases: r.Cases, Rejects: rejects, Manifest: datasets.Manifest{
		Why: "generated and judged", RelevantGrade: judge.RelevantGrade, Pins: h.Pins, Funnel: funnel, Shortfall: shortfall, Difficulty: h.Difficulty,
		Trust: r.Trust, Missed: r.Missed, Coverage: h.Coverage, Notes: r.Notes, Costs: p.costs(),
	}}
	return p.writeMade(ctx, h.Name, draft)
}

func (p *Project) write(ctx context.Context, name string, draft datasets.Draft) (*Committed, error) {
	store := p.Store()
	ref, changed, err := store.Write(ctx, name, draft)
	if err != nil {
		return nil, err
	}
	set, err := store.Load(ref.Path)
	if err != nil {
		return nil, err
	}
	return &Committed{Ref: ref, Changed: changed, Manifest: set.Manifest}, nil
}
