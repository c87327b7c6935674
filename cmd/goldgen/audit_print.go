package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/review/audit"
)

// printAudit prints the figures, as tables or as Markdown.
func (a *app) printAudit(r *pipeline.AuditReport, markdown bool) error {
	a.notes(r.Notes)
	for _, line := range auditHeadlines(r) {
		if markdown {
			fmt.Fprintf(a.stdout, "- %s: %s\n", line[0], report.Escape(line[1]))
		} else {
			a.say(line[0], "%s", line[1])
		}
	}
	fmt.Fprintln(a.stdout)
	section := a.section
	if markdown {
		section = a.markdownSection
	}
	for _, t := range auditTables(r) {
		if err := section(t); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) markdownSection(t *report.Table) error {
	if len(t.Rows) == 0 {
		return nil
	}
	if err := t.WriteMarkdown(a.stdout); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	return nil
}

// auditHeadlines are what the report says in a line each, under a name.
func auditHeadlines(r *pipeline.AuditReport) (lines [][2]string) {
	add := func(name, format string, args ...any) {
		lines = append(lines, [2]string{name, fmt.Sprintf(format, args...)})
	}
	add("audit", "%s, sample %s: %d of %d labelled", r.Golden.Ref, r.Sample, r.Labelled, r.Asked)
	for _, t := range r.People {
		add("labels by", "%s: %d, and %d begun", t.Name, t.Labelled, t.Begun)
	}
	if n := r.Labels.Replaced; n > 0 {
		add("labels", "%s answered twice by one person: the last counts", wording.Count(n, "query"))
	}
	if r.Kept.All.Valid.N > 0 {
		add("kept", "%s valid", auditShare(r.Kept.All.Valid))
	}
	if r.Rejected.All.Bad.N > 0 {
		add("rejected", "%s truly bad", auditShare(r.Rejected.All.Bad))
	}
	if r.GoodLost != nil {
		add("good lost", "%s of the valid queries were rejected", span(*r.GoodLost))
	}
	add("duplicates", "%d exact, %d near, among queries of one scope and as_of", r.Set.Duplicates.Exact, r.Set.Duplicates.Near)
	add("calls", "%s", callWords(r.Set.Calls))
	for _, n := range r.NotAsked {
		add("not asked", "%d %s: %s", n.Cases, n.Verdict, n.Why)
	}
	return lines
}

func callWords(c audit.Calls) string {
	var parts []string
	if c.PerKept != nil {
		parts = append(parts, fmt.Sprintf("%.2f per kept case, of all %d that made this version", *c.PerKept, c.Version))
	}
	if c.Needed != nil {
		parts = append(parts, fmt.Sprintf("%.2f to write and check a kept case itself", *c.Needed))
	}
	if c.Spent != nil {
		parts = append(parts, fmt.Sprintf("%.2f with the rejects", *c.Spent))
	}
	if len(parts) == 0 {
		return "none: no model was asked"
	}
	return strings.Join(parts, "; ")
}

// auditTables are all tables of a report; those that hold nothing have no rows.
func auditTables(r *pipeline.AuditReport) []*report.Table {
	return []*report.Table{
		groupTable("kept", r.Kept.ByType, &r.Kept.All, false),
		groupTable("rejected by gate", r.Rejected.ByGate, &r.Rejected.All, true),
		groupTable("rejected by type", r.Rejected.ByType, nil, true),
		groupTable("held for review", r.Held.ByGate, &r.Held.All, true),
		overlapTable(r.Set.Overlap), duplicateTable(r.Set.Duplicates.Cases), agreementTable(r.Agreement), conflictTable(r),
	}
}

// groupTable is the share of valid queries, or of bad ones, and that of yes to each
// question.
func groupTable(name string, rows []audit.Figures, all *audit.Figures, bad bool) *report.Table {
	share := "valid"
	if bad {
		share = "truly bad"
	}
	t := report.NewTable(name, ">cases", ">labelled", ">"+share, ">answerable", ">self-contained", ">natural", ">right type")
	add := func(f *audit.Figures) {
		s := f.Valid
		if bad {
			s = f.Bad
		}
		cells := []string{auditName(f.Name), strconv.Itoa(f.Cases), fmt.Sprintf("%d of %d", s.N, f.Asked), auditShare(s)}
		for _, q := range audit.Questions() {
			cells = append(cells, orDash(f.Questions[q].Value))
		}
		t.Add(cells...)
	}
	for i := range rows {
		add(&rows[i])
	}
	if all != nil && len(rows) > 0 {
		add(all)
	}
	return t
}

func overlapTable(rows []audit.Overlap) *report.Table {
	t := report.NewTable("words shared with the source", ">cases", ">median", ">highest")
	for _, o := range rows {
		t.Add(o.QueryType, strconv.Itoa(o.Cases), three(o.Median), three(o.Highest))
	}
	return t
}

func duplicateTable(rows []generate.Duplicate) *report.Table {
	t := report.NewTable("duplicate", "of", ">similarity")
	for _, d := range rows {
		t.Add(d.CaseID, d.Of, three(d.Similarity))
	}
	return t
}

func agreementTable(rows []audit.Agreement) *report.Table {
	t := report.NewTable("people", "about", ">labelled by both", ">the same", ">Cohen's kappa")
	for _, x := range rows {
		add := func(about string, k audit.Kappa) {
			t.Add(x.A+", "+x.B, about, strconv.Itoa(k.Both), strconv.Itoa(k.Same), orDash(k.Kappa))
		}
		add("valid", x.Valid)
		for _, q := range audit.Questions() {
			add(string(q), x.Questions[q])
		}
	}
	return t
}

func conflictTable(r *pipeline.AuditReport) *report.Table {
	t := report.NewTable("answered differently", "question", "answers", "query")
	t.Columns[3].Max = 60
	for _, c := range r.Conflicts {
		var said []string
		for _, p := range r.People {
			if yes, ok := c.Said[p.Name]; ok {
				said = append(said, p.Name+" "+map[bool]string{true: "yes", false: "no"}[yes])
			}
		}
		t.Add(c.CaseID, string(c.Question), strings.Join(said, ", "), c.Query)
	}
	return t
}
