package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

func newDatasetsDiff(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Tell how one version differs from another",
		Long: help("Lists the cases that were added, removed, retired or changed from A to B, by id, and the pins and\n"+
			"the trust that differ. A change is of the query, the labels, the evidence, the status or another field.",
			codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets diff handbook@v1 handbook",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			d, err := p.Diff(args[0], args[1])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(d)
			}
			return a.printDiff(d)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printDiff(d datasets.Diff) error {
	fmt.Fprintf(a.stdout, "%s -> %s: %s\n", report.Escape(d.From.String()), report.Escape(d.To.String()), diffWords(d))
	t := report.Table{Columns: []report.Column{{Name: "change"}, {Name: "case"}, {Name: "what", Max: 40}, {Name: "before", Max: 50}, {Name: "after", Max: 50}}}
	for _, c := range d.Added {
		t.Add("added", c.CaseID, c.QueryType, "", c.Query)
	}
	for _, c := range d.Removed {
		t.Add("removed", c.CaseID, c.QueryType, c.Query, "")
	}
	for _, c := range d.Retired {
		t.Add("retired", c.CaseID, c.Reason, c.Query, "")
	}
	for _, c := range d.Changed {
		for _, f := range c.Fields {
			t.Add("changed", c.CaseID, f.Field, side(f.Field, f.Before), side(f.Field, f.After))
		}
	}
	for _, f := range append(d.Pins, d.Manifest...) {
		t.Add("set", "", f.Field, side(f.Field, f.Before), side(f.Field, f.After))
	}
	if d.Same {
		return nil
	}
	fmt.Fprintln(a.stdout)
	return t.Write(a.stdout, a.style())
}

// diffWords sums up what differs.
func diffWords(d datasets.Diff) string {
	if d.Same {
		return "the same"
	}
	kinds := map[string]int{}
	for _, c := range d.Changed {
		for _, w := range c.What {
			kinds[w]++
		}
	}
	var what []string
	for _, w := range []string{"query", "labels", "evidence", "status"} {
		if kinds[w] > 0 {
			what = append(what, fmt.Sprintf("%s %d", w, kinds[w]))
		}
	}
	text := fmt.Sprintf("%d added, %d removed, %d retired, %d changed", len(d.Added), len(d.Removed), len(d.Retired), len(d.Changed))
	if len(what) > 0 {
		text += " (" + strings.Join(what, ", ") + ")"
	}
	if n := len(d.Pins); n > 0 {
		text += fmt.Sprintf(", %s changed", wording.Count(n, "pin"))
	}
	return text
}

// side is one side of a change for people: a text without its quotes, a judgment
// as its grade or chance.
func side(field string, raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 {
		return text
	}
	if strings.HasPrefix(field, "judgments[") && len(raw) > 0 {
		return judgmentWords(raw)
	}
	return string(raw)
}

func judgmentWords(raw json.RawMessage) string {
	var j datasets.Judgment
	switch err := json.Unmarshal(raw, &j); {
	case err != nil:
		return string(raw)
	case j.Grade != nil:
		return strings.TrimSpace(fmt.Sprintf("grade %d %s", *j.Grade, j.Judge))
	case j.P != nil:
		return strings.TrimSpace(fmt.Sprintf("p %.2f %s", *j.P, j.Judge))
	}
	return strings.TrimSpace("unknown " + j.Judge)
}

func newDatasetsLog(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "log REF", Short: "Show how a version came to be",
		Long: help("Lists a version, the one that it was made from, and so on, the newest first: why each was made,\n"+
			"what it holds, when, and which tags stand at it.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets log handbook",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			entries, err := p.Store().Log(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(entries)
			}
			return a.printLog(entries)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printLog(entries []datasets.LogEntry) error {
	t := report.Table{Columns: []report.Column{
		{Name: "version"}, {Name: "parent"}, {Name: "active", Right: true}, {Name: "review", Right: true}, {Name: "retired", Right: true},
		{Name: "trust"}, {Name: "made"}, {Name: "tags"}, {Name: "why", Max: 80},
	}}
	for _, e := range entries {
		parent := e.Parent
		switch {
		case e.Problem != "":
			parent += " (unreadable)"
		case e.Missing:
			parent += " (gone)"
		}
		t.Add(e.Ref.String(), parent, fmt.Sprint(e.Counts.Active), fmt.Sprint(e.Counts.NeedsReview), fmt.Sprint(e.Counts.Retired),
			e.Trust, e.CreatedAt, strings.Join(e.Tags, ", "), e.Why)
	}
	return t.Write(a.stdout, a.style())
}

func newDatasetsTag(a *app) *cobra.Command {
	var o pipeline.TagOptions
	cmd := &cobra.Command{
		Use: "tag REF [TAG]", Short: "Name a version, or list a set's tags",
		Long: help("Sets a tag at a version or moves it there: NAME@TAG then means that version wherever a reference\n"+
			"does. Every move is kept. --if moves it only from where you believe it stands. Without TAG the tags of\n"+
			"the set are listed.", codeDone, "1 could not run, or the tag stands elsewhere", codeUsage),
		Example: "  goldgen -C examples/quickstart datasets tag handbook@v1 prod --if none\n" +
			"  goldgen -C examples/quickstart datasets tag handbook prod --if v1 --why 'reviewed by the team'\n" +
			"  goldgen -C examples/quickstart datasets tag handbook",
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if o.Golden = args[0]; len(args) == 1 {
				return a.listTags(p, o)
			}
			o.Tag = args[1]
			return a.setTag(cmd.Context(), p, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.If, "if", "", "move it only if it stands at this version, or none")
	f.BoolVar(&o.Remove, "remove", false, "take the tag away")
	f.StringVar(&o.Why, "why", "", "kept with the move")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) setTag(ctx context.Context, p *pipeline.Project, o pipeline.TagOptions) error {
	done, err := p.Tag(ctx, o)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(done)
	}
	_, err = fmt.Fprintf(a.stdout, "%s@%s %s\n", report.Escape(done.Set), report.Escape(done.Name), tagWords(done))
	return err
}

func tagWords(t *pipeline.Tagged) string {
	switch {
	case !t.Changed && t.Version == 0:
		return "is no tag"
	case !t.Changed:
		return fmt.Sprintf("stands at v%d already", t.Version)
	case t.Version == 0:
		return fmt.Sprintf("was taken away from v%d", t.Moves[len(t.Moves)-1].From)
	case t.Moves[len(t.Moves)-1].From == 0:
		return fmt.Sprintf("stands at v%d", t.Version)
	}
	return fmt.Sprintf("moved from v%d to v%d", t.Moves[len(t.Moves)-1].From, t.Version)
}

func (a *app) listTags(p *pipeline.Project, o pipeline.TagOptions) error {
	if o.If != "" || o.Remove || o.Why != "" {
		return usagef("datasets tag: --if, --remove and --why are about a tag: name it")
	}
	ref, err := p.Store().Resolve(o.Golden)
	if err != nil {
		return err
	}
	tags, err := p.Store().Tags(ref.Name)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(tags)
	}
	t := report.Table{Columns: []report.Column{{Name: "tag"}, {Name: "from"}, {Name: "to"}, {Name: "when"}, {Name: "why", Max: 60}}}
	for _, tag := range tags {
		for _, m := range tag.Moves {
			t.Add(tag.Name, versionWord(m.From), versionWord(m.Version), m.At, m.Why)
		}
	}
	return t.Write(a.stdout, a.style())
}

// tagsWords are tags with the versions where they stand.
func tagsWords(tags []datasets.TagAt) string {
	words := make([]string, len(tags))
	for i, t := range tags {
		switch words[i] = t.Name + " " + versionWord(t.Version); {
		case t.Problem != "":
			words[i] = t.Name + " unreadable"
		case t.Missing:
			words[i] += " (gone)"
		}
	}
	return strings.Join(words, ", ")
}

// versionWord is a version as a move of a tag names it.
func versionWord(version int) string {
	if version == 0 {
		return "-"
	}
	return fmt.Sprintf("v%d", version)
}
