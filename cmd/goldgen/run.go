package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type runOptions struct {
	sampleOptions
	modelOptions
}

func newRun(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run", Short: "Do it all: snapshot, sample, generate, judge, eval", GroupID: groupStart,
		Long: help("Runs every stage and scores the configured retrievers over the golden set. Interrupted or\n"+
			"killed, the same command goes on where it was; run twice, the second leaves the set as it is.",
			codeDone, codeFailed, codeUsage, codePartly, codeGate, codeInterrupted),
		Example: "  goldgen -C examples/quickstart run --dry-run\n" +
			"  goldgen -C examples/quickstart run\n" +
			"  goldgen -C examples/quickstart run -n 20 --seed 3 --json",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if err := o.sampleOptions.apply(p, cmd.Flags()); err != nil {
				return err
			}
			if err := o.modelOptions.apply(p, runStages(p)...); err != nil {
				return err
			}
			return a.runAll(cmd.Context(), p)
		},
	}
	o.addPlan(cmd.Flags())
	o.modelOptions.addFlags(cmd.Flags())
	a.allowExecFlag(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// runStages are the stages whose model the flags of run choose. A judge that
// is switched off stays so.
func runStages(p *pipeline.Project) []*pipeline.ModelConfig {
	stages := []*pipeline.ModelConfig{&p.Config.Generate.ModelConfig}
	if p.Config.Judge.Provider != pipeline.ProviderNone {
		stages = append(stages, &p.Config.Judge.ModelConfig)
	}
	return stages
}

func (a *app) runAll(ctx context.Context, p *pipeline.Project) error {
	done, err := p.Run(ctx)
	if err != nil {
		return err
	}
	if p.DryRun {
		return a.reportDryRun(ctx, p)
	}
	if a.json {
		if err := a.printJSON(done.Summary); err != nil {
			return err
		}
	} else if err := a.printRun(done); err != nil {
		return err
	}
	return errors.Join(leakNote(done.Evaluations...), failedNote(done.Evaluations...), partlyNote(done.Summary))
}

// printRun says first what was made and how far it can be trusted, then how it
// was come by, what retrieval scores, and what to do next.
func (a *app) printRun(done *pipeline.Done) error {
	if err := a.printCommitted(done.Summary, leakFields(done.Evaluations)...); err != nil {
		return err
	}
	for _, t := range []*report.Table{funnelTable(done.Generated.Summary), scoreTable(done.Evaluations)} {
		if len(t.Rows) == 0 {
			continue
		}
		fmt.Fprintln(a.stdout)
		if err := t.Write(a.stdout, a.style()); err != nil {
			return err
		}
	}
	for _, e := range done.Evaluations {
		if e.Result.Saturated {
			fmt.Fprintf(a.stderr, "goldgen: warning: %s scores so near 1 that this set cannot show a regression of it\n", report.Escape(e.Result.Retriever.Name))
		}
	}
	fmt.Fprintln(a.stdout)
	var paths []field
	for _, e := range done.Summary.Eval {
		paths = append(paths, field{"result", e.Retriever + ": " + e.Path})
	}
	return a.printFields(append(paths, next(done.Summary)...))
}

// leakFields name the retrievers that returned what the asker must not see.
func leakFields(evaluations []*pipeline.Evaluation) (fields []field) {
	for _, e := range evaluations {
		if n := len(e.Result.Leaks); n > 0 {
			fields = append(fields, field{"LEAKS", fmt.Sprintf("%s: %s that the asker must not see; goldgen eval --retriever %s lists them",
				e.Result.Retriever.Name, wording.Count(n, "result"), e.Result.Retriever.Name)})
		}
	}
	return fields
}

// next says what to do with a set.
func next(s pipeline.RunSummary) []field {
	var steps []string
	if s.Cases > 0 {
		steps = append(steps, "read what was asked: goldgen datasets show "+s.Golden.Ref+" --limit 20")
	}
	if s.Rejected > 0 {
		steps = append(steps, "see what was refused and why: goldgen datasets show "+s.Golden.Ref+" --rejects")
	}
	switch {
	case s.Cases == 0 && s.Calls.Made+s.Calls.Cached == 0: // refused before any model was asked
	case s.Cases == 0:
		steps = append(steps, "take a larger model: generate: {provider: ollama, model: ...} in goldgen.yaml")
	case s.Trust.Level == datasets.TrustNone:
		steps = append(steps, "have a model write the queries: generate: {provider: ollama, model: ...} in goldgen.yaml; goldgen doctor helps")
	case s.Trust.Judge == judge.Blind:
		steps = append(steps, "take a larger model as judge: judge: {provider: ollama, model: ...} in goldgen.yaml; queries stay in the cache")
	case s.Trust.Judge == judge.Untested:
		steps = append(steps, "make the set larger, so that its judge can be tested: goldgen run -n 60")
	}
	if s.Cases > 0 {
		steps = append(steps, "score a retriever of yours: goldgen eval --golden "+s.Golden.Ref+" --retriever exec:./my-search")
	}
	var fields []field
	for _, step := range steps {
		fields = append(fields, field{"next", step})
	}
	return fields
}

// scoreTable shows the retrievers by query type, each mean with its interval.
func scoreTable(evaluations []*pipeline.Evaluation) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "retriever", Max: 30}, {Name: "query type"}, {Name: "n", Right: true}}}
	if len(evaluations) == 0 {
		return t
	}
	t.Keys = 3
	names := report.Headline(evaluations[0].Result.Metrics)
	for _, name := range names {
		t.Columns = append(t.Columns, report.Column{Name: name, Right: true})
	}
	for _, e := range evaluations {
		r := e.Result
		for _, slice := range r.Slices.Get("query_type") {
			t.Add(scoreRow(r.Retriever.Name, slice.Value, slice.N, slice.Metrics, names)...)
		}
		t.Add(scoreRow(r.Retriever.Name, "all", r.Counts.Scored, r.Metrics, names)...)
	}
	return t
}

