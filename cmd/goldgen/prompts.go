package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/prompts"
	"github.com/goldgen/goldgen/report"
)

func newPrompts(a *app) *cobra.Command {
	return parent("prompts", "List, show and change the prompts", groupOther, newPromptsList(a), newPromptsShow(a), newPromptsEject(a))
}

// library holds the prompts as the project of -C has them, or, where there is
// no project, the embedded ones.
func (a *app) library() (*prompts.Library, error) {
	p, err := a.projectIfAny()
	if p == nil || err != nil {
		return nil, err
	}
	return p.Prompts, nil
}

type promptEntry struct {
	ID      string   `json:"id"`
	Version int      `json:"version"`
	Types   []string `json:"types"`
	Digest  string   `json:"digest"`
	Path    string   `json:"path,omitempty"`
}

func newPromptsList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the prompts with their versions and digests",
		Long: help("Lists the prompts that goldgen asks models with, and the file of each that the project changes.\n"+
			"A set's manifest names those it was made with.", codeDone, codeUsage),
		Example: "  goldgen prompts ls",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			library, err := a.library()
			if err != nil {
				return err
			}
			all, err := library.All()
			if err != nil {
				return err
			}
			entries := []promptEntry{}
			t := report.Table{Columns: []report.Column{{Name: "prompt"}, {Name: "version", Right: true}, {Name: "types"}, {Name: "digest"}, {Name: "file"}}}
			for _, p := range all {
				entries = append(entries, promptEntry{p.ID, p.Version, p.Types, p.Digest, p.Path})
				t.Add(p.ID, fmt.Sprint(p.Version), strings.Join(p.Types, ", "), report.ShortDigest(p.Digest), p.Path)
			}
			if a.json {
				return a.printJSON(entries)
			}
			return t.Write(a.stdout, a.style())
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func newPromptsShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a prompt's file",
		Long:    help("Prints a prompt as models are asked with it: front matter, reply schema and template.", codeDone, "2 no such prompt, or one of the project's that cannot be used"),
		Example: "  goldgen prompts show write-factual",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			library, err := a.library()
			if err != nil {
				return err
			}
			p, err := library.Get(args[0])
			if err != nil {
				return usagef("%w", err)
			}
			if a.json {
				return a.printJSON(map[string]any{
					"id": p.ID, "version": p.Version, "types": p.Types, "digest": p.Digest, "schema": p.Schema, "source": p.Source, "path": p.Path,
				})
			}
			_, err = fmt.Fprint(a.stdout, p.Source)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func newPromptsEject(a *app) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use: "eject [DIR] [ID...]", Short: "Copy prompts into a folder, to change them",
		Long: help("Writes the embedded prompts, or those named, into DIR (default: prompts). Name the folder in goldgen.yaml\n"+
			"(prompts: DIR), and what stands in it is asked instead. A file that was changed is left alone, and so are all\n"+
			"others then. A DIR that is named as a prompt is one, such as ./write-factual, only with a slash.", codeDone, "1 a file was changed, or cannot be written", codeUsage),
		Example: "  goldgen prompts eject my-prompts write-factual",
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "prompts"
			if len(args) > 0 && !isPrompt(args[0]) {
				dir, args = args[0], args[1:]
			}
			return a.runEject(dir, args, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "write over files that were changed")
	a.jsonFlag(cmd)
	return cmd
}

// isPrompt reports whether a word names an embedded prompt.
func isPrompt(id string) bool {
	_, err := prompts.Get(id)
	return err == nil
}

func (a *app) runEject(dir string, ids []string, force bool) error {
	ejected, err := prompts.Eject(dir, ids, force)
	switch {
	case errors.Is(err, prompts.ErrUnknown):
		return usagef("%w", err)
	case errors.Is(err, prompts.ErrChanged):
		return &pipeline.HintedError{Err: err, Hint: "--force writes over it; goldgen prompts eject DIR ID takes the others"}
	case err != nil:
		return err
	}
	if a.json {
		return a.printJSON(ejected)
	}
	for _, e := range ejected {
		fmt.Fprintln(a.stdout, report.Escape(e.Path))
	}
	fmt.Fprintf(a.stderr, "goldgen: to have them asked, put into %s: prompts: %s\n", pipeline.ConfigFile, report.Escape(dir))
	return nil
}
