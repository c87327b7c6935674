package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/sample"
)

type sampleOptions struct {
	stageIO
	n        int
	seed     int64
	strata   []string
	queries  string
	snapshot string
}

func (o *sampleOptions) addFlags(f *pflag.FlagSet) {
	o.addOut(f)
	o.addPlan(f)
	f.StringVar(&o.snapshot, "snapshot", "", "draw from this snapshot folder instead of the latest")
}

// addPlan adds the flags that change the plan; run has them too.
func (o *sampleOptions) addPlan(f *pflag.FlagSet) {
	f.IntVarP(&o.n, "cases", "n", 0, "number of cases (default: sample.cases of goldgen.yaml)")
	f.Int64Var(&o.seed, "seed", 0, "seed (default: sample.seed of goldgen.yaml)")
	f.StringSliceVar(&o.strata, "strata", nil, "fields that strata are made of")
	f.StringVar(&o.queries, "queries", "", "a log of real queries (.jsonl, .csv, .parquet; s3:// or an entry of sources too) that gives a part of the cases")
}

func (o *sampleOptions) apply(p *pipeline.Project, f *pflag.FlagSet) error {
	if f.Changed("cases") {
		p.Config.Sample.Cases = o.n
	}
	if f.Changed("seed") {
		p.Config.Sample.Seed = o.seed
	}
	if f.Changed("strata") {
		p.Config.Sample.Strata = o.strata
	}
	if f.Changed("queries") {
		p.Config.Sample.Queries = o.queries
	}
	if err := p.Config.Sample.Validate(); err != nil {
		return usagef("%w", err)
	}
	return nil
}

func newSample(a *app) *cobra.Command {
	var o sampleOptions
	cmd := &cobra.Command{
		Use: "sample", Short: "Plan which chunks are asked about", GroupID: groupStages,
		Long: help("Draws an exact, seeded, stratified plan with reserves over the latest snapshot and writes it\n"+
			"as JSON lines. It asks no model.", codeDone, codeFailed, codeUsage, codePartly),
		Example: "  goldgen -C examples/quickstart sample -n 20 | goldgen -C examples/quickstart generate | goldgen -C examples/quickstart judge\n" +
			"  goldgen -C examples/quickstart sample -n 20 -o plan.jsonl",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if err := o.apply(p, cmd.Flags()); err != nil {
				return err
			}
			return a.runSample(cmd.Context(), p, o)
		},
	}
	o.addFlags(cmd.Flags())
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) runSample(ctx context.Context, p *pipeline.Project, o sampleOptions) error {
	header, rows, err := p.Sample(ctx, o.snapshot)
	if err != nil {
		return err
	}
	written, err := writeStage(a, o.stageIO, header, rows)
	if err != nil {
		return err
	}
	if err := a.reportPlan(header, rows, o.out, written); err != nil {
		return err
	}
	return shortfallNote(header.Shortfall)
}

func (a *app) reportPlan(h pipeline.Header, rows []sample.Row, out string, written bool) error {
	var coverage sample.Coverage
	if err := json.Unmarshal(h.Coverage, &coverage); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Cases     int                  `json:"cases"`
			Reserves  int                  `json:"reserves"`
			Path      string               `json:"path,omitempty"`
			Digest    string               `json:"digest"`
			Coverage  sample.Coverage      `json:"coverage"`
			Shortfall []datasets.Shortfall `json:"shortfall"`
		}{coverage.Planned, coverage.Reserves, out, h.Pins.Plan, coverage, orEmpty(h.Shortfall)})
	}
	if written && out == "" {
		return nil
	}
	if err := coverageTable(coverage).Write(a.stdout, a.style()); err != nil {
		return err
	}
	if coverage.Log != nil {
		fmt.Fprintln(a.stdout)
		if err := logTable(coverage.Log).Write(a.stdout, a.style()); err != nil {
			return err
		}
	}
	if !written {
		fmt.Fprintln(a.stderr, "goldgen: shown and not kept; to keep it: goldgen sample -o plan.jsonl, or goldgen sample | goldgen generate | goldgen judge")
	}
	return nil
}

func coverageTable(c sample.Coverage) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Name: "stratum", Max: 50}, {Name: "eligible", Right: true}, {Name: "share", Right: true},
		{Name: "planned", Right: true}, {Name: "reserves", Right: true},
	}}
	for _, s := range c.Strata {
		t.Add(s.Name, fmt.Sprint(s.Eligible), fmt.Sprintf("%.1f%%", 100*s.Share), fmt.Sprint(s.Planned), fmt.Sprint(s.Reserves))
	}
	t.Add("all", fmt.Sprint(c.Eligible), "100.0%", fmt.Sprint(c.Planned), fmt.Sprint(c.Reserves))
	t.Add("documents reached", fmt.Sprint(c.Reached.Documents.Total), fmt.Sprintf("%.1f%%", 100*c.Reached.Documents.Share), fmt.Sprint(c.Reached.Documents.Reached), "")
	return t
}

// logTable shows what of a query log is planned.
func logTable(l *sample.LogSummary) *report.Table {
	t := report.NewTable("query log", ">searches", ">queries", ">planned", ">reserves")
	for _, b := range l.Bands {
		t.Add(b.Name, fmt.Sprint(b.Searches), fmt.Sprint(b.Clusters), fmt.Sprint(b.Planned), fmt.Sprint(b.Reserves))
	}
	if l.Sampled {
		t.Add("sampled, of more", fmt.Sprint(l.Searches), fmt.Sprint(l.Clusters), "", "")
	}
	return t
}

// shortfallNote ends a command with exit code 3 when a quota was not met.
func shortfallNote(shortfall []datasets.Shortfall) error {
	if len(shortfall) == 0 {
		return nil
	}
	var texts []string
	for _, s := range shortfall[:min(5, len(shortfall))] {
		where := strings.TrimSpace(s.Stratum + " " + s.QueryType)
		texts = append(texts, fmt.Sprintf("%s: %d of %d (%s)", where, s.Got, s.Wanted, s.Reason))
	}
	if more := len(shortfall) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return &codeError{code: exitPartly, why: "a quota was not met: " + strings.Join(texts, "; ")}
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
