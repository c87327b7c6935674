package pipeline

import (
	"bytes"
	"context"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/sample"
)

// Done is what a run made.
type Done struct {
	Summary     RunSummary
	Generated   *Generated
	Evaluations []*Evaluation
}

// RunSummary is the answer of `goldgen run --json` and `goldgen judge --json`.
type RunSummary struct {
	Golden        GoldenRef            `json:"golden"`
	Changed       bool                 `json:"changed"`
	Cases         int                  `json:"cases"`
	Active        int                  `json:"active"`
	Rejected      int                  `json:"rejected"`
	UnknownGrades int                  `json:"unknown_grades"`
	Shortfall     []datasets.Shortfall `json:"shortfall"`
	Trust         datasets.Trust       `json:"trust"`
	Calls         llm.Calls            `json:"calls"`
	FailedUnits   int                  `json:"failed_units"`
	Eval          []EvalRef            `json:"eval"`
	Seconds       float64              `json:"seconds"`
}

// GoldenRef names a version for scripts.
type GoldenRef struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Ref     string `json:"ref"`
	Path    string `json:"path"`
	Digest  string `json:"digest"`
}

// EvalRef names a result.
type EvalRef struct {
	Retriever string `json:"retriever"`
	Path      string `json:"path"`
}

// Run goes through all stages and scores every configured retriever. Records
// pass from stage to stage in the form that a pipe has, so that both ways give
// the same bytes.
func (p *Project) Run(ctx context.Context) (*Done, error) {
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	if _, _, err := p.MakeSnapshot(ctx, ""); err != nil {
		return nil, err
	}
	header, rows, err := p.Sample(ctx, "")
	if err != nil {
		return nil, err
	}
	if header, rows, err = piped[sample.Row](header, rows); err != nil {
		return nil, err
	}
	g, err := p.Generate(ctx, header, rows)
	if err != nil {
		return nil, err
	}
	if g.Header, g.Records, err = piped[generate.Record](g.Header, g.Records); err != nil {
		return nil, err
	}
	committed, err := p.Judge(ctx, g.Header, g.Records)
	if err != nil || p.DryRun {
		return nil, err
	}
	done := &Done{Generated: g}
	if done.Evaluations, err = p.evalAll(ctx, committed); err != nil {
		return nil, err
	}
	done.Summary = p.Summary(committed, done.Evaluations)
	return done, nil
}

// piped sends records through the form of a stage file.
func piped[T any](h Header, records []T) (Header, []T, error) {
	var pipe bytes.Buffer
	if err := WriteStage(&pipe, h, records); err != nil {
		return h, nil, err
	}
	return ReadStage[T](&pipe, "pipe", h.Kind)
}

// evalAll scores the configured retrievers over the version.
func (p *Project) evalAll(ctx context.Context, c *Committed) ([]*Evaluation, error) {
	set, err := p.Store().Load(c.Ref.Path)
	if err != nil {
		return nil, err
	}
	b, err := p.pinnedBench(ctx, set.Manifest.Pins.Corpus, "golden set "+c.Ref.String())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	var out []*Evaluation
	if c.Manifest.Counts.Active == 0 {
		p.Log.Warn("no case was kept, so there is nothing to score: goldgen datasets show " + c.Ref.String() + " --rejects says why")
		return nil, nil
	}
	for _, retriever := range p.Config.Eval.Retrievers {
		opts := EvalOptions{Golden: c.Ref.Path, Retriever: retriever}
		p.fillEval(&opts)
		e, err := p.evalOn(ctx, b, set, opts)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Summary joins what a version holds with what making it cost.
func (p *Project) Summary(c *Committed, evaluations []*Evaluation) RunSummary {
	m := c.Manifest
	s := RunSummary{
		Golden:  GoldenRef{Name: c.Ref.Name, Version: c.Ref.Version, Ref: c.Ref.String(), Path: c.Ref.Path, Digest: c.Ref.Digest},
		Changed: c.Changed, Cases: m.Counts.Cases, Active: m.Counts.Active, Rejected: m.Counts.Rejected,
		UnknownGrades: m.Counts.UnknownGrades, Shortfall: m.Shortfall, Trust: m.Trust,
		Calls: p.Calls(), FailedUnits: m.Funnel[generate.ReasonCallFailed], Seconds: p.seconds(),
	}
	s.Eval = []EvalRef{}
	if s.Shortfall == nil {
		s.Shortfall = []datasets.Shortfall{}
	}
	for _, e := range evaluations {
		s.Eval = append(s.Eval, EvalRef{Retriever: e.Result.Retriever.Name, Path: e.Path})
	}
	return s
}
