package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

func newDoctor(a *app) *cobra.Command {
	var pull bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check everything that a run needs", GroupID: groupStart,
		Long:    help("Looks at configuration, corpus, snapshot, cache, models, retrievers and sets, and says what to do.", codeDone, "1 something that a run needs is missing", codeUsage),
		Example: "  goldgen -C examples/quickstart doctor",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			defer p.Close()
			return a.reportDoctor(p.Doctor(cmd.Context(), a.puller(pull)))
		},
	}
	cmd.Flags().BoolVar(&pull, "pull", false, "have Ollama fetch the models that it lacks")
	a.allowExecFlag(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// puller shows how a pull goes on; nil pulls nothing.
func (a *app) puller(pull bool) func(model, status string, completed, total int64) {
	if !pull {
		return nil
	}
	last := ""
	return func(model, status string, completed, total int64) {
		text := fmt.Sprintf("%s: %s", model, status)
		if total > 0 {
			text += fmt.Sprintf(" %d%%", 100*completed/total)
		}
		if text != last {
			fmt.Fprintf(a.stderr, "goldgen: pull %s\n", report.Escape(text))
			last = text
		}
	}
}

func (a *app) reportDoctor(findings []pipeline.Finding) error {
	failed := 0
	t := report.Table{Columns: []report.Column{{Name: "part"}, {Name: "state"}, {Name: "detail", Max: 90}, {Name: "do"}}}
	for _, f := range findings {
		if f.State == pipeline.StateFail {
			failed++
		}
		t.Add(f.Part, f.State, f.Detail, f.Hint)
	}
	var err error
	if a.json {
		err = a.printJSON(map[string]any{"ok": failed == 0, "findings": findings})
	} else {
		err = t.Write(a.stdout, a.style())
	}
	if err == nil && failed > 0 {
		err = &codeError{code: exitFailed, why: wording.Count(failed, "part") + wording.Pick(failed, " is", " are") + " not ready"}
	}
	return err
}
