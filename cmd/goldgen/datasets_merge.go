package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

func newDatasetsMerge(a *app) *cobra.Command {
	var o pipeline.MergeOptions
	var ours, theirs bool
	cmd := &cobra.Command{
		Use: "merge A B", Short: "Join two versions that were made of the same one",
		Long: help("Writes as the next version of A what A and B made of their common ancestor, case by case and field\n"+
			"by field. Where both changed the same in different ways that is a conflict: all are named, and nothing\n"+
			"is written unless --ours or --theirs says who wins. B may be a folder, such as that of another checkout.",
			codeDone, "1 could not run, or conflicts", codeUsage, "5 over different corpora"),
		Example: "  goldgen -C examples/quickstart datasets merge handbook handbook@v1\n" +
			"  goldgen -C examples/quickstart datasets merge handbook golden/handbook/v0001 --ours",
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case ours && theirs:
				return usagef("datasets merge: --ours and --theirs: one of them")
			case ours:
				o.Prefer = datasets.PreferOurs
			case theirs:
				o.Prefer = datasets.PreferTheirs
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			o.Ours, o.Theirs = args[0], args[1]
			done, err := p.Merge(cmd.Context(), o)
			if errors.Is(err, datasets.ErrConflicts) {
				return errors.Join(err, a.printMergeConflicts(done.Report))
			}
			if err != nil {
				return err
			}
			return a.printMerged(p, done)
		},
	}
	cmd.Flags().BoolVar(&ours, "ours", false, "A wins where both changed the same")
	cmd.Flags().BoolVar(&theirs, "theirs", false, "B wins where both changed the same")
	a.jsonFlag(cmd)
	return cmd
}

// printMergeConflicts names conflicts one by one, with what either side has.
func (a *app) printMergeConflicts(r *datasets.MergeReport) error {
	if a.json {
		return a.printJSON(map[string]any{"merged": false, "report": r})
	}
	t := report.Table{Columns: []report.Column{
		{Name: "case"}, {Name: "field"}, {Name: "base", Max: 40}, {Name: "ours", Max: 40}, {Name: "theirs", Max: 40},
	}}
	for _, c := range r.Conflicts {
		t.Add(c.CaseID, c.Field, side(c.Field, c.Base), side(c.Field, c.Ours), side(c.Field, c.Theirs))
	}
	return t.Write(a.stdout, a.style())
}

func (a *app) printMerged(p *pipeline.Project, done *pipeline.Merged) error {
	if a.json {
		return a.printJSON(map[string]any{"merged": true, "version": nextOf(p, done.Committed), "report": done.Report})
	}
	if n := len(done.Report.Conflicts); n > 0 {
		fmt.Fprintf(a.stderr, "goldgen: %s decided for %s\n", wording.Count(n, "conflict"), done.Report.Prefer)
	}
	fmt.Fprintf(a.stdout, "common ancestor %s; taken from %s: %s\n", report.Escape(done.Report.Base.String()),
		report.Escape(done.Report.Theirs.String()), diffWords(done.Report.Taken))
	return a.printVersion(p, done.Committed)
}

func newDatasetsCollect(a *app) *cobra.Command {
	var o pipeline.CollectOptions
	cmd := &cobra.Command{
		Use: "gc NAME", Short: "Delete the versions that nothing needs",
		Long: help("Tells which versions of a set nothing needs, and with --yes deletes them. Kept are the newest, those\n"+
			"where tags stand, those that a result names or people labelled, branches that were not merged, where\n"+
			"two of these went apart, and what lies between.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets gc handbook",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			o.Name = args[0]
			done, err := p.Collect(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(done)
			}
			return a.printCollected(done)
		},
	}
	cmd.Flags().BoolVar(&o.Delete, "yes", false, "delete them")
	cmd.Flags().BoolVar(&o.Branches, "branches", false, "branches that were not merged may go too")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printCollected(c *datasets.Collected) error {
	what := "deleted"
	if c.DryRun {
		what = "to delete"
	}
	t := report.Table{Columns: []report.Column{{Name: "version"}, {Name: "what"}, {Name: "why"}}}
	for _, k := range c.Kept {
		t.Add(k.Ref.String(), "kept", k.Why)
	}
	for _, r := range c.Deleted {
		t.Add(r.String(), what, "nothing needs it")
	}
	if err := t.Write(a.stdout, a.style()); err != nil {
		return err
	}
	if n := len(c.Deleted); n > 0 && c.DryRun {
		fmt.Fprintf(a.stderr, "goldgen: %s, %.1f MB; --yes deletes %s\n", wording.Count(n, "version"), float64(c.Bytes)/1e6, wording.Pick(n, "it", "them"))
	}
	return nil
}
