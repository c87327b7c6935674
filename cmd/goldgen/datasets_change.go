package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

// branchFlag adds --branch.
func branchFlag(cmd *cobra.Command, branch *bool) {
	cmd.Flags().BoolVar(branch, "branch", false, "change a version that is not the newest: a branch, to be merged later")
}

func newDatasetsRetire(a *app) *cobra.Command {
	var o pipeline.RetireOptions
	cmd := &cobra.Command{
		Use: "retire REF CASE...", Short: "Take cases out of use, with the reason",
		Long: help("Writes the next version, in which the cases are retired: they stay in the set, and nothing is scored\n"+
			"over them. A case is named by its id or the beginning of it.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets import --format jsonl --queries cases.jsonl --name bills\n" +
			"  goldgen -C examples/quickstart datasets retire bills paid --reason 'the process has changed'",
		Args: usageArgs(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			o.Golden, o.Cases = args[0], args[1:]
			done, err := p.Retire(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printVersion(p, done)
		},
	}
	cmd.Flags().StringVar(&o.Reason, "reason", "", "why, kept in the cases and in the log")
	branchFlag(cmd, &o.Branch)
	a.jsonFlag(cmd)
	return cmd
}

// nextVersion is what --json prints of a version that was made of another.
type nextVersion struct {
	Golden  pipeline.GoldenRef `json:"golden"`
	Changed bool               `json:"changed"`
	Parent  string             `json:"parent"`
	Why     string             `json:"why"`
	Active  int                `json:"active"`
	Review  int                `json:"needs_review"`
	Retired int                `json:"retired"`
}

func nextOf(p *pipeline.Project, done *pipeline.Committed) nextVersion {
	m := done.Manifest
	return nextVersion{
		Golden: p.Summary(done, nil).Golden, Changed: done.Changed, Parent: m.Parent, Why: m.Why,
		Active: m.Counts.Active, Review: m.Counts.NeedsReview, Retired: m.Counts.Retired,
	}
}

// printVersion says which version came of a change.
func (a *app) printVersion(p *pipeline.Project, done *pipeline.Committed) error {
	m := done.Manifest
	if a.json {
		return a.printJSON(nextOf(p, done))
	}
	if !done.Changed {
		_, err := fmt.Fprintf(a.stdout, "%s holds all this already; nothing was written\n", report.Escape(done.Ref.String()))
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "%s: %s; %d active, %d needs_review, %d retired\n", report.Escape(done.Ref.String()), report.Escape(m.Why),
		m.Counts.Active, m.Counts.NeedsReview, m.Counts.Retired)
	return err
}
