package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/review"
)

type reviewOptions struct {
	pipeline.ReviewOptions
	port      int
	finish    bool
	conflicts bool
	export    string
}

func (o *reviewOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Sample, "sample", "", "which pairs: "+strings.Join(review.SampleNames(), ", ")+" (default: the first that can be drawn of decisive, uncertain, top and random)")
	f.IntVarP(&o.N, "number", "n", 100, "how many pairs")
	f.StringVar(&o.Reviewer, "reviewer", "", "who labels (default: the system's name for you)")
	f.StringSliceVar(&o.Results, "results", nil, "BASE,CANDIDATE: the comparison to narrow (default: the newest results of two retrievers)")
	f.BoolVar(&o.NotBlind, "not-blind", false, "show what the machine says before the label")
	f.IntVar(&o.port, "port", 0, "port of the page on this machine (default: any free one)")
	f.BoolVar(&o.finish, "finish", false, "write everybody's labels as the set's next version, without the page")
	f.BoolVar(&o.conflicts, "conflicts", false, "print how people agree, and the pairs that they graded differently")
	f.StringVar(&o.export, "export", "", "write everybody's labels to this CSV file, which calibrate --labels reads")
}

func newReview(a *app) *cobra.Command {
	var o reviewOptions
	cmd := &cobra.Command{
		Use: "review SET", Short: "Label pairs of a golden set on a page", GroupID: groupSets,
		Long: help("Serves a page on this machine alone on which a person labels pairs of a query and a passage: grades by key,\n"+
			"queries edited, cases rejected, passages added. Each label is on disk before the next pair is shown. Ctrl-C ends\n"+
			"the page; the same command goes on where it stopped. Several people label the same sample under their own\n"+
			"names. --finish, or the page's button, writes all that they said as the set's next version.",
			codeDone, codeFailed, codeUsage, "3 a version was written, but labels were left out", codeNotComparable, codeInterrupted),
		Example: "  goldgen -C examples/quickstart review handbook --conflicts",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Golden = args[0]
			p, err := a.project()
			if err != nil {
				return err
			}
			defer p.Close()
			return a.review(cmd.Context(), p, o)
		},
	}
	o.addFlags(cmd.Flags())
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) review(ctx context.Context, p *pipeline.Project, o reviewOptions) error {
	asked := 0
	for _, one := range []bool{o.finish, o.conflicts, o.export != ""} {
		if one {
			asked++
		}
	}
	switch {
	case asked > 1:
		return usagef("--finish, --conflicts and --export: one at a time")
	case o.finish:
		return a.finishReview(ctx, p, o.Golden)
	case o.conflicts:
		return a.reviewConflicts(p, o.Golden)
	case o.export != "":
		return a.exportReview(p, o.Golden, o.export)
	case a.json:
		return usagef("--json goes with --finish or --conflicts")
	case o.port < 0 || o.port > 65535:
		return usagef("--port %d: want 0 to 65535", o.port)
	}
	return a.serveReview(ctx, p, o)
}

// serveReview is up until the command is told to end, which is its ordinary end.
func (a *app) serveReview(ctx context.Context, p *pipeline.Project, o reviewOptions) (err error) {
	if o.Reviewer == "" {
		if o.Reviewer, err = systemUser(a.getenv); err != nil {
			return err
		}
	}
	r, err := p.OpenReview(ctx, o.ReviewOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	server, err := review.Listen(ctx, o.port, rand.Reader)
	if err != nil {
		return err
	}
	a.announce(r, server.URL())
	if err := server.Serve(ctx, r); err != nil {
		return err
	}
	s := r.Session()
	fmt.Fprintf(a.stderr, "goldgen: %d of %d labelled, %d skipped; kept in %s\n", s.Labelled, s.Total, s.Skipped, report.Escape(r.Journal))
	return nil
}

// announce prints the page's address on stdout and all else on stderr.
func (a *app) announce(r *pipeline.Review, url string) {
	for _, n := range r.Notes {
		fmt.Fprintf(a.stderr, "goldgen: %s\n", report.Escape(n))
	}
	s := r.Session()
	fmt.Fprintf(a.stderr, "goldgen: %s: %d pairs, sample %s of %d, %d labelled by %s\n",
		s.Set, s.Total, report.Escape(s.Sample), r.Sample.Pool, s.Labelled, report.Escape(s.Reviewer))
	if len(r.Compared) == 2 {
		fmt.Fprintf(a.stderr, "goldgen: the interval is of %s against %s\n", report.Escape(r.Compared[1]), report.Escape(r.Compared[0]))
	}
	fmt.Fprintln(a.stdout, url)
	fmt.Fprintln(a.stderr, "goldgen: open this address in a browser on this machine; Ctrl-C ends the page, labels are kept")
}

// systemUser is what the system calls the person, without a domain.
func systemUser(getenv func(string) string) (string, error) {
	if u, err := user.Current(); err == nil && u.Username != "" {
		name := u.Username
		return name[strings.LastIndexByte(name, '\\')+1:], nil
	}
	for _, key := range []string{"USER", "USERNAME"} {
		if name := getenv(key); name != "" {
			return name, nil
		}
	}
	return "", usagef("the system has no name for you: say --reviewer NAME")
}

func (a *app) finishReview(ctx context.Context, p *pipeline.Project, golden string) error {
	f, err := p.FinishReview(ctx, golden)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(f)
	} else {
		a.printFinished(f)
	}
	if err != nil || len(f.Left) == 0 {
		return err
	}
	text := fmt.Sprintf("%d labels were left out:", len(f.Left))
	for _, l := range f.Left[:min(len(f.Left), 5)] {
		text += fmt.Sprintf(" %s of %s, %s: %s;", l.Reviewer, l.CaseID, l.ChunkID, l.Why)
	}
	return &codeError{code: exitPartly, why: strings.TrimSuffix(text, ";")}
}

