package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type compareOptions struct {
	pipeline.CompareOptions
	selfTest bool
}

func (o *compareOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Golden, "golden", "", "score both again under this version of the set")
	f.BoolVar(&o.Common, "common", false, "compare only the cases that are the same on both sides")
	f.StringSliceVar(&o.SliceBy, "slice-by", nil, "slices (default: those of the base)")
	f.BoolVar(&o.PerCase, "per-case", false, "list each case that changed; with --json each case's values")
	f.BoolVar(&o.selfTest, "self-test", false, "show how often the tests raise a false alarm on these results")
	f.Int64Var(&o.Seed, "seed", 0, "of resampling")
	addGateFlags(f, &o.GateChoice)
}

// addGateFlags adds what eval and compare share.
func addGateFlags(f *pflag.FlagSet, c *pipeline.GateChoice) {
	f.StringArrayVar(&c.Gates, "gate", nil, `what must hold, such as "recall@10 drop <= 0.02 by query_type"; may be repeated (default: eval.gates of goldgen.yaml)`)
	f.BoolVar(&c.Strict, "strict", false, "a gate that cannot tell ends with exit code 5")
	f.BoolVar(&c.AcceptUntrusted, "accept-untrusted", false, "let gates rest on a set whose trust is none")
}

func newCompare(a *app) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use: "compare BASE CANDIDATE", Short: "Compare two results, with intervals, tests and gates", GroupID: groupScoring,
		Long: help("Compares two result folders of eval over the same cases: per measure and slice the two means, the\n"+
			"difference with its interval and p-value, and what the gates say. It needs no goldgen.yaml; where one\n"+
			"is there, its eval.gates hold unless --gate is given. With --strict a gate that cannot tell ends with 5.",
			codeDone, codeFailed, codeUsage, codeGate, codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart compare results/bm25 results/ngram\n" +
			"  goldgen -C examples/quickstart compare results/bm25 results/ngram --gate \"recall@10 drop <= 0.05\" --accept-untrusted\n" +
			"  goldgen -C examples/quickstart compare results/bm25 results/ngram --golden handbook --slice-by category --json\n" +
			"  goldgen -C examples/quickstart compare results/bm25 results/ngram --self-test",
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Base, o.Candidate = args[0], args[1]
			p, err := a.projectIfAny()
			if err != nil {
				return err
			}
			if p != nil {
				defer p.Close()
			}
			return a.compare(p, o)
		},
	}
	o.addFlags(cmd.Flags())
	a.jsonFlag(cmd)
	return cmd
}

// projectIfAny opens the project of -C, or gives nil where no goldgen.yaml is.
func (a *app) projectIfAny() (*pipeline.Project, error) {
	_, err := os.Stat(filepath.Join(a.dir, pipeline.ConfigFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return a.project()
}

func (a *app) compare(p *pipeline.Project, o compareOptions) error {
	if o.selfTest {
		return a.selfTest(p, o)
	}
	c, err := pipeline.Compare(p, o.CompareOptions)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(c)
	} else {
		err = report.CompareTerminal(a.stdout, c, a.style())
	}
	if err != nil {
		return err
	}
	return verdictNote(c, p.MayCannotTell(o.Strict), o.CompareOptions)
}

func (a *app) selfTest(p *pipeline.Project, o compareOptions) error {
	if len(o.Gates) > 0 || o.PerCase {
		return usagef("--self-test tests the comparison, not the results: it takes no --gate and no --per-case")
	}
	r, err := pipeline.SelfTest(p, o.CompareOptions)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		err = report.SelfTestTerminal(a.stdout, r, a.style())
	}
	if err == nil && !r.Identical {
		err = errors.New("a result differs from itself")
	}
	return err
}

// verdictNote ends with the exit code of a comparison.
func verdictNote(c *eval.Comparison, mayCannotTell bool, o pipeline.CompareOptions) error {
	if !c.Comparable {
		return &pipeline.HintedError{Err: &codeError{code: exitNotComparable, why: "the two results are not comparable"}, Hint: compareHint(c, o)}
	}
	return gateNote(c.Verdict, mayCannotTell)
}

// compareHint says how two results can be made comparable: where only cases
// differ, by another version of the set or by leaving cases out.
func compareHint(c *eval.Comparison, o pipeline.CompareOptions) string {
	for _, d := range c.Differs {
		if n, _, _ := strings.Cut(d, " "); strings.Trim(n, "0123456789") != "" {
			return "score one of them again with goldgen eval, with the conventions of the other"
		}
	}
	command := fmt.Sprintf("goldgen compare %s %s", o.Base, o.Candidate)
	if o.Golden == "" {
		return command + " --golden NAME scores both again under one version of the set; --common compares only the cases that are the same"
	}
	return command + " --golden " + o.Golden + " --common compares only the cases that both have"
}

// gateNote ends with the exit code of the gates' verdict.
func gateNote(verdict string, mayCannotTell bool) error {
	switch {
	case verdict == eval.Fail:
		return &codeError{code: exitGate, why: "a gate failed"}
	case verdict == eval.CannotTell && !mayCannotTell:
		return &codeError{code: exitNotComparable, why: "a gate cannot tell"}
	}
	return nil
}
