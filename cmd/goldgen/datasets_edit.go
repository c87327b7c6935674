package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type editOptions struct {
	pipeline.EditOptions
	out, apply string
}

func newDatasetsEdit(a *app) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use: "edit REF [CASE...]", Short: "Change cases through a file",
		Long: help("--out writes the cases' queries, labels, evidence and other fields as JSON lines; change lines, leave\n"+
			"out others, and --apply makes the next version of what the file says. A query in other words goes through\n"+
			"the gates that need no model and loses the labels of the old ones; evidence must stand in its document;\n"+
			"grades are recorded as yours.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets edit handbook --out edits.jsonl\n" +
			"  goldgen -C examples/quickstart datasets edit handbook --apply edits.jsonl --by ada",
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Golden, o.Cases = args[0], args[1:]
			if err := o.check(); err != nil {
				return err
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			if o.out != "" {
				return a.writeEdits(p, o)
			}
			return a.applyEdits(cmd.Context(), p, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "write what can be changed to this file, - for stdout")
	f.StringVar(&o.apply, "apply", "", "make the next version of what this file says, - for stdin")
	f.StringVar(&o.By, "by", "", "whose grades they are (default: the system's name for you)")
	f.BoolVar(&o.Keep, "keep-wording", false, "take queries that a gate refuses")
	branchFlag(cmd, &o.Branch)
	a.jsonFlag(cmd)
	return cmd
}

func (o *editOptions) check() error {
	switch {
	case (o.out == "") == (o.apply == ""):
		return usagef("datasets edit: say --out FILE to get what can be changed, or --apply FILE to change it")
	case o.apply != "" && len(o.Cases) > 0:
		return usagef("datasets edit: --apply: the file says which cases")
	}
	return nil
}

func (a *app) writeEdits(p *pipeline.Project, o editOptions) error {
	write := func(w io.Writer) error { return p.WriteEdits(w, o.EditOptions) }
	if o.out == "-" {
		return write(a.stdout)
	}
	return atomicfile.Write(o.out, 0o644, write)
}

func (a *app) applyEdits(ctx context.Context, p *pipeline.Project, o editOptions) (err error) {
	text, name, err := a.readAll(o.apply)
	if err != nil {
		return fmt.Errorf("--apply: %w", err)
	}
	if o.By == "" {
		if o.By, err = systemUser(a.getenv); err != nil {
			return usagef("the system has no name for you: say --by NAME")
		}
	}
	done, err := p.Edit(ctx, text, name, o.EditOptions)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"version": nextOf(p, done.Committed), "report": done.Report})
	}
	for _, id := range done.Report.Cases {
		fmt.Fprintf(a.stderr, "goldgen: changed case %s\n", report.Escape(id))
	}
	return a.printVersion(p, done.Committed)
}

// readAll reads a file, or standard input for -.
func (a *app) readAll(path string) (text, name string, err error) {
	var data []byte
	if name = path; path == "-" {
		name = "standard input"
		data, err = io.ReadAll(a.stdin)
	} else {
		data, err = os.ReadFile(path)
	}
	return string(data), name, err
}
