package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/review/audit"
)

type auditOptions struct {
	pipeline.AuditOptions
	write    string
	report   bool
	markdown bool
}

func (o *auditOptions) addFlags(f *pflag.FlagSet) {
	f.IntVarP(&o.N, "number", "n", pipeline.DefaultAuditN, "how many queries, two of three of them kept ones")
	f.Int64Var(&o.Seed, "seed", pipeline.DefaultAuditSeed, "of the sample")
	f.StringVar(&o.Reviewer, "reviewer", "", "who labels (default: the system's name for you)")
	f.StringVar(&o.write, "write", "", "write the sample to this new file, .jsonl or .csv, to be filled in elsewhere; your labels so far are in it")
	f.StringSliceVar(&o.Labels, "labels", nil, "print what these filled-in files say, .jsonl or .csv; their sample is taken unless -n or --seed is given")
	f.BoolVar(&o.report, "report", false, "print what everybody has said on terminals, and ask nothing")
	f.BoolVar(&o.markdown, "markdown", false, "print the figures as Markdown")
}

func newAudit(a *app) *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use: "audit REF", Short: "Let people say how good a set's queries and its gates are", GroupID: groupSets,
		Long: help("Shows kept and rejected queries one by one on the terminal, without saying which they are, and takes a key for\n"+
			"each of four questions: is it answered by its evidence, clear by itself, natural, of its type. y yes, n no,\n"+
			"u undo, s skip, q quit: each answer is on disk before the next question, and the same command goes on. Then\n"+
			"prints the share of kept queries that are valid, of rejected ones that are truly bad (a gate's precision), and of\n"+
			"good ones that were lost, with 95 % intervals; and overlap, duplicates and calls, which need no label.\n\n"+
			"--write makes a file to fill in instead, --labels reads such files. Labels hold for the same query with the\n"+
			"same evidence in every version of the set.",
			codeDone, codeFailed, codeUsage, "3 done, but labels were left out", codeInterrupted),
		Example: "  goldgen -C examples/quickstart audit handbook -n 20 --write audit.csv\n" +
			"  goldgen -C examples/quickstart audit handbook --report",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Golden = args[0]
			o.Sampled = cmd.Flags().Changed("number") || cmd.Flags().Changed("seed")
			if err := a.checkAudit(&o); err != nil {
				return err
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			defer p.Close()
			return a.audit(cmd.Context(), p, o)
		},
	}
	o.addFlags(cmd.Flags())
	a.jsonFlag(cmd)
	return cmd
}

// checkAudit refuses what does not go together, and finds out who labels.
func (a *app) checkAudit(o *auditOptions) (err error) {
	switch {
	case o.write != "" && (len(o.Labels) > 0 || o.report), len(o.Labels) > 0 && o.report:
		return usagef("--write, --labels and --report: one at a time")
	case o.write != "" && (a.json || o.markdown):
		return usagef("--json and --markdown go with figures, and --write prints none")
	case a.json && o.markdown:
		return usagef("--json and --markdown: one of the two")
	case o.write != "" && sheetWriter(o.write) == nil:
		return usagef("--write %s: want a .jsonl or a .csv file", o.write)
	case o.Reviewer == "" && len(o.Labels) == 0 && !o.report:
		o.Reviewer, err = systemUser(a.getenv)
	}
	return err
}

func (a *app) audit(ctx context.Context, p *pipeline.Project, o auditOptions) error {
	switch {
	case o.write != "":
		return a.writeAuditSheet(p, o)
	case len(o.Labels) == 0 && !o.report:
		if err := a.auditAtTerminal(ctx, p, o); err != nil {
			return err
		}
		o.Sampled = true
	}
	r, err := p.AuditReport(o.AuditOptions)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		err = a.printAudit(r, o.markdown)
	}
	if err != nil {
		return err
	}
	lines := make([]string, len(r.Labels.Left))
	for i, l := range r.Labels.Left {
		lines[i] = fmt.Sprintf("%s (%s): %s", l.Where, l.CaseID, l.Why)
	}
	return leftOutOf(r.Labels.Read, lines)
}

func (a *app) writeAuditSheet(p *pipeline.Project, o auditOptions) error {
	rows, notes, err := p.AuditSheet(o.AuditOptions)
	if err != nil {
		return err
	}
	write := sheetWriter(o.write)
	if err := writeNew("--write", o.write, func(w io.Writer) error { return write(w, rows) }); err != nil {
		return err
	}
	a.notes(notes)
	a.say("sheet", "%s, %s of %s: fill in yes or no, then goldgen audit %s --labels %s", o.write, wording.Count(len(rows), "query"), o.Golden, o.Golden, o.write)
	return nil
}

// sheetWriter is that of a file's ending; nil where there is none.
func sheetWriter(path string) func(io.Writer, []audit.Row) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl":
		return writeAuditLines
	case ".csv":
		return writeAuditCSV
	}
	return nil
}

func writeAuditLines(w io.Writer, rows []audit.Row) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range rows {
		if err := enc.Encode(rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func writeAuditCSV(w io.Writer, rows []audit.Row) error {
	table := [][]string{audit.Columns()}
	for i := range rows {
		cells := rows[i].Cells()
		for j := range cells {
			cells[j] = inert(cells[j])
		}
		table = append(table, cells)
	}
	return csv.NewWriter(w).WriteAll(table)
}

// auditShare is a share with its bounds.
func auditShare(s audit.Share) string {
	if s.Value == nil {
		return "-"
	}
	return span(datasets.Interval{Value: *s.Value, Low: *s.Low, High: *s.High})
}

func auditName(name string) string {
	if name == "" {
		return "(not said)"
	}
	return report.Escape(name)
}
