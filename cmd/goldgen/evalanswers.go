package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
)

type evalAnswersOptions struct {
	pipeline.AnswersOptions
	modelOptions
	strict  bool
	perCase bool
}

func (o *evalAnswersOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Golden, "golden", "", "golden set: name, name@v3, name@sha256:..., or a version's folder (default: the newest of the name in goldgen.yaml)")
	f.StringVar(&o.Answers, "answers", "", "JSONL file of the system's answers: case_id, answer, contexts, citations, abstained")
	f.StringVar(&o.Retrieval, "retrieval", "", "result folder of goldgen eval, to lay beside the answers case by case")
	f.StringVar(&o.Baseline, "baseline", "", "earlier result folder of eval answers, for gates on drops")
	f.StringArrayVar(&o.Gates, "gate", nil, `condition, repeatable: "faithfulness >= 0.9", "correctness drop <= 0.02", either with "by query_type"`)
	f.BoolVar(&o.AcceptUntrusted, "accept-untrusted", false, "let gates rest on a set or a judge whose trust is none")
	f.BoolVar(&o.strict, "strict", false, "exit code 5 where a gate cannot tell")
	f.StringSliceVar(&o.SliceBy, "slice-by", nil, "slices: "+strings.Join(eval.SliceNames(), ", "))
	f.StringVar(&o.Out, "out", "", "folder for the result (default: a new one under results/)")
	f.StringVar(&o.Snapshot, "snapshot", "", "read chunks from this snapshot folder")
	f.StringSliceVar(&o.Include, "include", nil, "statuses besides active: needs_review")
	f.BoolVar(&o.perCase, "per-case", false, "with --json, each case's claims, citations and values too")
	o.modelOptions.addFlags(f)
}

func newEvalAnswers(a *app) *cobra.Command {
	var o evalAnswersOptions
	cmd := &cobra.Command{
		Use: "answers", Short: "Judge a system's answers, apart from its retrieval",
		Long: help("Reads a system's answers to the cases of a golden set, with the context that it was given, and reports\n"+
			"faithfulness to the context, relevance, citation precision and recall, correctness against the reference\n"+
			"and right abstention. The model of judge: in goldgen.yaml judges, and is tested on canaries.",
			codeDone, codeFailed, codeUsage, "3 done, but answers are missing, of other cases, or could not be judged",
			"4 a gate failed", "5 not comparable, or with --strict a gate cannot tell", codeInterrupted),
		Example: "  goldgen -C examples/quickstart eval answers --golden mine --answers answers.jsonl",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runEvalAnswers(cmd.Context(), o)
		},
	}
	o.addFlags(cmd.Flags())
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) runEvalAnswers(ctx context.Context, o evalAnswersOptions) (err error) {
	if o.Answers == "" {
		return usagef("--answers FILE is needed: the system's answers as JSONL")
	}
	p, err := a.project()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := o.apply(p, &p.Config.Judge.ModelConfig); err != nil {
		return err
	}
	r, err := p.Answers(ctx, o.AnswersOptions)
	if err != nil {
		return err
	}
	if p.DryRun {
		return a.reportDryRun(ctx, p)
	}
	if err := a.printAnswers(r, o.perCase); err != nil {
		return err
	}
	return answersNote(r, o.strict || p.Config.Gate.CannotTell == "fail")
}

func (a *app) printAnswers(r *pipeline.AnswersReport, perCase bool) error {
	if !perCase {
		r.Cases = nil
	}
	if a.json {
		return a.printJSON(r)
	}
	if err := a.writeAnswers(r); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stderr, "goldgen: result kept in %s\n", r.Path)
	return err
}

// answersNote is the exit code that the result stands for: a failed gate, then
// one that cannot tell, then what is missing.
func answersNote(r *pipeline.AnswersReport, strict bool) error {
	switch {
	case r.Verdict == eval.Fail:
		return &codeError{code: exitGate, why: "a gate failed"}
	case r.Verdict == eval.CannotTell && strict:
		return &codeError{code: exitNotComparable, why: "a gate cannot tell"}
	}
	if why := partlyAnswered(r); len(why) > 0 {
		return &codeError{code: exitPartly, why: strings.Join(why, "; ")}
	}
	return nil
}

func partlyAnswered(r *pipeline.AnswersReport) []string {
	var why []string
	kinds := map[string]int{}
	for _, p := range r.Problems {
		kinds[p.Kind]++
	}
	if n := kinds[pipeline.ProblemUnknownCase]; n > 0 {
		why = append(why, fmt.Sprintf("%s of cases that %s does not have", wording.Count(n, "answer")+wording.Pick(n, " is", " are"), r.Golden.Ref))
	}
	if n := kinds[pipeline.ProblemNoAnswer]; n > 0 {
		why = append(why, fmt.Sprintf("%s no answer and %s as not answered", wording.Count(n, "case")+wording.Pick(n, " has", " have"), wording.Pick(n, "counts", "count")))
	}
	unknown := 0
	for reason, n := range r.Unknown {
		if reason != judge.UnknownBlind {
			unknown += n
		}
	}
	if unknown > 0 {
		why = append(why, wording.Count(unknown, "finding")+wording.Pick(unknown, " is", " are")+" unknown")
	}
	if n := r.Unknown[judge.UnknownBlind]; n > 0 {
		why = append(why, fmt.Sprintf("%s; %d findings are unknown for that", r.TrustDetail, n))
	}
	return why
}
