package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
)

func newDatasetsExport(a *app) *cobra.Command {
	var o pipeline.ExportOptions
	var source, out string
	cmd := &cobra.Command{
		Use: "export REF", Short: "Write a golden set in another format",
		Long: help("Writes a version's active cases, as docs/exchange.md says of each format. What a format has no place for\n"+
			"is counted on stderr; jsonl has all that is known of a case. beir, trec, huggingface and mteb are folders, and\n"+
			"hard-negatives JSON lines for training a reranker.\n\n"+
			"A label that is only a probability is left out of all but jsonl, and counted, unless --least-p says from which p\n"+
			"on it is relevant.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets export handbook --format trec -o handbook-trec",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			o.Golden, o.Source = args[0], datasets.SourceMode(source)
			if cmd.Flags().Changed("least-p") && o.LeastP == 0 {
				return usagef("--least-p 0: want above 0, at most 1")
			}
			return a.export(p, o, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "", strings.Join(datasets.ExportFormats(), ", "))
	f.StringVarP(&out, "out", "o", "", "file, or for formats of several files folder, to write (default: stdout)")
	f.StringVar(&source, "source", "in", "how the chunk that a query was written from is read: in, judged or out")
	f.Float64Var(&o.LeastP, "least-p", 0, "read a label that is only a probability as relevant from this p on, else as not relevant")
	f.BoolVar(&o.NeedsReview, "needs-review", false, "the cases that need review too")
	f.StringVar(&o.Snapshot, "snapshot", "", "take the texts from this snapshot folder")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) export(p *pipeline.Project, o pipeline.ExportOptions, out string) error {
	switch {
	case o.Format == "":
		return usagef("--format: want %s", strings.Join(datasets.ExportFormats(), ", "))
	case out == "" && o.Folder():
		return usagef("--format %s writes a folder: name it with -o", o.Format)
	case out == "" && a.json:
		return usagef("--json reports on stdout: name a file for the rows with -o")
	}
	report, err := a.exportTo(p, o, out)
	if err != nil {
		return err
	}
	a.exportNotes(report)
	if a.json {
		return a.printJSON(struct {
			datasets.ExportReport
			Path string `json:"path"`
		}{report, out})
	}
	return nil
}

// exportTo writes to stdout, a file or a new folder, whole or not at all.
func (a *app) exportTo(p *pipeline.Project, o pipeline.ExportOptions, out string) (datasets.ExportReport, error) {
	info, err := os.Stat(out)
	switch {
	case o.Folder() && err == nil:
		return datasets.ExportReport{}, usagef("-o %s: is there already", out)
	case o.Folder():
		return exportFolder(p, o, filepath.Clean(out))
	case err == nil && info.IsDir():
		return datasets.ExportReport{}, usagef("-o %s: is a folder, and %s one file", out, o.Format)
	}
	return p.Export(o, func(_ string, write func(io.Writer) error) error {
		if out == "" {
			return write(a.stdout)
		}
		return atomicfile.Write(out, 0o644, write)
	})
}

func exportFolder(p *pipeline.Project, o pipeline.ExportOptions, out string) (datasets.ExportReport, error) {
	temp, err := atomicfile.MkdirTemp(filepath.Dir(out))
	if err != nil {
		return datasets.ExportReport{}, err
	}
	report, err := p.Export(o, func(name string, write func(io.Writer) error) error {
		path := filepath.Join(temp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return atomicfile.Write(path, 0o644, write)
	})
	if err == nil {
		err = atomicfile.Rename(temp, out)
	}
	if err != nil {
		return report, errors.Join(err, os.RemoveAll(temp))
	}
	return report, nil
}

// exportNotes says on stderr what a file does not hold.
func (a *app) exportNotes(r datasets.ExportReport) {
	fmt.Fprintf(a.stderr, "goldgen: %s: %s of %s\n", r.Format, wording.Count(r.Rows, "row"), wording.Count(r.Cases, "case"))
	for _, note := range []struct {
		n          int
		noun, text string
	}{
		{r.Probabilities, "label", "left out as no more than a probability; --least-p .5 reads such labels"},
		{r.WithoutLabels, "case", "left out, with no known label"},
		{r.WithoutPositive, "case", "left out, with nothing known to be relevant"},
		{r.WithoutNegatives, "case", "left out, without a hard negative"},
	} {
		if note.n > 0 {
			fmt.Fprintf(a.stderr, "goldgen: %s %s\n", wording.Count(note.n, note.noun), note.text)
		}
	}
	if len(r.Lost) == 0 {
		return
	}
	var lost []string
	for _, l := range r.Lost {
		lost = append(lost, fmt.Sprintf("%s (%s)", l.Part, wording.Count(l.Cases, "case")))
	}
	fmt.Fprintf(a.stderr, "goldgen: the format has no place for: %s; jsonl has\n", strings.Join(lost, ", "))
	if r.LosesJudges() && r.Trust != datasets.TrustReviewed {
		fmt.Fprintf(a.stderr, "goldgen: the labels have trust %s, which the format does not hold: whoever imports them takes them for people's\n", r.Trust)
	}
}
