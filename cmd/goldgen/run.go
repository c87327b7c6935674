package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type runOptions struct {
	sampleOptions
	modelOptions
	allowExec bool
}

func newRun(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run", Short: "Do it all: snapshot, sample, generate, judge, eval", GroupID: groupStart,
		Long: help("Runs every stage and scores the configured retrievers over the golden set. Interrupted or\n"+
			"killed, the same command goes on where it was; run twice, the second writes nothing new.",
			codeDone, codeFailed, codeUsage, codePartly, codeGate, codeInterrupted),
		Example: "  goldgen -C examples/quickstart run",
		Args:    usageArgs(cobra.NoArgs),
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
			return a.runAll(cmd.Context(), p, o)
		},
	}
	o.addPlan(cmd.Flags())
	o.modelOptions.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.allowExec, "allow-exec", false, "let retrievers of goldgen.yaml start commands where CI is set")
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

func (a *app) runAll(ctx context.Context, p *pipeline.Project, o runOptions) error {
	done, err := p.Run(ctx, pipeline.RunOptions{AllowExec: o.allowExec})
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
	if err := leakNote(done.Evaluations...); err != nil {
		return err
	}
	return partlyNote(done.Summary)
}

func (a *app) printRun(done *pipeline.Done) error {
	if err := funnelTable(done.Generated.Summary).Write(a.stdout, a.style()); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	if err := scoreTable(done.Evaluations).Write(a.stdout, a.style()); err != nil {
		return err
	}
	for _, e := range done.Evaluations {
		if e.Result.Saturated {
			fmt.Fprintf(a.stderr, "goldgen: warning: %s scores so near 1 that this set cannot show a regression of it\n", report.Escape(e.Result.Retriever.Name))
		}
	}
	fmt.Fprintln(a.stdout)
	return a.printCommitted(done.Summary)
}

// scoreTable shows the retrievers by query type, each mean with its interval.
func scoreTable(evaluations []*pipeline.Evaluation) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "retriever", Max: 30}, {Name: "query type"}, {Name: "n", Right: true}}}
	if len(evaluations) == 0 {
		return t
	}
	names := shownMetrics(evaluations[0].Result.Metrics)
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

// shownMetrics leaves out precision, which a set with one relevant chunk a case
// bounds at 1/k, and judged.
func shownMetrics(all eval.Metrics) []string {
	var names []string
	for _, m := range all {
		if !strings.HasPrefix(m.Name, "precision") && !strings.HasPrefix(m.Name, "judged") && m.Name != "ndcg@1" {
			names = append(names, m.Name)
		}
	}
	return names[:min(6, len(names))]
}

func scoreRow(retriever, slice string, n int, metrics eval.Metrics, names []string) []string {
	row := []string{retriever, slice, fmt.Sprint(n)}
	for _, name := range names {
		m, _ := metrics.Get(name)
		cell := "-"
		if m.Mean != nil {
			cell = fmt.Sprintf("%.3f", *m.Mean)
		}
		if m.Low != nil && m.High != nil {
			cell += fmt.Sprintf(" [%.2f, %.2f]", *m.Low, *m.High)
		}
		row = append(row, cell)
	}
	return row
}

func (a *app) printCommitted(s pipeline.RunSummary) error {
	t := &report.Table{Columns: []report.Column{{Name: "golden set"}, {Name: "value"}}}
	state := "written"
	if !s.Changed {
		state = "unchanged, nothing written"
	}
	t.Add("reference", s.Golden.Ref)
	t.Add("state", state)
	t.Add("path", s.Golden.Path)
	t.Add("cases", fmt.Sprint(s.Cases))
	t.Add("rejected", fmt.Sprint(s.Rejected))
	t.Add("unknown grades", fmt.Sprint(s.UnknownGrades))
	t.Add("trust", s.Trust.Level+": "+s.Trust.Why)
	for _, e := range s.Eval {
		t.Add("result "+e.Retriever, e.Path)
	}
	t.Add("model calls", fmt.Sprintf("%d made, %d cached, %d failed", s.Calls.Made, s.Calls.Cached, s.Calls.Failed))
	t.Add("time", time.Duration(s.Seconds*float64(time.Second)).Round(10*time.Millisecond).String())
	return t.Write(a.stdout, a.style())
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
		why = append(why, fmt.Sprintf("%d units failed; run again to ask them again", s.FailedUnits))
	}
	if s.Trust.Judge != "" && !blind && s.UnknownGrades > 0 {
		why = append(why, fmt.Sprintf("%d grades are unknown; goldgen judge --retry-unknown asks again", s.UnknownGrades))
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
	return &codeError{code: exitGate, why: fmt.Sprintf("%d leaks: chunks were returned that the asker must not see", n)}
}
