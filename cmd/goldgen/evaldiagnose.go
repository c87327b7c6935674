package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

func (o *evalOptions) addDiagnoseFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.Diagnose, "diagnose", false, "find out why cases failed, by asking further: deeper, without filters, by other retrievers; --case shows one in full")
	f.StringVar(&o.Answers, "answers", "", "with --diagnose, a result of eval answers for what was answered from these rankings: look at both")
	f.StringVar(&o.AnswersBefore, "answers-before", "", "with --answers, an earlier one that was made with --retrieval")
}

func (o *evalOptions) checkDiagnose() error {
	switch {
	case o.Answers != "" && !o.Diagnose:
		return usagef("--answers goes with --diagnose")
	case o.AnswersBefore != "" && o.Answers == "":
		return usagef("--answers-before goes with --answers")
	}
	return nil
}

// printDiagnosis writes why cases failed, where that was asked for: in full
// for the cases that were named.
func (a *app) printDiagnosis(e *pipeline.Evaluation) error {
	switch {
	case e.Diagnosis == nil:
		return nil
	case len(e.Named) == 0:
		return report.DiagnosisTerminal(a.stdout, e.Diagnosis, a.style())
	}
	for i := range e.Diagnosis.All {
		if err := report.CaseDiagnosisTerminal(a.stdout, &e.Diagnosis.All[i], a.style()); err != nil {
			return err
		}
	}
	return a.printNotFailed(e.Diagnosis, e.Named)
}

// printNotFailed names the cases that there is nothing to diagnose in, and says
// what was not looked at.
func (a *app) printNotFailed(d *eval.Diagnosis, named []string) error {
	for _, name := range named {
		if !hasCase(d, name) {
			if _, err := fmt.Fprintf(a.stdout, "\ncase %s did not fail at k %d\n", report.Escape(name), d.K); err != nil {
				return err
			}
		}
	}
	for _, note := range d.Notes {
		if _, err := fmt.Fprintf(a.stdout, "note: %s\n", report.Escape(note)); err != nil {
			return err
		}
	}
	return nil
}

func hasCase(d *eval.Diagnosis, name string) bool {
	for i := range d.All {
		if strings.HasPrefix(d.All[i].CaseID, name) {
			return true
		}
	}
	return false
}
