package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "man", Short: "Write the manual pages", GroupID: groupOther,
		Long:    help("Writes one manual page a command into a folder.", codeDone, codeFailed),
		Example: "  goldgen man -o man",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // fixed: the same pages for the same version
			header := &doc.GenManHeader{Title: "GOLDGEN", Section: "1", Source: "goldgen " + version, Date: &date}
			if err := doc.GenManTree(cmd.Root(), header, out); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.stdout, "%s\n", out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "man", "folder for the pages")
	return cmd
}
