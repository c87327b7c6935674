package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type historyOptions struct {
	golden  string
	measure string
}

func newEvalHistory(a *app) *cobra.Command {
	var o historyOptions
	cmd := &cobra.Command{
		Use: "history", Short: "List and plot earlier results",
		Long: help("Lists the results of "+pipeline.HistoryFile+", oldest first, and plots one measure, a line a retriever.\n"+
			"Lines that are torn or no results are skipped and counted.",
			codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart eval history\n" +
			"  goldgen -C examples/quickstart eval history --golden handbook -m recall@10 --json",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			defer p.Close()
			return a.history(p, o)
		},
	}
	cmd.Flags().StringVar(&o.golden, "golden", "", "only results over this set: a name, or name@v3 (default: all sets)")
	cmd.Flags().StringVarP(&o.measure, "measure", "m", "", "the measure to plot (default: ndcg at the largest k that results have)")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) history(p *pipeline.Project, o historyOptions) error {
	h, err := p.History(o.golden)
	if err != nil {
		return err
	}
	if n := len(h.Skipped); n > 0 {
		fmt.Fprintf(a.stderr, "goldgen: warning: %s of %s torn or no result, and skipped: %s\n",
			wording.Count(n, "line"), pipeline.HistoryFile+wording.Pick(n, " is", " are"), lineNumbers(h.Skipped))
	}
	if len(h.Entries) == 0 && o.golden != "" {
		return usagef("--golden %s: no result over it in %s", o.golden, pipeline.HistoryFile)
	}
	if err := checkPlotted(h, o.measure); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(h)
	}
	if len(h.Entries) == 0 {
		fmt.Fprintln(a.stderr, "goldgen: no results yet: goldgen eval makes the first")
		return nil
	}
	return a.printHistory(h, cmp.Or(o.measure, plotted(h)))
}

// linesNamed is how many skipped lines a warning names.
const linesNamed = 5

func lineNumbers(lines []int) string {
	s := strings.Trim(fmt.Sprint(lines[:min(linesNamed, len(lines))]), "[]")
	if len(lines) > linesNamed {
		s += " ..."
	}
	return s
}

// checkPlotted refuses a measure that no result has.
func checkPlotted(h pipeline.History, measure string) error {
	if measure == "" || len(h.Entries) == 0 {
		return nil
	}
	names := measuresIn(h)
	if slices.Contains(names, measure) {
		return nil
	}
	return usagef("-m %s: no result has it; there is %s", measure, strings.Join(names, ", "))
}

func measuresIn(h pipeline.History) (names []string) {
	for _, e := range h.Entries {
		for _, m := range e.Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// plotted is ndcg at the largest k, or else the first measure there is.
func plotted(h pipeline.History) string {
	best, deepest := "", -1
	for _, name := range measuresIn(h) {
		m, err := eval.ParseMeasure(name)
		switch {
		case err != nil:
		case strings.HasPrefix(name, "ndcg@") && m.K() > deepest:
			best, deepest = name, m.K()
		case best == "":
			best = name
		}
	}
	return best
}

func (a *app) printHistory(h pipeline.History, measure string) error {
	names := a.historyMeasures(h, measure)
	t := &report.Table{Columns: []report.Column{{Name: "time"}, {Name: "golden set"}, {Name: "retriever", Max: 30}}, Keys: 3}
	for _, name := range names {
		t.Columns = append(t.Columns, report.Column{Name: name, Right: true})
	}
	t.Columns = append(t.Columns, report.Column{Name: "cases", Right: true}, report.Column{Name: "leaks", Right: true},
		report.Column{Name: "failed", Right: true}, report.Column{Name: "path"}, report.Column{Name: "note"})
	for _, e := range h.Entries {
		t.Add(historyRow(e, names)...)
	}
	if err := t.Write(a.stdout, a.style()); err != nil {
		return err
	}
	if measure == "" {
		return nil
	}
	return report.Trend(a.stdout, measure, trends(h, measure), a.style())
}

// measuresShown is how many measures a terminal has room for.
const measuresShown = 3

// historyMeasures names the columns: the plotted measure first.
func (a *app) historyMeasures(h pipeline.History, plotted string) []string {
	var names []string
	if plotted != "" {
		names = append(names, plotted)
	}
	for _, name := range report.Headline(h.Entries[len(h.Entries)-1].Metrics) {
		if name != plotted && (!a.outTerminal || len(names) < measuresShown) {
			names = append(names, name)
		}
	}
	return names
}

func historyRow(e pipeline.HistoryEntry, names []string) []string {
	row := []string{e.Time, e.Golden.Ref, e.Retriever.Name}
	for _, name := range names {
		cell := "-"
		if m, ok := e.Metrics.Get(name); ok && m.Mean != nil {
			cell = fmt.Sprintf("%.4f", *m.Mean)
		}
		row = append(row, cell)
	}
	return append(row, fmt.Sprint(e.Cases), fmt.Sprint(e.Leaks), fmt.Sprint(e.Failed), e.Path, e.Restriction)
}

// trends gathers one line a retriever and set, oldest result first. Results
// over some of the cases are no point of it.
func trends(h pipeline.History, measure string) []report.TrendLine {
	var out []report.TrendLine
	for _, e := range h.Entries {
		m, ok := e.Metrics.Get(measure)
		if !ok || m.Mean == nil || e.Restriction != "" {
			continue
		}
		name := e.Retriever.Name + " over " + e.Golden.Name
		i := slices.IndexFunc(out, func(l report.TrendLine) bool { return l.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, report.TrendLine{Name: name})
		}
		out[i].Values = append(out[i].Values, *m.Mean)
	}
	return out
}