func (a *app) printFinished(f *pipeline.FinishedReview) {
	a.notes(f.Notes)
	ref := f.Golden.String()
	if f.Written {
		a.say("golden set", "%s (%s)", ref, f.Golden.Path)
	} else {
		a.say("golden set", "%s (%s), which holds these labels already", ref, f.Golden.Path)
	}
	a.say("labels", "%d pairs of %s, trust %s", f.Labels, f.Of, f.Trust)
	for _, r := range f.Reviews {
		a.say("", "%s: %d labels, %d queries edited, %d cases rejected, %s to %s", r.Reviewer, r.Labels, r.Reworded, r.Rejected, r.First, r.Last)
	}
	if n := len(f.Conflicts); n > 0 {
		a.say("", "%d pairs were graded differently: the median counts, the lower of two; goldgen review %s --conflicts", n, f.Of)
	}
	if f.Imported {
		a.say("next", "goldgen review %s --sample failing:RESULT shows what the failed cases of a result were given and nobody judged", f.Golden.Name)
		return
	}
	a.say("next", "goldgen calibrate --labels %s fits the label model on them", ref)
}

func (a *app) notes(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(a.stderr, "goldgen: %s\n", report.Escape(n))
	}
}

func (a *app) reviewConflicts(p *pipeline.Project, golden string) error {
	r, err := p.ReviewReport(golden)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.notes(r.Notes)
	if len(r.Reviewers) == 0 {
		a.say("labels", "none of %s yet", r.Golden.Ref)
		return nil
	}
	people := report.NewTable("reviewer", ">labels", ">queries edited", ">cases rejected", "last")
	for _, x := range r.Reviewers {
		people.Add(x.Reviewer, strconv.Itoa(x.Labels), strconv.Itoa(x.Reworded), strconv.Itoa(x.Rejected), x.Last)
	}
	agreement := report.NewTable("people", ">pairs of both", ">same grade", ">Cohen's kappa", ">quadratic", ">relevant or not")
	for _, x := range r.Agreements {
		agreement.Add(x.A+", "+x.B, strconv.Itoa(x.Pairs), strconv.Itoa(x.Same), orDash(x.Kappa), orDash(x.Quadratic), orDash(x.Relevant))
	}
	for _, t := range []*report.Table{people, agreement} {
		if err := a.section(t); err != nil {
			return err
		}
	}
	return a.printConflicts(r)
}

func (a *app) printConflicts(r *pipeline.ReviewReport) error {
	t := report.NewTable("graded differently", "chunk", "grades", ">counts", "query")
	t.Columns[4].Max = 60
	for _, c := range r.Conflicts {
		var grades []string
		for _, x := range r.Reviewers {
			if g, ok := c.Grades[x.Reviewer]; ok {
				grades = append(grades, fmt.Sprintf("%s %d", x.Reviewer, g))
			}
		}
		t.Add(c.CaseID, c.ChunkID, strings.Join(grades, ", "), strconv.Itoa(c.Kept), c.Query)
	}
	return a.section(t)
}

func orDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return three(*x)
}

// exportReview writes everybody's labels as calibrate reads them.
func (a *app) exportReview(p *pipeline.Project, golden, path string) error {
	r, err := p.ReviewReport(golden)
	if err != nil {
		return err
	}
	a.notes(r.Notes)
	if len(r.Labels) == 0 {
		return fmt.Errorf("nobody has labelled anything of %s: there is nothing to export", r.Golden.Ref)
	}
	rows := [][]string{{"case_id", "chunk_id", "grade", "by", "inclusion", "label", "sample", "at", "query"}}
	for _, l := range r.Labels {
		rows = append(rows, []string{
			l.CaseID, l.ChunkID, strconv.Itoa(*l.Grade), inert(l.Reviewer), plainFloat(l.Inclusion),
			l.Label, inert(l.Sample), l.At.Format(time.RFC3339), inert(l.Query),
		})
	}
	if err := writeRows("--export", path, rows); err != nil {
		return err
	}
	a.say("labels", "%d of %s in %s", len(r.Labels), r.Golden.Ref, path)
	return nil
}
