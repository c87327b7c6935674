package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/pipeline"
)

type judgeOptions struct {
	stageIO
	modelOptions
	name   string
	extend string
	from   []string
	depth  int
}

func newJudge(a *app) *cobra.Command {
	var o judgeOptions
	cmd := &cobra.Command{
		Use: "judge", Short: "Grade candidates and write the golden set", GroupID: groupStages,
		Long: help("Reads candidates, pools the chunks that retrievers find for each, has a model grade them, tests\n"+
			"the judge on canaries, and writes the next version of the golden set.\n\n"+
			"With --extend, adds the top results of eval to the pool of a set, grades them and writes the next version.",
			codeDone, codeFailed, codeUsage, codePartly, codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart judge -i candidates.jsonl",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if err := o.apply(p, &p.Config.Judge.ModelConfig); err != nil {
				return err
			}
			return a.runJudge(cmd.Context(), p, o)
		},
	}
	o.addIn(cmd.Flags())
	o.modelOptions.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.name, "name", "", "name of the golden set (default: that of the candidates)")
	cmd.Flags().StringVar(&o.extend, "extend", "", "golden set whose pools are extended")
	cmd.Flags().StringSliceVar(&o.from, "from", nil, "with --extend: result folders of eval, repeatable")
	cmd.Flags().IntVar(&o.depth, "depth", 0, "with --extend: how many results of each count (default: the largest eval.k)")
	a.allowExecFlag(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) runJudge(ctx context.Context, p *pipeline.Project, o judgeOptions) error {
	committed, err := a.judge(ctx, p, o)
	if err != nil {
		return err
	}
	if p.DryRun {
		return a.reportDryRun(ctx, p)
	}
	summary := p.Summary(committed, nil)
	if a.json {
		if err := a.printJSON(struct {
			pipeline.RunSummary
			Eval any `json:"eval,omitempty"` // judge evaluates nothing
		}{RunSummary: summary}); err != nil {
			return err
		}
	} else if err := a.printCommitted(summary); err != nil {
		return err
	}
	return partlyNote(summary)
}

func (a *app) judge(ctx context.Context, p *pipeline.Project, o judgeOptions) (*pipeline.Committed, error) {
	if o.extend != "" {
		if len(o.from) == 0 {
			return nil, usagef("--extend needs --from RESULT, a result folder of eval")
		}
		return p.Extend(ctx, pipeline.ExtendOptions{Golden: o.extend, From: o.from, Depth: o.depth})
	}
	if len(o.from) > 0 {
		return nil, usagef("--from goes with --extend")
	}
	header, records, err := readStage[generate.Record](a, o.stageIO, pipeline.KindCandidates)
	if err != nil {
		return nil, err
	}
	if o.name != "" {
		header.Name = o.name
	}
	return p.Judge(ctx, header, records)
}
