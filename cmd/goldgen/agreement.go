package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type agreementOptions struct {
	pipeline.AgreementOptions
	html    string
	perPair bool
}

func (o *agreementOptions) addFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.Retrievers, "retrievers", nil, "what both sets rank, comma-separated: SPECs as of eval --retriever, or builtin:N for the first N of 24 ready-made ones")
	f.StringVar(&o.Runs, "runs", "", "instead: a folder of run files, one a retriever; where the two sets have other case ids, with the folders reference and tested in it")
	f.StringVarP(&o.Measures, "measures", "m", pipeline.DefaultAgreementMeasure, "what retrievers are ordered by; the figures are those of the first, others stand beside it")
	f.StringVar(&o.Source, "source", "", "in, judged or out: how the chunk that a query was written from is labelled (default: eval.source)")
	f.StringSliceVar(&o.Include, "include", nil, "statuses besides active, such as needs_review")
	f.Int64Var(&o.Seed, "seed", 0, "of resampling")
	f.BoolVar(&o.perPair, "per-pair", false, "list every pair of retrievers that is in another order; with --json all pairs")
	f.StringVar(&o.html, "html", "", "write a page with the picture to this file")
}

func newAgreement(a *app) *cobra.Command {
	var o agreementOptions
	cmd := &cobra.Command{
		Use: "agreement REFERENCE SET", Short: "Say whether a golden set ranks retrievers as a reference does", GroupID: groupScoring,
		Long: help("Asks retrievers over two golden sets, and says how far SET orders them as REFERENCE does. REFERENCE comes\n"+
			"first and is the set that is believed: people's, where there is one. SET is the one that is tested.\n\n"+
			"right: of the pairs of retrievers that SET separates, the share that REFERENCE orders the same. reversed: of\n"+
			"the pairs that REFERENCE separates, the share that SET separates the other way round. Then Kendall's tau,\n"+
			"and what is lost where SET's first is picked; all beside a ceiling (random halves of REFERENCE) and a\n"+
			"placebo (SET's pools, labelled by the toss of a coin). Each set is asked over the snapshot that it was made for.",
			codeDone, codeFailed, codeUsage, codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart agreement handbook@v1 handbook --retrievers builtin:24\n" +
			"  goldgen -C examples/quickstart agreement handbook@v1 handbook --retrievers bm25,ngram,lsa -m ndcg@10,recall@10 --html agreement.html",
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Reference, o.Tested = args[0], args[1]
			if len(o.Retrievers) > 0 && o.Runs != "" {
				return usagef("--retrievers and --runs: one of the two")
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			defer p.Close()
			return a.agreement(cmd.Context(), p, o)
		},
	}
	o.addFlags(cmd.Flags())
	a.allowExecFlag(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) agreement(ctx context.Context, p *pipeline.Project, o agreementOptions) error {
	o.AllowExec = a.allowExec || a.getenv("CI") == "" || slices.ContainsFunc(o.Retrievers, startsCommand)
	found, err := p.Agreement(ctx, o.AgreementOptions)
	if err != nil {
		return err
	}
	if o.html != "" {
		if err := a.agreementPage(o.html, found); err != nil {
			return err
		}
	}
	if !a.json {
		return report.AgreementTerminal(a.stdout, found, o.perPair, a.style())
	}
	if !o.perPair {
		found.Pairs = nil
	}
	return a.printJSON(found)
}

// startsCommand tells a SPEC of the command line that starts a command: who types
// it means it.
func startsCommand(spec string) bool {
	return strings.HasPrefix(spec, "exec:") || strings.HasPrefix(spec, "mcp:")
}

func (a *app) agreementPage(path string, found *eval.Agreement) error {
	err := atomicfile.Write(path, 0o644, func(w io.Writer) error { return report.AgreementHTML(w, found) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "goldgen: page written to %s\n", report.Escape(path))
	return nil
}
