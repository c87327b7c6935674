package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type refreshOptions struct {
	pipeline.RefreshOptions
	sampleOptions
	modelOptions
	metrics string
}

func newRefresh(a *app) *cobra.Command {
	var o refreshOptions
	cmd := &cobra.Command{
		Use: "refresh [NAME]", Short: "Take a golden set along with its corpus: the nightly job", GroupID: groupStart,
		Long: help("Makes a snapshot of the corpus as it is now and compares it with the one that the newest version of the set is\n"+
			"of. Where neither it nor the query log changed, nothing is written and no model is asked. New queries of a log\n"+
			"join the set and wait for a person. Of another corpus the set is moved, what lost its\n"+
			"evidence is retired, new text is judged for the queries that are there, and new queries are written until\n"+
			"strata and types are filled again; then the configured retrievers are scored. The next version says how far the\n"+
			"corpus has drifted.\n\n"+
			"A corpus that lost half of its documents, or more, is refused without --accept-loss. One refresh of a set works\n"+
			"at a time. Interrupted, killed or out of its budget, the same command goes on where it was.",
			codeDone+", or nothing to do", codeFailed, codeUsage, codePartly+", or its budget ended before a version was made",
			codeGate, codeNotComparable, codeBusy, codeInterrupted),
		Example: "  goldgen -C examples/quickstart refresh --dry-run\n" +
			"  goldgen -C examples/quickstart refresh handbook --max-time 2h --json",
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Name = args[0]
			}
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
			done, err := a.refresh(cmd.Context(), p, o.RefreshOptions)
			return errors.Join(err, a.measured(cmd.Context(), p, &o, done, err))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.From, "from", "", "folder of the snapshot that the set was made over (default: the project has it)")
	f.BoolVar(&o.AcceptLoss, "accept-loss", false, "also where the corpus lost half of its documents, or more")
	f.StringVar(&o.metrics, "metrics", "", "file for Prometheus's textfile collector; whoever is refused as busy leaves it")
	o.addPlan(f)
	o.modelOptions.addFlags(f)
	a.allowExecFlag(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// measured writes how a refresh ended where metrics are asked for.
func (a *app) measured(ctx context.Context, p *pipeline.Project, o *refreshOptions, done *pipeline.Refreshed, ended error) error {
	if o.metrics == "" || p.DryRun || errors.Is(ended, pipeline.ErrBusy) {
		return nil
	}
	m := pipeline.RefreshMetrics{Name: cmp.Or(o.Name, p.Config.Name), Done: done, ExitCode: exitDone, Now: a.now()}
	if ended != nil {
		m.ExitCode = exitCode(ctx, ended)
	}
	return atomicfile.Write(o.metrics, 0o644, m.Write)
}

// refresh makes the next version and says so; done is nil where it did not come to
// its end.
func (a *app) refresh(ctx context.Context, p *pipeline.Project, o pipeline.RefreshOptions) (done *pipeline.Refreshed, err error) {
	defer func() { err = errors.Join(err, p.Close()) }()
	if done, err = p.Refresh(ctx, o); err != nil {
		return nil, err
	}
	if err := a.printRefreshed(done); err != nil {
		return done, err
	}
	if p.DryRun && !a.json {
		return done, a.reportDryRun(ctx, p)
	}
	return done, errors.Join(leakNote(done.Evaluations...), failedNote(done.Evaluations...), refreshNote(done))
}

func (a *app) printRefreshed(done *pipeline.Refreshed) error {
	if a.json {
		return a.printJSON(done)
	}
	if done.Drift == nil {
		if err := a.printFields([]field{{"golden set", done.Golden.Ref + ": nothing changed, nothing written"}}); err != nil {
			return err
		}
		return a.printRescored(done)
	}
	if err := a.printDrift(done.Drift); err != nil {
		return err
	}
	state := "written"
	if done.DryRun {
		state = "a dry run, nothing written"
	}
	err := a.printFields([]field{
		{"golden set", fmt.Sprintf("%s (%s), %s", done.Golden.Ref, done.Golden.Path, state)},
		{"trust", done.Trust.Level + ": " + done.Trust.Why},
		{"cases", fmt.Sprintf("%d active; %d kept, %d of them with other labels, %d retired, %d added", done.Active, done.Kept, done.Regraded, done.Retired, done.Added)},
		{"model calls", fmt.Sprintf("%d made, %d cached, %d failed", done.Calls.Made, done.Calls.Cached, done.Calls.Failed)},
	})
	if err != nil {
		return err
	}
	return a.printRescored(done)
}

// printRescored shows what the retrievers score on the cases of both versions, before
// and now, and on new ones.
func (a *app) printRescored(done *pipeline.Refreshed) error {
	if len(done.Eval) == 0 {
		return nil
	}
	t := report.Table{Columns: []report.Column{{Name: "retriever", Max: 30}, {Name: "cases"}, {Name: "n", Right: true}}, Keys: 3}
	names := report.Headline(done.Evaluations[0].Result.Metrics)
	for _, name := range names {
		t.Columns = append(t.Columns, report.Column{Name: name, Right: true})
	}
	for _, e := range done.Eval {
		if e.Before != nil {
			t.Add(scoreRow(e.Retriever, "in both, before", e.Before.Cases, e.Before.Metrics, names)...)
		}
		t.Add(scoreRow(e.Retriever, "in both, now", e.Common.Cases, e.Common.Metrics, names)...)
		if e.New.Cases > 0 {
			t.Add(scoreRow(e.Retriever, "new", e.New.Cases, e.New.Metrics, names)...)
		}
	}
	fmt.Fprintln(a.stdout)
	return t.Write(a.stdout, a.style())
}

// printDrift says how the corpus differs, by stratum.
func (a *app) printDrift(d *datasets.Drift) error {
	if d.Queries != "" {
		fmt.Fprintln(a.stdout, "the query log is another one")
	}
	t := report.Table{Columns: []report.Column{
		{Name: "stratum", Max: 40}, {Name: "added", Right: true}, {Name: "changed", Right: true}, {Name: "removed", Right: true}, {Name: "renamed", Right: true},
	}}
	for _, s := range d.Strata {
		t.Add(s.Stratum, fmt.Sprint(s.Added), fmt.Sprint(s.Changed), fmt.Sprint(s.Removed), fmt.Sprint(s.Renamed))
	}
	n := d.Documents
	t.Add("all documents", fmt.Sprint(n.Added), fmt.Sprint(n.Edited), fmt.Sprint(n.Gone+n.Reused), fmt.Sprint(n.Renamed))
	if err := t.Write(a.stdout, a.style()); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	for _, reason := range slices.Sorted(maps.Keys(d.Reasons)) {
		fmt.Fprintf(a.stdout, "retired, %s: %s\n", reason, wording.Count(d.Reasons[reason], "case"))
	}
	return nil
}

// refreshNote ends with exit code 3 when a refresh made less than it should have.
func refreshNote(done *pipeline.Refreshed) error {
	var why []string
	if err := shortfallNote(done.Shortfall); err != nil && done.Changed {
		why = append(why, err.Error())
	}
	if done.FailedUnits > 0 {
		why = append(why, wording.Count(done.FailedUnits, "unit")+" failed")
	}
	if len(why) == 0 {
		return nil
	}
	return &codeError{code: exitPartly, why: strings.Join(why, "; ")}
}
