package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/report"
)

// Groups of commands in help.
const (
	groupStart   = "start"
	groupStages  = "stages"
	groupScoring = "scoring"
	groupSets    = "sets"
	groupOther   = "other"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "goldgen",
		Short: "Golden sets for retrieval evaluation, from your own corpus",
		Long: "goldgen makes golden sets for retrieval evaluation from your own corpus with a local model,\n" +
			"says how far they can be trusted, and scores retrievers over them.",
		Example:       "  goldgen -C examples/quickstart run",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.bindEnv(cmd); err != nil {
				return err
			}
			return a.enter()
		},
	}
	root.PersistentFlags().StringVarP(&a.dir, "dir", "C", ".", "work in this folder, where goldgen.yaml is")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress on stderr")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	for _, g := range []cobra.Group{
		{ID: groupStart, Title: "Start:"},
		{ID: groupStages, Title: "Stages, a pipe or one by one:"},
		{ID: groupScoring, Title: "Scoring:"},
		{ID: groupSets, Title: "Golden sets:"},
		{ID: groupOther, Title: "Other:"},
	} {
		root.AddGroup(&g)
	}
	root.SetHelpCommandGroupID(groupOther)
	root.AddCommand(
		newInit(a), newDoctor(a), newRun(a), newRefresh(a),
		newSnapshot(a), newSample(a), newGenerate(a), newJudge(a),
		newEval(a), newCompare(a), newAgreement(a), newReport(a),
		newDatasets(a), newRebase(a), newReview(a), newAudit(a), newCalibrate(a),
		newPrompts(a), newCache(a), newVersion(a), newCompletion(a), newMan(a),
	)
	return root
}

func unknownCommand(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("unknown command %q for %s", name, cmd.CommandPath())
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef("%s", text)
}

// parent is a command that only holds others.
func parent(use, short, group string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, GroupID: group,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(children...)
	return cmd
}

// help joins what a command does with its exit codes; the example is a field of
// its own.
func help(text string, codes ...string) string {
	return text + "\n\nExit codes: " + strings.Join(codes, "; ") + "."
}

const (
	codeDone          = "0 done"
	codeFailed        = "1 could not run"
	codeUsage         = "2 usage or configuration"
	codePartly        = "3 done, but units failed or a quota was not met"
	codeGate          = "4 a gate failed or a leak was found"
	codeNotComparable = "5 not comparable"
	codeBusy          = "75 another refresh of the set is at work: try again later"
	codeInterrupted   = "130 interrupted"
)

// jsonFlag adds --json.
func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON document")
}

// allowExecFlag adds --allow-exec.
func (a *app) allowExecFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.allowExec, "allow-exec", false, "let retrievers of goldgen.yaml start commands where CI is set")
}

// printJSON writes v as the one document of --json.
func (a *app) printJSON(v any) error {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(a.stdout, report.EscapeJSON(doc.String()))
	return err
}
