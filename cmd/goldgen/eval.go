package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/retrieve"
)

type evalOptions struct {
	pipeline.EvalOptions
	gates     pipeline.GateEval
	maxFailed float64
	measures  []string
	qrels     string
	runFile   string
	given     []string // names of the flags on the command line
}

func (o *evalOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Golden, "golden", "", "golden set: name, name@v3, name@sha256:..., or a version's folder (default: the newest of the name in goldgen.yaml)")
	f.StringVar(&o.Retriever, "retriever", "", strings.Join(retrieve.Kinds(), ", ")+", or one of goldgen.yaml (default: the first of eval.retrievers)")
	f.IntSliceVarP(&o.K, "k", "k", nil, "cut-offs, such as 1,5,10 (default: eval.k of goldgen.yaml)")
	f.StringSliceVarP(&o.measures, "measure", "m", nil, "measures, such as recall@10,ndcg@10,mrr@10,map or trec_eval's names (default: recall, precision and ndcg at each k, mrr and judged at the largest)")
	f.IntVar(&o.MinGrade, "min-grade", 0, "least grade that is relevant (default: the set's)")
	f.StringVar(&o.Source, "source", "", "how the chunk that a query was written from is read: in, judged or out (default: eval.source; auto is out where a label model labels the set, else in)")
	f.StringSliceVar(&o.SliceBy, "slice-by", nil, "slices: "+strings.Join(eval.SliceNames(), ", "))
	f.StringVar(&o.Out, "out", "", "folder for the result (default: a new one under results/)")
	f.BoolVar(&o.PerCase, "per-case", false, "with --json, each case's values too")
	f.StringVar(&o.Snapshot, "snapshot", "", "score against this snapshot folder")
	f.StringSliceVar(&o.Include, "include", nil, "statuses besides active: needs_review")
	f.StringArrayVar(&o.Cases, "case", nil, "ask only this case: its id, or the beginning of it; may be repeated")
	f.StringArrayVar(&o.Slices, "slice", nil, "ask only the cases of a slice, such as query_type=factual; may be repeated")
	o.addDiagnoseFlags(f)
	f.StringVar(&o.Failing, "filter-failing", "", "ask only the cases that failed in this result")
	f.StringVar(&o.RetryFailed, "retry-failed", "", "ask only the queries that failed in this result, and join both into a new one")
	f.BoolVar(&o.Cache, "cache", false, "take answers from earlier evaluations of the same index where there are any, and keep new ones")
	f.Float64Var(&o.maxFailed, "max-failed", 0, "share of failed queries from which on a result does not stand (default: eval.max_failed of goldgen.yaml)")
	f.StringVar(&o.gates.Baseline, "baseline", "", "compare with this result: a folder, best (of the history), or git:REF (its last result as of that commit)")
	f.BoolVar(&o.gates.Gate, "gates", false, "hold the result to eval.gates of goldgen.yaml")
	addGateFlags(f, &o.gates.GateChoice)
	f.StringVar(&o.qrels, "qrels", "", "TREC or Parquet qrels; with --run, no golden set is needed")
	f.StringVar(&o.runFile, "run", "", "TREC or Parquet run, with --qrels")
}

func newEval(a *app) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use: "eval", Short: "Score a retriever over a golden set", GroupID: groupScoring,
		Long: help("Asks a retriever every query of a golden set and reports measures with their intervals, by slice,\n"+
			"with leaks, abstention and latency. With --qrels and --run it scores TREC or Parquet files as trec_eval does.\n"+
			"With --baseline it also compares, and with gates it ends as they say.",
			codeDone, codeFailed, codeUsage, codePartly, codeGate, codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart eval --retriever bm25 -k 1,5,10 --out results/bm25\n" +
			"  goldgen -C examples/quickstart eval --golden handbook@v1 --retriever exec:./my-search --slice-by query_type,category\n" +
			"  goldgen -C examples/quickstart eval --retriever ngram -m recall@10,mrr@10 --json --per-case\n" +
			"  goldgen -C examples/quickstart eval --retriever ngram --baseline results/bm25 --out results/ngram --gate \"recall@10 drop <= 0.05\" --accept-untrusted\n" +
			"  goldgen -C examples/quickstart eval --retriever bm25 -k 1 --diagnose\n" +
			"  goldgen eval --qrels qrels.txt --run run.txt -m map,ndcg_cut_10,P_5",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Measures = strings.Join(o.measures, ",")
			cmd.Flags().Visit(func(f *pflag.Flag) { o.given = append(o.given, f.Name) })
			if cmd.Flags().Changed("max-failed") {
				o.MaxFailed = &o.maxFailed
			}
			return a.eval(cmd.Context(), o)
		},
	}
	o.addFlags(cmd.Flags())
	a.allowExecFlag(cmd)
	a.jsonFlag(cmd)
	cmd.AddCommand(newEvalHistory(a), newEvalAnswers(a))
	return cmd
}

