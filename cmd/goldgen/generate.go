package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/sample"
)

type generateOptions struct {
	stageIO
	modelOptions
	evidence string
}

func newGenerate(a *app) *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use: "generate", Short: "Write grounded queries for a plan", GroupID: groupStages,
		Long: help("Reads a plan, has a query written for each row, lets gates refuse what its evidence does not\n"+
			"answer, and writes candidates and rejects as JSON lines.", codeDone, codeFailed, codeUsage, codePartly, codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart generate -i plan.jsonl -o candidates.jsonl",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if o.evidence != "" {
				p.Config.Generate.Evidence = o.evidence
			}
			if err := o.apply(p, &p.Config.Generate.ModelConfig); err != nil {
				return err
			}
			return a.runGenerate(cmd.Context(), p, o)
		},
	}
	o.addIn(cmd.Flags())
	o.addOut(cmd.Flags())
	o.modelOptions.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.evidence, "evidence", "", "pick (goldgen picks the sentence) or quote (the model does)")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) runGenerate(ctx context.Context, p *pipeline.Project, o generateOptions) error {
	header, rows, err := readStage[sample.Row](a, o.stageIO, pipeline.KindPlan)
	if err != nil {
		return err
	}
	g, err := p.Generate(ctx, header, rows)
	if err != nil {
		return err
	}
	if p.DryRun {
		return a.reportDryRun(ctx, p)
	}
	written, err := writeStage(a, o.stageIO, g.Header, g.Records)
	if err != nil {
		return err
	}
	if err := a.reportGenerated(p, g, o.out, written); err != nil {
		return err
	}
	return shortfallNote(g.Header.Shortfall)
}

func (a *app) reportGenerated(p *pipeline.Project, g *pipeline.Generated, out string, written bool) error {
	if a.json {
		return a.printJSON(struct {
			Path      string               `json:"path,omitempty"`
			Calls     any                  `json:"calls"`
			Funnel    generate.Summary     `json:"funnel"`
			Shortfall []datasets.Shortfall `json:"shortfall"`
		}{out, p.Calls(), g.Summary, orEmpty(g.Header.Shortfall)})
	}
	w := a.stderr // stdout is the pipe's
	if !written || out != "" {
		w = a.stdout
	}
	if err := funnelTable(g.Summary).Write(w, a.style()); err != nil {
		return err
	}
	if !written {
		fmt.Fprintln(a.stderr, "goldgen: shown and not kept; to keep it: goldgen generate -i plan.jsonl -o candidates.jsonl, or pipe it into goldgen judge")
	}
	return nil
}

// funnelTable shows what became of the rows that were asked.
func funnelTable(s generate.Summary) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "funnel"}, {Name: "n", Right: true}, {Name: "share", Right: true}, {Name: "because"}}, Keys: 3}
	share := func(n int) string {
		if s.Asked == 0 {
			return ""
		}
		return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(s.Asked))
	}
	t.Add("asked", fmt.Sprint(s.Asked), share(s.Asked))
	for _, reason := range byCount(s.Reasons) {
		t.Add("  rejected: "+reason, fmt.Sprint(s.Reasons[reason]), share(s.Reasons[reason]), reasonWords(reason))
	}
	t.Add("accepted", fmt.Sprint(s.Accepted), share(s.Accepted))
	if s.Spare > 0 {
		t.Add("  of them spare", fmt.Sprint(s.Spare), share(s.Spare), "they stand in for cases that judging takes out")
	}
	for _, b := range s.Difficulty {
		t.Add("  of the set "+b.Band, fmt.Sprint(b.Got), "", fmt.Sprintf("%d wanted", b.Wanted))
	}
	return t
}

// reasonWords says what a reject's reason code means, "" where the code does.
func reasonWords(reason string) string {
	return map[string]string{
		"answered":                   "a check by the model: the evidence does not answer the query",
		"copied":                     "too much of the evidence word for word",
		"copied_overlap":             "too many of the evidence's own terms",
		"copied_run":                 "too many words in a row are the evidence's",
		"language":                   "in another language than its chunk",
		"length":                     "too short or too long",
		"preamble":                   "introduces a query, or is more than one",
		"refers_to_text":             "speaks of the text, which nobody who searches has",
		"self_contained":             "points at something that it does not name",
		generate.ReasonCallFailed:    "no complete reply; run again to ask again",
		generate.ReasonNearDuplicate: "nearly the same query was there already",
		generate.ReasonNoEvidence:    "the quote is not in the chunk",
		generate.ReasonNoTarget:      "the chunk has no sentence that stands alone; no call was made",
		generate.ReasonPromptTooLong: "the prompt is longer than num_ctx",
		generate.ReasonUnreadable:    "no reply in the form that was asked for",
	}[reason]
}

// byCount lists keys by falling count, then by name.
func byCount(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	slices.SortStableFunc(keys, func(x, y string) int { return m[y] - m[x] })
	return keys
}
