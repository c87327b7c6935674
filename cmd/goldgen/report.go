package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

// reportFormat is a form of the report, and the file endings that ask for it.
type reportFormat struct {
	name    string
	endings []string
	write   func(io.Writer, *report.Findings) error
}

func reportFormats() []reportFormat {
	return []reportFormat{
		{"html", []string{".html", ".htm"}, report.HTML},
		{"markdown", []string{".md", ".markdown"}, report.PullRequest},
		{"junit", []string{".xml"}, report.JUnit},
		{"json", []string{".json"}, report.JSON},
		{"csv", []string{".csv"}, report.CSV},
	}
}

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
	f.StringVar(&o.format, "format", "", "html, markdown, junit, json or csv (default: by the ending of -o, else html)")
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
			"is compared with --baseline and held to the gates; further ones stand beside it. A failed gate is in\n"+
			"the report and not in the exit code: goldgen compare and goldgen eval --baseline end with that.",
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
			if format.name != "html" {
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

// chosen is the format that was named, or that the file's ending means.
func (o *reportOptions) chosen() (reportFormat, error) {
	formats := reportFormats()
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
		if o.format == f.name || o.format == "" && slices.Contains(f.endings, strings.ToLower(filepath.Ext(o.out))) {
			return f, nil
		}
	}
	if o.format != "" {
		return reportFormat{}, usagef("--format %s: want one of %s", o.format, strings.Join(names, ", "))
	}
	return formats[0], nil
}

func (a *app) writeReport(format reportFormat, out string, f *report.Findings) error {
	if out == "" && format.name == "html" && a.outTerminal {
		out = pageFile
	}
	if out == "" || out == "-" {
		return format.write(a.stdout, f)
	}
	err := atomicfile.Write(out, 0o644, func(w io.Writer) error { return format.write(w, f) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "goldgen: report written to %s\n", report.Escape(out))
	return nil
}
