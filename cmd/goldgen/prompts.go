package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/prompts"
	"github.com/goldgen/goldgen/report"
)

func newPrompts(a *app) *cobra.Command {
	return parent("prompts", "List and show the prompts", groupOther, newPromptsList(a), newPromptsShow(a))
}

type promptEntry struct {
	ID      string   `json:"id"`
	Version int      `json:"version"`
	Types   []string `json:"types"`
	Digest  string   `json:"digest"`
}

func newPromptsList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the prompts with their versions and digests",
		Long:    help("Lists the prompts that goldgen asks models with. A set's manifest names those it was made with.", codeDone),
		Example: "  goldgen prompts ls",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			all, err := prompts.All()
			if err != nil {
				return err
			}
			entries := []promptEntry{}
			t := report.Table{Columns: []report.Column{{Name: "prompt"}, {Name: "version", Right: true}, {Name: "types"}, {Name: "digest"}}}
			for _, p := range all {
				entries = append(entries, promptEntry{p.ID, p.Version, p.Types, p.Digest})
				t.Add(p.ID, fmt.Sprint(p.Version), strings.Join(p.Types, ", "), report.ShortDigest(p.Digest))
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
		Long:    help("Prints a prompt as it is embedded: front matter, reply schema and template.", codeDone, "2 no such prompt"),
		Example: "  goldgen prompts show write-factual",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := prompts.Get(args[0])
			if err != nil {
				return usagef("%w", err)
			}
			if a.json {
				return a.printJSON(map[string]any{"id": p.ID, "version": p.Version, "types": p.Types, "digest": p.Digest, "schema": p.Schema, "source": p.Source})
			}
			_, err = fmt.Fprint(a.stdout, p.Source)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
