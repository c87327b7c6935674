package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

func newInit(a *app) *cobra.Command {
	var o pipeline.InitOptions
	cmd := &cobra.Command{
		Use: "init", Short: "Write a commented goldgen.yaml", GroupID: groupStart,
		Long: help("Writes a commented goldgen.yaml for the corpus in this folder (documents, code, or a table of records, by\n"+
			"what is there) and the Ollama server that is running, if one is. An existing file is left alone.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C handbook init --source docs",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			done, err := pipeline.Init(cmd.Context(), a.dir, o)
			if err != nil {
				return err
			}
			return a.reportInit(done)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "name of the golden set (default: the folder's)")
	f.StringVar(&o.Source, "source", "", "the corpus, as seen from the folder (default: docs, if there, else the folder itself or the table in it)")
	f.StringVar(&o.Endpoint, "endpoint", "", "address of the Ollama server to look for")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) reportInit(done *pipeline.Initialised) error {
	if a.json {
		return a.printJSON(done)
	}
	fmt.Fprintf(a.stdout, "wrote %s: set %s over %s\n", report.Escape(done.Path), report.Escape(done.Name), report.Escape(done.Named()))
	if done.Note != "" {
		fmt.Fprintf(a.stderr, "goldgen: warning: %s\n", report.Escape(done.Note))
	}
	switch {
	case done.Model != "":
		fmt.Fprintf(a.stdout, "found Ollama at %s with %s\n", report.Escape(done.Ollama), report.Escape(done.Model))
	case done.Ollama != "":
		fmt.Fprintf(a.stdout, "found Ollama at %s without a chat model: ollama pull llama3.1:8b\n", report.Escape(done.Ollama))
	default:
		fmt.Fprintln(a.stdout, "found no Ollama: goldgen run works without, for a first look")
	}
	fmt.Fprintln(a.stdout, "next: goldgen doctor, then goldgen run")
	return nil
}
