package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type evalOptions struct {
	pipeline.EvalOptions
	measures  []string
	qrels     string
	runFile   string
	allowExec bool
}

func (o *evalOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Golden, "golden", "", "golden set: name, name@v3, name@sha256:..., or a version's folder (default: the newest of the name in goldgen.yaml)")
	f.StringVar(&o.Retriever, "retriever", "", "bm25, ngram, dense, hybrid, run:FILE, exec:COMMAND, or one of goldgen.yaml (default: the first of eval.retrievers)")
	f.IntSliceVarP(&o.K, "k", "k", nil, "cut-offs, such as 1,5,10 (default: eval.k of goldgen.yaml)")
	f.StringSliceVarP(&o.measures, "measure", "m", nil, "measures, such as recall@10,ndcg@10,mrr@10,map or trec_eval's names (default: recall, precision and ndcg at each k, mrr and judged at the largest)")
	f.IntVar(&o.MinGrade, "min-grade", 0, "least grade that is relevant (default: the set's)")
	f.StringVar(&o.Source, "source", "", "how the source chunk is labelled: in, judged or out")
	f.StringSliceVar(&o.SliceBy, "slice-by", nil, "slices: "+strings.Join(eval.SliceNames(), ", "))
	f.StringVar(&o.Out, "out", "", "folder for the result (default: a new one under results/)")
	f.BoolVar(&o.PerCase, "per-case", false, "with --json, each case's values too")
	f.StringVar(&o.Snapshot, "snapshot", "", "score against this snapshot folder")
	f.StringSliceVar(&o.Include, "include", nil, "statuses besides active: needs_review")
	f.StringVar(&o.qrels, "qrels", "", "TREC or Parquet qrels; with --run, no golden set is needed")
	f.StringVar(&o.runFile, "run", "", "TREC or Parquet run, with --qrels")
	f.BoolVar(&o.allowExec, "allow-exec", false, "let a retriever of goldgen.yaml start a command where CI is set")
}

func newEval(a *app) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use: "eval", Short: "Score a retriever over a golden set", GroupID: groupScoring,
		Long: help("Asks a retriever every query of a golden set and reports measures with their intervals, by slice,\n"+
			"with leaks, abstention and latency. With --qrels and --run it scores TREC or Parquet files as trec_eval does.",
			codeDone, codeFailed, codeUsage, codePartly, codeGate, codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart eval --retriever bm25 -k 1,5,10\n" +
			"  goldgen -C examples/quickstart eval --golden handbook@v1 --retriever exec:./my-search --slice-by query_type,category\n" +
			"  goldgen -C examples/quickstart eval --retriever ngram -m recall@10,mrr@10 --json --per-case\n" +
			"  goldgen eval --qrels qrels.txt --run run.txt -m map,ndcg_cut_10,P_5",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Measures = strings.Join(o.measures, ",")
			e, err := a.evaluate(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.reportEval(e)
		},
	}
	o.addFlags(cmd.Flags())
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) evaluate(ctx context.Context, o evalOptions) (*pipeline.Evaluation, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.qrels != "" || o.runFile != "" {
		return a.evalFiles(o)
	}
	p, err := a.project()
	if err != nil {
		return nil, err
	}
	defer p.Close()
	o.AllowExec = o.allowExec || a.getenv("CI") == "" || strings.HasPrefix(o.Retriever, "exec:")
	return p.Eval(ctx, o.EvalOptions)
}

func (o *evalOptions) check() error {
	for _, k := range o.K {
		if k < 1 || k > eval.MaxCut {
			return usagef("-k: %d, want 1 to %d", k, eval.MaxCut)
		}
	}
	for _, status := range o.Include {
		if !slices.Contains([]string{datasets.Active, datasets.NeedsReview, datasets.Retired}, status) {
			return usagef("--include: %q, valid are active, needs_review, retired", status)
		}
	}
	if o.MinGrade < 0 {
		return usagef("--min-grade: %d, want 1 or more", o.MinGrade)
	}
	return nil
}

func (a *app) evalFiles(o evalOptions) (*pipeline.Evaluation, error) {
	if o.qrels == "" || o.runFile == "" {
		return nil, usagef("--qrels and --run go together")
	}
	if o.Golden != "" || o.Retriever != "" {
		return nil, usagef("--qrels takes no --golden and no --retriever")
	}
	ks := o.K
	if len(ks) == 0 {
		ks = []int{1, 5, 10}
	}
	return pipeline.EvalFiles(pipeline.FilesOptions{
		Qrels: o.qrels, Run: o.runFile, Measures: o.Measures, K: ks, MinGrade: o.MinGrade,
		PerCase: o.PerCase, Out: o.Out, Version: version, Now: a.now,
	})
}

func (a *app) reportEval(e *pipeline.Evaluation) error {
	var err error
	if a.json {
		err = a.printJSON(e.Result)
	} else {
		err = report.Terminal(a.stdout, e.Result, a.style())
	}
	if err != nil {
		return err
	}
	if e.Path != "" && !a.json {
		fmt.Fprintf(a.stderr, "goldgen: result kept in %s\n", e.Path)
	}
	if err := leakNote(e); err != nil {
		return err
	}
	return failedNote(e)
}

// failedNote ends with exit code 3 when queries got no answer but an error.
func failedNote(evaluations ...*pipeline.Evaluation) error {
	n := 0
	for _, e := range evaluations {
		n += len(e.Result.Failed)
	}
	if n == 0 {
		return nil
	}
	return &codeError{code: exitPartly, why: fmt.Sprintf("%d queries failed and scored 0", n)}
}
