package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type calibrateOptions struct {
	pipeline.CalibrateOptions
	sheet   string
	effects int
	answers string
}

func newCalibrate(a *app) *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use: "calibrate", Short: "Fit the label model on people's labels, and say how good the judge is", GroupID: groupSets,
		Long: help("Reads people's labels of a golden set's (query, chunk) pairs, fits a judge profile on them, keeps it, and\n"+
			"prints how well the judge that graded, the shipped prior and the fitted model agree with people.\n\n"+
			"Labels are a CSV file with the columns case_id, chunk_id, grade (0-3) and optionally by (or who) and inclusion; TREC\n"+
			"qrels; or a golden set with people's labels. --sheet writes the pairs that are worth a label next as such a\n"+
			"file, also without --labels: fill in its grades. judge: {labels: fitted} in goldgen.yaml uses the profile from then on.\n\n"+
			"--answers RESULT does the same for the judge of a system's answers: labels are a CSV file with the columns case_id,\n"+
			"question (supported, relevant, correct, declined), claim, verdict (yes, no) and optionally by and inclusion.\n\n"+
			"--effects N needs no labels: it has the configured judge grade N cases in several forms, and says how far its grades\n"+
			"hang on order and length, and on passages that ask for a grade.",
			codeDone, codeFailed, codeUsage, "3 done, but labels were left out", codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart calibrate --sheet labels.csv",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			defer p.Close()
			return a.calibrate(cmd.Context(), p, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Labels, "labels", "", "file of labels, or reference of a golden set that holds them")
	f.StringVar(&o.Golden, "golden", "", "golden set that the labels are of (default: the configured one, or --labels)")
	f.StringVar(&o.Profile, "profile", "", "file to keep the profile in (default: judge.profile)")
	f.IntVar(&o.MinGrade, "min-grade", 0, "a grade from here on is relevant (default: the set's; 1 where nobody gave more)")
	f.IntVar(&o.Next, "next", 20, "name so many pairs that are worth a label")
	f.StringVar(&o.sheet, "sheet", "", "write those pairs to this CSV file, with an empty column for the grade")
	f.StringVar(&o.answers, "answers", "", "result folder of eval answers: hold its judge against people's verdicts (--labels) instead")
	f.IntVar(&o.effects, "effects", 0, "measure order and length effects of the configured judge on this many cases")
	f.BoolVar(&o.Apply, "apply", false, "write the next version of the set, with the labels and the fitted probabilities")
	a.allowExecFlag(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) calibrate(ctx context.Context, p *pipeline.Project, o calibrateOptions) error {
	switch {
	case o.effects != 0:
		return a.calibrateEffects(ctx, p, o)
	case o.Next < 0:
		return usagef("--next %d: want 0 or more", o.Next)
	case o.answers != "":
		return a.calibrateAnswers(p, o)
	case o.Labels == "" && o.sheet == "":
		return usagef("calibrate needs --labels: a CSV file, TREC qrels, or a golden set with people's labels; or --sheet FILE, to begin with labelling")
	case o.Labels == "" && o.Apply:
		return usagef("--apply needs --labels")
	}
	if o.MinGrade < 0 || o.MinGrade > 3 {
		return usagef("--min-grade %d: want 1 to 3", o.MinGrade)
	}
	c, err := p.Calibrate(ctx, o.CalibrateOptions)
	if err != nil {
		return err
	}
	if o.sheet != "" {
		if err := writeSheet(o.sheet, c); err != nil {
			return err
		}
		if o.Labels == "" && !a.json {
			a.say("sheet", "%s, %d pairs of %s: fill in the grades (0-3), then goldgen calibrate --labels %s", o.sheet, len(c.Texts), c.Golden.Ref, o.sheet)
			return nil
		}
	}
	if a.json {
		err = a.printJSON(c)
	} else {
		err = a.printCalibration(c)
	}
	if err != nil {
		return err
	}
	return leftOut(c.Labels)
}

// leftOut names the labels that could not be used.
func leftOut(r pipeline.LabelReport) error {
	lines := make([]string, len(r.Left))
	for i, f := range r.Left {
		lines[i] = fmt.Sprintf("%s (%s, %s): %s", f.Where, f.CaseID, f.ChunkID, f.Why)
	}
	return leftOutOf(r.Read, lines)
}

// leftOutOf ends with code 3 where labels were left out.
func leftOutOf(read int, lines []string) error {
	n := len(lines)
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %d labels were left out: %s", n, read, strings.Join(lines[:min(n, 5)], "; "))
	if n > 5 {
		text += "; ... --json names all"
	}
	return &codeError{code: exitPartly, why: text}
}

// writeSheet writes the pairs to label next. The machine's p is not among the
// columns: who sees it labels by it.
func writeSheet(path string, c *pipeline.Calibrated) error {
	rows := [][]string{{"case_id", "chunk_id", "grade", "by", "inclusion", "query", "passage"}}
	for i, n := range c.Calibration.Next {
		rows = append(rows, []string{n.CaseID, n.ChunkID, "", "", plainFloat(n.Inclusion), inert(c.Texts[i].Query), inert(c.Texts[i].Passage)})
	}
	return writeRows("--sheet", path, rows)
}

func plainFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// writeRows writes a new CSV file, which a flag names.
func writeRows(flag, path string, rows [][]string) error {
	return writeNew(flag, path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// writeNew writes a file that people fill in, and never over one that they have.
func writeNew(flag, path string, write func(io.Writer) error) error {
	if _, err := os.Stat(path); err == nil {
		return usagef("%s %s: is there already, and may hold labels", flag, path)
	}
	return atomicfile.Write(path, 0o644, write)
}

// inert keeps a spreadsheet from running a text as a formula.
func inert(text string) string {
	if strings.HasPrefix(text, "=") || strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "@") {
		return "'" + text
	}
	return text
}

func (a *app) printCalibration(c *pipeline.Calibrated) error {
	l := c.Labels
	a.say("labels", "%d pairs of %s, relevant from grade %d on; %d read, %d not labelled yet", l.Used, c.Golden.Ref, l.MinGrade, l.Read, l.Empty)
	if l.Binary {
		a.say("", "nobody gave more than 1, so 1 counts as relevant")
	}
	if l.Replaced > 0 {
		a.say("", "%s given twice by one person: the last counts", wording.Count(l.Replaced, "label"))
	}
	if l.Joined > 0 {
		a.say("", "%s labelled by several people: the median counts, the lower of two", wording.Count(l.Joined, "pair"))
	}
	switch {
	case c.Calibration.Kept:
		a.say("profile", "none written: all labels are of one class, which teaches nothing; the prior stays")
	default:
		a.say("profile", "%s, fitted on %s of %s", c.Path,
			wording.Count(c.Calibration.Profile.Training.Pairs, "pair"), wording.Count(c.Calibration.Profile.Training.Queries, "query"))
	}
	if c.Written != nil {
		a.say("golden set", "%s (%s), with these labels", c.Written.Ref, c.Written.Path)
	}
	fmt.Fprintln(a.stdout)
	for _, print := range []func(*judge.Calibration) error{a.printFigures, a.printJudge, a.printFeatures, a.printCurve} {
		if err := print(c.Calibration); err != nil {
			return err
		}
	}
	return a.printNext(c)
}

func (a *app) say(what, format string, args ...any) {
	fmt.Fprintf(a.stdout, "%-12s %s\n", what, report.Escape(fmt.Sprintf(format, args...)))
}

func (a *app) printFigures(c *judge.Calibration) error {
	t := report.NewTable("labels by", ">AUC", ">Brier score", ">sensitivity at .5", ">specificity at .5")
	add := func(name string, f judge.Figures) {
		auc, sensitivity, specificity := classCells(f, c.Kept)
		t.Add(name, auc, span(f.Brier), sensitivity, specificity)
	}
	add("prior", c.Prior)
	if !c.Kept {
		add("fitted, on queries that it did not see", c.Profile.Figures)
	}
	if err := t.Write(a.stdout, a.style()); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	curve := report.NewTable("reliability: mean p", ">relevant", ">pairs")
	for _, b := range figuresOf(c).Reliability {
		curve.Add(three(b.P), three(b.Observed), strconv.Itoa(b.Pairs))
	}
	return a.section(curve)
}

// classCells shows the figures that take pairs of both classes, or of one: "-"
// where people's labels are all of one class and it is not theirs.
func classCells(f judge.Figures, oneClass bool) (auc, sensitivity, specificity string) {
	auc, sensitivity, specificity = span(f.AUC), span(f.Sensitivity), span(f.Specificity)
	switch {
	case oneClass && f.Share < 0.5:
		return "-", "-", specificity
	case oneClass:
		return "-", sensitivity, "-"
	}
	return auc, sensitivity, specificity
}

func figuresOf(c *judge.Calibration) judge.Figures {
	if c.Kept {
		return c.Prior
	}
	return c.Profile.Figures
}

// section writes a table that has rows, and an empty line.
func (a *app) section(t *report.Table) error {
	if len(t.Rows) == 0 {
		return nil
	}
	if err := t.Write(a.stdout, a.style()); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	return nil
}

func span(i datasets.Interval) string {
	return fmt.Sprintf("%.3f [%.2f, %.2f]", i.Value, i.Low, i.High)
}

func three(x float64) string { return fmt.Sprintf("%.3f", x) }

func (a *app) printJudge(c *judge.Calibration) error {
	j := c.Judge
	if j == nil {
		a.say("judge", "no labelled pair has a model's grade")
		fmt.Fprintln(a.stdout)
		return nil
	}
	t := report.NewTable("people \\ judge", ">0", ">1", ">2", ">3")
	for grade, row := range j.Confusion {
		cells := []string{strconv.Itoa(grade)}
		for _, n := range row {
			cells = append(cells, strconv.Itoa(n))
		}
		t.Add(cells...)
	}
	if err := a.section(t); err != nil {
		return err
	}
	k := report.NewTable("judge against people", ">value")
	auc := span(j.AUC)
	if c.Kept {
		auc = "-"
	}
	k.Add("AUC of its grades", auc)
	k.Add("Cohen's kappa, four grades", kappaCell(j.Kappa, j.Confusion, 1, 2, 3))
	k.Add("Cohen's kappa, quadratic weights", kappaCell(j.Quadratic, j.Confusion, 1, 2, 3))
	for _, b := range j.Binary {
		k.Add(fmt.Sprintf("Cohen's kappa, grade >= %d", b.Threshold), kappaCell(b.Kappa, j.Confusion, b.Threshold))
	}
	return a.section(k)
}

// kappaCell shows kappa over grades that are cut at thresholds; "-" where people
// gave grades of one part only, so that agreement beyond chance cannot be had.
func kappaCell(kappa float64, confusion [4][4]int, thresholds ...int) string {
	parts := map[int]bool{}
	for grade, row := range confusion {
		if row != [4]int{} {
			part, _ := slices.BinarySearch(thresholds, grade+1)
			parts[part] = true
		}
	}
	if len(parts) < 2 {
		return "-"
	}
	return three(kappa)
}

func (a *app) printFeatures(c *judge.Calibration) error {
	t := report.NewTable("feature alone", ">AUC")
	for _, name := range slices.Concat(judge.PriorFeatures(), judge.ExtraFeatures()) {
		if auc, ok := c.FeatureAUC[name]; ok {
			t.Add(name, three(auc))
		}
	}
	return a.section(t)
}

func (a *app) printCurve(c *judge.Calibration) error {
	t := report.NewTable("labels used", ">AUC on the others", ">Brier score")
	for _, p := range c.Curve {
		t.Add(strconv.Itoa(p.Labels), three(p.AUC), three(p.Brier))
	}
	return a.section(t)
}

func (a *app) printNext(c *pipeline.Calibrated) error {
	t := report.NewTable("label next", "chunk", "why", "query")
	t.Columns[3].Max = 60
	for i, n := range c.Calibration.Next {
		t.Add(n.CaseID, n.ChunkID, n.Why, c.Texts[i].Query)
	}
	if err := a.section(t); err != nil || len(t.Rows) == 0 {
		return err
	}
	a.say("next", "label pairs on a page: goldgen review %s", c.Golden.Name)
	return nil
}
