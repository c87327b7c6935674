package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type reportOptions struct {
	pipeline.ReportOptions
	format string
	out    string
}

// pageFile is where the page goes when standard output is a terminal.
const pageFile = "report.html"

// textShown is how many bytes of a chunk a page shows by default.
const textShown = 240

func (o *reportOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "", strings.Join(report.FormatNames(), ", ")+" (default: by the ending of -o; without one, html)")
	f.StringVarP(&o.out, "output", "o", "", "file to write (default: standard output, or "+pageFile+" for a page where that is a terminal)")
	f.StringVar(&o.Baseline, "baseline", "", "compare the first result with this one: a folder, best, or git:REF")
	f.BoolVar(&o.Common, "common", false, "compare only the cases that are the same on both sides")
	f.StringSliceVar(&o.SliceBy, "slice-by", nil, "slices of the comparison (default: those of the baseline)")
	f.StringVar(&o.Link, "link", "", "address of the page, for the Markdown")
	f.IntVar(&o.Text, "text", textShown, "bytes of each chunk's text in the page, 0 for none")
	addGateFlags(f, &o.GateChoice)
}

func newReport(a *app) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use: "report RESULT...", Short: "Show results as a page, Markdown, JUnit, JSON or CSV", GroupID: groupScoring,
		Long: help("Writes one file about result folders of eval: a page that opens from disk and needs no network, Markdown for\n"+
			"a pull request, JUnit XML in which each gate is a test, JSON, or CSV with a row a case. The first result\n"+
			"is compared with --baseline and held to the gates of eval.gates, and without one to those of --gate\n"+
			"alone; further results stand beside it. A failed gate is in the report and not in the exit code:\n"+
			"goldgen compare and goldgen eval --baseline end with that.",
			codeDone, codeFailed, codeUsage, codeInterrupted),
		Example: "  goldgen -C examples/quickstart report results/ngram -o report.html\n" +
			"  goldgen -C examples/quickstart report results/ngram --baseline results/bm25 --accept-untrusted -o report.html\n" +
			"  goldgen -C examples/quickstart report results/ngram --baseline results/bm25 --accept-untrusted --format markdown\n" +
			"  goldgen -C examples/quickstart report results/bm25 results/ngram -o cases.csv",
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Results = args
			format, err := o.chosen()
			if err != nil {
				return err
			}
			p, err := a.projectIfAny()
			if err != nil {
				return err
			}
			if p != nil {
				defer p.Close()
			}
			if !format.Texts {
				o.Text = 0
			}
			f, err := pipeline.Report(cmd.Context(), p, o.ReportOptions)
			if err != nil {
				return err
			}
			f.Goldgen = version
			return a.writeReport(format, o.out, f)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// chosen is the form that was named, or that the file's ending means.
func (o *reportOptions) chosen() (report.Format, error) {
	format, ok := report.FormatFor(o.format, filepath.Ext(o.out))
	names := strings.Join(report.FormatNames(), ", ")
	switch {
	case ok:
		return format, nil
	case o.format == "":
		return format, usagef("-o %s: no form has the ending %s; name one with --format: %s", o.out, filepath.Ext(o.out), names)
	}
	return format, usagef("--format %s: want one of %s", o.format, names)
}

func (a *app) writeReport(format report.Format, out string, f *report.Findings) error {
	if out == "" && format.Name == "html" && a.outTerminal {
		out = pageFile
	}
	if out == "" || out == "-" {
		return format.Write(a.stdout, f)
	}
	err := atomicfile.Write(out, 0o644, func(w io.Writer) error { return format.Write(w, f) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "goldgen: report written to %s\n", report.Escape(out))
	return nil
}