func (a *app) eval(ctx context.Context, o evalOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.qrels != "" || o.runFile != "" {
		e, err := a.evalFiles(o)
		if err != nil {
			return err
		}
		return a.reportEval(&pipeline.Gated{Evaluation: e}, nil)
	}
	p, err := a.project()
	if err != nil {
		return err
	}
	defer p.Close()
	o.AllowExec = a.allowExec || a.getenv("CI") == "" || strings.HasPrefix(o.Retriever, "exec:") || strings.HasPrefix(o.Retriever, "mcp:")
	g, err := p.EvalGated(ctx, o.EvalOptions, o.gates)
	if err != nil {
		return err
	}
	if waiting := p.WithoutBaseline(); waiting != "" && o.gates.Gate && g.Baseline == nil && len(o.gates.Gates) == 0 {
		fmt.Fprintf(a.stderr, "goldgen: warning: without --baseline these gates of goldgen.yaml are not looked at: %s\n", waiting)
	}
	return a.reportEval(g, func() error { return gatedNote(g, p, o.gates) })
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
	if err := o.checkDiagnose(); err != nil {
		return err
	}
	if o.MinGrade < 0 {
		return usagef("--min-grade: %d, want 1 or more", o.MinGrade)
	}
	if !(o.maxFailed >= 0 && o.maxFailed <= 1) {
		return usagef("--max-failed: %v, want a share from 0 to 1", o.maxFailed)
	}
	if o.RetryFailed != "" && (len(o.Cases) > 0 || len(o.Slices) > 0 || o.Failing != "") {
		return usagef("--retry-failed asks what failed in its result: it takes no --case, --slice or --filter-failing")
	}
	return nil
}

// filesFlags are the flags that say something of files alone; the others are
// about a golden set or about asking a retriever.
func filesFlags() []string {
	return []string{"qrels", "run", "measure", "k", "min-grade", "per-case", "json", "out", "dir", "quiet"}
}

func (a *app) evalFiles(o evalOptions) (*pipeline.Evaluation, error) {
	if o.qrels == "" || o.runFile == "" {
		return nil, usagef("--qrels and --run go together")
	}
	if o.Golden != "" || o.Retriever != "" {
		return nil, usagef("--qrels takes no --golden and no --retriever")
	}
	if o.gates.Baseline != "" || o.gates.Gate || len(o.gates.Gates) > 0 {
		return nil, usagef("--qrels takes no --baseline and no gates: keep the result with --out, then goldgen compare")
	}
	if o.Diagnose || o.Answers != "" {
		return nil, usagef("--diagnose asks the retriever further: a run file has nobody to ask")
	}
	for _, name := range o.given {
		if !slices.Contains(filesFlags(), name) {
			return nil, usagef("--qrels scores whole files, without a golden set: it takes no --%s", name)
		}
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

// evalDocument is the answer of eval --json; what was not asked for is left out.
type evalDocument struct {
	*eval.Result
	Path       string             `json:"path,omitempty"` // of the result
	Baseline   *pipeline.Baseline `json:"baseline,omitempty"`
	Comparison *eval.Comparison   `json:"comparison,omitempty"`
	Gates      *eval.GateCheck    `json:"gates,omitempty"`
}

// reportEval prints what was scored and ends with the gravest exit code: a
// leak, too many failed queries, what the gates say, then failed queries. What
// is less grave is said beside it.
func (a *app) reportEval(g *pipeline.Gated, gates func() error) error {
	if err := a.printEval(g); err != nil {
		return err
	}
	if g.Path != "" && !a.json {
		fmt.Fprintf(a.stderr, "goldgen: result kept in %s\n", g.Path)
	}
	var leaked, gated error
	if !leaksWaived(g) {
		leaked = leakNote(g.Evaluation)
	}
	if gates != nil && !g.TooManyFailed {
		gated = gates()
	}
	return errors.Join(leaked, gated, failedNote(g.Evaluation))
}

// leaksWaived reports whether gates were decided and let every leak pass: one
// that is not waived fails them, whatever they look at.
func leaksWaived(g *pipeline.Gated) bool {
	decided := g.Gates != nil || g.Comparison != nil && g.Comparison.Comparable
	return decided && g.Verdict() != eval.Fail
}

func (a *app) printEval(g *pipeline.Gated) error {
	if a.json {
		return a.printJSON(evalDocument{Result: g.Result, Path: g.Path, Baseline: g.Baseline, Comparison: g.Comparison, Gates: g.Gates})
	}
	if err := report.Terminal(a.stdout, g.Result, a.style()); err != nil {
		return err
	}
	if err := a.printDiagnosis(g.Evaluation); err != nil {
		return err
	}
	switch {
	case g.Comparison != nil:
		fmt.Fprintln(a.stdout)
		if err := a.printFields([]field{{"baseline", g.Baseline.Path + " (" + g.Baseline.Why + ")"}}); err != nil {
			return err
		}
		return report.CompareTerminal(a.stdout, g.Comparison, a.style())
	case g.Gates != nil:
		return report.GatesTerminal(a.stdout, g.Gates, a.style())
	}
	return nil
}

// gatedNote ends with the exit code of the comparison, or of gates alone.
func gatedNote(g *pipeline.Gated, p *pipeline.Project, o pipeline.GateEval) error {
	if g.Comparison != nil {
		return verdictNote(g.Comparison, p.MayCannotTell(o.Strict), pipeline.CompareOptions{Base: g.Baseline.Path, Candidate: g.Path})
	}
	return gateNote(g.Verdict(), p.MayCannotTell(o.Strict))
}

// failedNote ends with exit code 3 when queries got no answer but an error, and
// with 1 when so many did that a result does not stand.
func failedNote(evaluations ...*pipeline.Evaluation) error {
	n := 0
	for _, e := range evaluations {
		n += len(e.Result.Failed)
		if e.TooManyFailed {
			why := fmt.Sprintf("%d of %d queries failed, more than eval.max_failed allows: the result is kept, and does not stand",
				len(e.Result.Failed), e.Result.Counts.Cases)
			return &pipeline.HintedError{
				Err:  &codeError{code: exitFailed, why: why},
				Hint: "goldgen eval --retry-failed " + e.Path + " asks only these again",
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &codeError{code: exitPartly, why: wording.Count(n, "query") + " failed and scored 0"}
}
