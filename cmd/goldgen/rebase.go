package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

func newRebase(a *app) *cobra.Command {
	var o pipeline.RebaseOptions
	var dryRun bool
	cmd := &cobra.Command{
		Use: "rebase REF", Short: "Move a golden set to another snapshot or chunking, without a model", GroupID: groupSets,
		Long: help("Moves a set to another snapshot: evidence is found again in each document, also in an edited or renamed one; the\n"+
			"labels go to the chunks that overlap with what they rest on; a case whose evidence is lost is retired with the\n"+
			"reason. Writes the next version of the set and says what was lost. No model is asked.\n\n"+
			"A snapshot that lacks half of the documents, or more, is refused without --accept-loss.",
			codeDone, codeFailed, codeUsage, codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart rebase handbook --dry-run",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Golden = args[0]
			p, err := a.project()
			if err != nil {
				return err
			}
			p.DryRun = dryRun
			return a.rebase(cmd.Context(), p, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Snapshot, "snapshot", "", "folder of the snapshot to move to (default: the project's latest)")
	f.StringVar(&o.From, "from", "", "folder of the snapshot that the set was made over (default: the project has it)")
	f.BoolVar(&o.AcceptLoss, "accept-loss", false, "also move to a snapshot that lacks half of the documents, or more")
	f.BoolVar(&dryRun, "dry-run", false, "say what would be kept and lost, and write nothing")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) rebase(ctx context.Context, p *pipeline.Project, o pipeline.RebaseOptions) error {
	done, err := p.Rebase(ctx, o)
	if err != nil {
		return err
	}
	if a.json {
		summary := p.Summary(done.Committed, nil)
		return a.printJSON(struct {
			Golden  pipeline.GoldenRef `json:"golden"`
			Changed bool               `json:"changed"`
			DryRun  bool               `json:"dry_run"`
			*datasets.RebaseReport
		}{summary.Golden, summary.Changed, p.DryRun, done.Report})
	}
	if err := a.printRebase(done.Report); err != nil {
		return err
	}
	switch {
	case p.DryRun:
		a.say("rebase", "nothing was written")
	case done.Committed.Changed:
		a.say("golden", "%s at %s", done.Committed.Ref, done.Committed.Ref.Path)
	default:
		a.say("golden", "%s is of this snapshot already", done.Committed.Ref)
	}
	return nil
}

// printRebase prints what was kept and lost by query type and category, and then
// why.
func (a *app) printRebase(r *datasets.RebaseReport) error {
	t := report.Table{Columns: []report.Column{
		{Name: "by"}, {Name: "value", Max: 40}, {Name: "cases", Right: true}, {Name: "kept", Right: true},
		{Name: "other labels", Right: true}, {Name: "retired", Right: true},
	}}
	add := func(by string, rows ...datasets.RebaseRow) {
		for _, row := range rows {
			t.Add(by, row.Name, fmt.Sprint(row.Cases), fmt.Sprint(row.Kept), fmt.Sprint(row.Regraded), fmt.Sprint(row.Retired))
		}
	}
	add("query type", r.ByType...)
	add("category", r.ByCategory...)
	add("all", datasets.RebaseRow{Cases: r.Kept + r.Retired, Kept: r.Kept, Regraded: r.Regraded, Retired: r.Retired})
	if err := t.Write(a.stdout, a.style()); err != nil {
		return err
	}
	d, s := r.Documents, r.Spans
	fmt.Fprintf(a.stdout, "\ndocuments: %d before, %d unchanged, %d edited, %d under another id, %d gone, %d whose id is another text's; %d new\n",
		d.Before, d.Unchanged, d.Edited, d.Renamed, d.Gone, d.Reused, d.Added)
	fmt.Fprintf(a.stdout, "evidence: %d exact, %d but for white space and case, %d with a few words changed, %d lost\n", s.Exact, s.Normalised, s.Fuzzy, s.Lost)
	a.printFollowed(r.Followed)
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		fmt.Fprintf(a.stdout, "%s: %s\n", reason, wording.Count(r.Reasons[reason], "case"))
	}
	return nil
}

// shownRenames is how many renamed documents are named.
const shownRenames = 10

func (a *app) printFollowed(followed []datasets.Followed) {
	for _, f := range followed[:min(shownRenames, len(followed))] {
		edited := ""
		if f.Edited {
			edited = ", and edited"
		}
		fmt.Fprintf(a.stdout, "renamed%s: %s -> %s\n", edited, report.Escape(f.From), report.Escape(f.To))
	}
	if more := len(followed) - shownRenames; more > 0 {
		fmt.Fprintf(a.stdout, "renamed: %d more, which --json names\n", more)
	}
}