func scoreRow(retriever, slice string, n int, metrics eval.Metrics, names []string) []string {
	row := []string{retriever, slice, fmt.Sprint(n)}
	for _, name := range names {
		m, _ := metrics.Get(name)
		cell := "-"
		switch {
		case m.Mean != nil && m.Low != nil && m.High != nil:
			cell = fmt.Sprintf("%.3f [%.2f, %.2f]", *m.Mean, *m.Low, *m.High)
		case m.Mean != nil:
			cell = fmt.Sprintf("%.3f [too few]", *m.Mean)
		}
		row = append(row, cell)
	}
	return row
}

// field is a named line of a summary.
type field struct{ name, value string }

func (a *app) printFields(fields []field) error {
	for _, f := range fields {
		if err := report.Field(a.stdout, f.name, f.value, a.style()); err != nil {
			return err
		}
	}
	return nil
}

// printCommitted says what a stage wrote; more stands below the trust.
func (a *app) printCommitted(s pipeline.RunSummary, more ...field) error {
	state := "written"
	if !s.Changed {
		state = "unchanged, nothing written"
	}
	cases := fmt.Sprintf("%d, %d rejected", s.Cases, s.Rejected)
	if s.UnknownGrades > 0 {
		cases += fmt.Sprintf("; %s of their pools %s an unknown grade", wording.Count(s.UnknownGrades, "chunk"), wording.Pick(s.UnknownGrades, "has", "have"))
	}
	fields := append([]field{
		{"golden set", fmt.Sprintf("%s (%s), %s", s.Golden.Ref, s.Golden.Path, state)},
		{"trust", s.Trust.Level + ": " + s.Trust.Why},
	}, more...)
	return a.printFields(append(fields,
		field{"cases", cases},
		field{"model calls", fmt.Sprintf("%d made, %d cached, %d failed", s.Calls.Made, s.Calls.Cached, s.Calls.Failed)},
		field{"time", time.Duration(s.Seconds * float64(time.Second)).Round(10 * time.Millisecond).String()},
	))
}

// partlyNote ends with exit code 3 when units failed or a quota was not met. It
// says everything that is the matter.
func partlyNote(s pipeline.RunSummary) error {
	var why []string
	if err := shortfallNote(s.Shortfall); err != nil {
		why = append(why, err.Error())
	}
	blind := s.Trust.Judge == judge.Blind
	if blind {
		why = append(why, s.Trust.Why+"; the set keeps its source labels")
	}
	if s.Calls.Failed > 0 && s.FailedUnits > 0 {
		why = append(why, wording.Count(s.FailedUnits, "unit")+" failed; run again to ask again")
	}
	if s.Trust.Judge != "" && !blind && s.UnknownGrades > 0 {
		why = append(why, fmt.Sprintf("%s unknown; goldgen judge --retry-unknown asks again", wording.Count(s.UnknownGrades, "grade")+wording.Pick(s.UnknownGrades, " is", " are")))
	}
	if len(why) == 0 {
		return nil
	}
	return &codeError{code: exitPartly, why: strings.Join(why, "; ")}
}

func leakNote(evaluations ...*pipeline.Evaluation) error {
	n := 0
	for _, e := range evaluations {
		n += len(e.Result.Leaks)
	}
	if n == 0 {
		return nil
	}
	return &codeError{code: exitGate, why: wording.Count(n, "leak") + ": chunks were returned that the asker must not see"}
}
