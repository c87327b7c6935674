package main

import (
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

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

// printNotFailed names the cases that there is nothing to diagnose in.
func (a *app) printNotFailed(d *eval.Diagnosis, named []string) error {
	for _, name := range named {
		if !hasCase(d, name) {
			if _, err := fmt.Fprintf(a.stdout, "\ncase %s did not fail at k %d\n", report.Escape(name), d.K); err != nil {
				return err
			}
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
