package main

import (
	"fmt"
	"strconv"

	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

// calibrateAnswers holds the judge of a result of answers against people.
func (a *app) calibrateAnswers(p *pipeline.Project, o calibrateOptions) error {
	switch {
	case o.Labels == "" && o.sheet == "":
		return usagef("calibrate --answers needs --labels, a CSV file of verdicts; or --sheet FILE, to begin with deciding")
	case o.Apply || o.Golden != "" || o.Profile != "" || o.MinGrade != 0:
		return usagef("--answers goes with --labels, --sheet, --next and --json only: no set and no profile is written")
	}
	c, err := p.CalibrateAnswers(pipeline.CalibrateAnswersOptions{Result: o.answers, Labels: o.Labels, Next: o.Next})
	if err != nil {
		return err
	}
	if o.sheet != "" {
		if err := a.writeQuestions(o, c); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		err = a.printJSON(c)
	case o.Labels != "":
		err = a.printAnswerCalibration(c)
	}
	if err != nil {
		return err
	}
	lines := make([]string, len(c.Labels.Left))
	for i, f := range c.Labels.Left {
		lines[i] = fmt.Sprintf("%s (%s, %s): %s", f.Where, f.CaseID, f.Question, f.Why)
	}
	return leftOutOf(c.Labels.Read, lines)
}

// writeQuestions writes the questions to decide next. What the judge said is not
// among the columns.
func (a *app) writeQuestions(o calibrateOptions, c *pipeline.CalibratedAnswers) error {
	rows := [][]string{{"case_id", "question", "claim", "verdict", "by", "inclusion", "query", "text", "against"}}
	for i, n := range c.Calibration.Next {
		claim := ""
		if n.Claim > 0 {
			claim = strconv.Itoa(n.Claim)
		}
		t := c.Texts[i]
		rows = append(rows, []string{n.CaseID, string(n.Kind), claim, "", "", plainFloat(n.Inclusion), inert(t.Query), inert(t.Text), inert(t.Against)})
	}
	if err := writeRows("--sheet", o.sheet, rows); err != nil {
		return err
	}
	if c.NoContext != "" {
		fmt.Fprintf(a.stderr, "goldgen: note: the sheet has no contexts and references: %s\n", report.Escape(c.NoContext))
	}
	if !a.json && o.Labels == "" {
		a.say("sheet", "%s, %d questions of %s: fill in the verdicts (yes, no), then goldgen calibrate --answers %s --labels %s",
			o.sheet, len(c.Texts), o.answers, o.answers, o.sheet)
	}
	return nil
}

func (a *app) printAnswerCalibration(c *pipeline.CalibratedAnswers) error {
	l := c.Labels
	a.say("judge", "%s, of %s", c.Judge, c.Result)
	a.say("labels", "%s; %d read, %d not decided yet", wording.Count(l.Used, "question"), l.Read, l.Empty)
	if l.Replaced > 0 {
		a.say("", "%s given twice by one person: the last counts", wording.Count(l.Replaced, "verdict"))
	}
	if l.Joined > 0 {
		a.say("", "%s decided by several people: the majority counts, no where they are even", wording.Count(l.Joined, "question"))
	}
	for _, k := range c.Calibration.Kinds {
		if k.OneClass {
			a.say("", "%s: people said the same to all, which says little of the judge", k.Kind)
		}
	}
	fmt.Fprintln(a.stdout)
	for _, print := range []func([]judge.KindCalibration) error{a.printVerdicts, a.printAgreement, a.printBelief} {
		if err := print(c.Calibration.Kinds); err != nil {
			return err
		}
	}
	next := report.NewTable("decide next", "question", ">claim", "why", "text")
	next.Columns[4].Max = 60
	for i, n := range c.Calibration.Next {
		next.Add(n.CaseID, string(n.Kind), strconv.Itoa(n.Claim), n.Why, c.Texts[i].Text)
	}
	return a.section(next)
}

// printVerdicts is the confusion matrix of each kind of question.
func (a *app) printVerdicts(kinds []judge.KindCalibration) error {
	t := report.NewTable("question", ">labels", ">both yes", ">people yes, judge no", ">people no, judge yes", ">both no", ">judge unknown")
	for _, k := range kinds {
		t.Add(string(k.Kind), strconv.Itoa(k.Labels), strconv.Itoa(k.Confusion[1][1]), strconv.Itoa(k.Confusion[1][0]),
			strconv.Itoa(k.Confusion[0][1]), strconv.Itoa(k.Confusion[0][0]), strconv.Itoa(k.Unknown))
	}
	return a.section(t)
}

func (a *app) printAgreement(kinds []judge.KindCalibration) error {
	t := report.NewTable("question", ">Cohen's kappa", ">AUC", ">sensitivity", ">specificity", ">judge says yes", ">of", ">people would")
	for _, k := range kinds {
		kappa := three(k.Kappa)
		if k.OneClass {
			kappa = "-"
		}
		auc, sensitivity, specificity := classCells(k.Figures, k.OneClass)
		t.Add(string(k.Kind), kappa, auc, sensitivity, specificity, three(k.Yes), strconv.Itoa(k.Asked), span(k.Corrected))
	}
	return a.section(t)
}

// printBelief is the reliability of P(yes).
func (a *app) printBelief(kinds []judge.KindCalibration) error {
	t := report.NewTable("reliability of", ">mean P(yes)", ">people say yes", ">labels")
	for _, k := range kinds {
		for _, b := range k.Figures.Reliability {
			t.Add(string(k.Kind), three(b.P), three(b.Observed), strconv.Itoa(b.Pairs))
		}
	}
	return a.section(t)
}
