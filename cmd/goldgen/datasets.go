package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

func newDatasets(a *app) *cobra.Command {
	return parent("datasets", "List, show, compare, change, import and export golden sets", groupSets,
		newDatasetsList(a), newDatasetsShow(a), newDatasetsVerify(a), newDatasetsImport(a), newDatasetsExport(a),
		newDatasetsDiff(a), newDatasetsLog(a), newDatasetsTag(a), newDatasetsRetire(a), newDatasetsEdit(a), newDatasetsMerge(a), newDatasetsPush(a), newDatasetsPull(a), newDatasetsCollect(a))
}

func newDatasetsList(a *app) *cobra.Command {
	var remote bool
	cmd := &cobra.Command{
		Use: "ls [PLACE]", Short: "List the project's golden sets, or those that were pushed",
		Long: help("Lists each golden set with its newest version, and where its tags stand; with --remote those of a store or\n"+
			"folder that sets were pushed to (see push).", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets ls\n" +
			"  goldgen -C examples/quickstart datasets ls --remote ../golden-of-the-team",
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if remote {
				return a.listRemote(cmd.Context(), p, strings.Join(args, ""))
			}
			if len(args) > 0 {
				return usagef("datasets ls: a place is listed with --remote")
			}
			entries, err := p.Store().List()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(orEmpty(entries))
			}
			return a.printEntries(entries)
		},
	}
	cmd.Flags().BoolVar(&remote, "remote", false, "list PLACE, or golden.remote of goldgen.yaml")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printEntries(entries []datasets.Entry) error {
	if len(entries) == 0 {
		fmt.Fprintln(a.stderr, "goldgen: no golden set yet; make one with goldgen run")
		return nil
	}
	t := report.Table{Columns: []report.Column{
		{Name: "set"}, {Name: "versions", Right: true}, {Name: "active", Right: true}, {Name: "review", Right: true},
		{Name: "trust"}, {Name: "made"}, {Name: "digest"}, {Name: "tags"},
	}}
	for _, e := range entries {
		if e.Problem != "" && e.Ref.Version > 0 {
			fmt.Fprintf(a.stderr, "goldgen: warning: %s: %s\n", report.Escape(e.Ref.Name), report.Escape(e.Problem))
		} else if e.Problem != "" {
			t.Add(e.Ref.Name, fmt.Sprint(len(e.Versions)), "", "", "unreadable: "+e.Problem)
			continue
		}
		m := e.Manifest
		t.Add(e.Ref.String(), fmt.Sprint(len(e.Versions)), fmt.Sprint(m.Counts.Active), fmt.Sprint(m.Counts.NeedsReview),
			trustWords(m.Trust), m.CreatedAt, report.ShortDigest(m.Digest), tagsWords(e.Tags))
	}
	return t.Write(a.stdout, a.style())
}

// trustWords are the level, and the judge's state where it takes from it.
func trustWords(t datasets.Trust) string {
	if t.Judge == judge.Blind || t.Judge == judge.Untested {
		return t.Level + ", judge " + t.Judge
	}
	return t.Level
}

// warnBlind says on stderr that a set's judge is blind.
func (a *app) warnBlind(set *datasets.Set) {
	if t := set.Manifest.Trust; t.Judge == judge.Blind {
		fmt.Fprintf(a.stderr, "goldgen: warning: %s: %s\n", report.Escape(set.Ref().String()), report.Escape(t.Why))
	}
}

type showOptions struct {
	caseID, snapshot, status, queryType string
	limit                               int
	rejects                             bool
}

func newDatasetsShow(a *app) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use: "show REF", Short: "Show a golden set, or one case in full",
		Long: help("Shows a version's cases as a table, or with --case one case with its evidence in context.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart datasets show handbook --limit 10\n" +
			"  goldgen -C examples/quickstart datasets show handbook@v1 --rejects",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			set, err := p.Store().Load(args[0])
			if err != nil {
				return err
			}
			a.warnBlind(set)
			return a.show(p, set, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.caseID, "case", "", "one case, by its id or the beginning of it")
	f.StringVar(&o.snapshot, "snapshot", "", "take the documents from this snapshot folder")
	f.StringVar(&o.status, "status", "", "only active, needs_review or retired cases")
	f.StringVar(&o.queryType, "type", "", "only cases of this query type")
	f.IntVar(&o.limit, "limit", 0, "at most this many rows")
	f.BoolVar(&o.rejects, "rejects", false, "the rejects instead of the cases")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) show(p *pipeline.Project, set *datasets.Set, o showOptions) error {
	switch {
	case o.caseID != "":
		view, err := p.ShowCase(set, o.caseID, o.snapshot)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(view)
		}
		return a.printCase(set, view)
	case o.rejects:
		return a.showRejects(set, o)
	}
	var cases []datasets.Case
	for _, c := range set.Cases {
		if (o.status == "" || c.Status == o.status) && (o.queryType == "" || c.QueryType == o.queryType) {
			cases = append(cases, c)
		}
	}
	if o.limit > 0 {
		cases = cases[:min(o.limit, len(cases))]
	}
	if a.json {
		return a.printJSON(map[string]any{"manifest": set.Manifest, "cases": orEmpty(cases)})
	}
	return a.printCases(set, cases)
}

func (a *app) showRejects(set *datasets.Set, o showOptions) error {
	rejects := set.Rejects
	if o.limit > 0 {
		rejects = rejects[:min(o.limit, len(rejects))]
	}
	if a.json {
		return a.printJSON(map[string]any{"manifest": set.Manifest, "rejects": orEmpty(rejects)})
	}
	t := report.Table{Columns: []report.Column{{Name: "case"}, {Name: "type"}, {Name: "reason"}, {Name: "query", Max: 70}, {Name: "detail", Max: 60}}}
	for _, r := range rejects {
		t.Add(r.CaseID, r.QueryType, r.Reason, r.Query, r.Detail)
	}
	return t.Write(a.stdout, a.style())
}

func (a *app) printCases(set *datasets.Set, cases []datasets.Case) error {
	m := set.Manifest
	if a.outTerminal {
		fmt.Fprintf(a.stdout, "%s: %d active, %d needs_review, %d retired, trust %s (%s)\n\n", report.Escape(set.Ref().String()),
			m.Counts.Active, m.Counts.NeedsReview, m.Counts.Retired, m.Trust.Level, report.Escape(m.Trust.Why))
	}
	t := report.Table{Columns: []report.Column{
		{Name: "case"}, {Name: "type"}, {Name: "category", Max: 20}, {Name: "status"}, {Name: "relevant", Right: true},
		{Name: "judged", Right: true}, {Name: "query", Max: 80},
	}}
	for i := range cases {
		c := &cases[i]
		relevant, judged := countLabels(c, m.RelevantGrade)
		t.Add(c.ID, c.QueryType, c.Category, c.Status, fmt.Sprint(relevant), fmt.Sprint(judged), c.Query)
	}
	return t.Write(a.stdout, a.style())
}

func countLabels(c *datasets.Case, relevantGrade int) (relevant, judged int) {
	for _, l := range c.Labels(datasets.SourceIn).Chunks {
		if l.Known {
			judged++
		}
		if l.Grade != nil && *l.Grade >= relevantGrade || l.P != nil && *l.P >= 0.5 {
			relevant++
		}
	}
	return relevant, judged
}

func (a *app) printCase(set *datasets.Set, v *pipeline.CaseView) error {
	c := v.Case
	t := report.Table{Columns: []report.Column{{Name: "case"}, {Name: c.ID}}}
	t.Add("query", c.Query)
	t.Add("type, style", c.QueryType+", "+c.Style)
	t.Add("category, language", c.Category+", "+c.Language)
	t.Add("origin, status", c.Origin+", "+c.Status+" "+c.Reason)
	if len(c.Scope) > 0 {
		t.Add("scope", fmt.Sprint(map[string][]string(c.Scope)))
	}
	t.Add("source", strings.Join(c.Source, ", "))
	if band := c.Band(); band != datasets.Unranked {
		t.Add("difficulty", fmt.Sprintf("%s, the source has %.0f%% of its terms", band, 100*c.Difficulty.Overlap))
	}
	t.Add("made by", c.Provenance.Generator+" "+c.Provenance.Prompt)
	t.Add("stratum, seed", fmt.Sprintf("%s, %d", c.Provenance.Stratum, c.Provenance.Seed))
	if err := t.Write(a.stdout, a.style()); err != nil {
		return err
	}
	for _, e := range v.Contexts {
		fmt.Fprintf(a.stdout, "\nevidence in %s:\n", report.Escape(e.DocID))
		fmt.Fprintf(a.stdout, "%s>>>%s<<<%s\n", escapeLines(e.Before), escapeLines(e.Quote), escapeLines(e.After))
	}
	fmt.Fprintln(a.stdout)
	if err := a.printJudgments(c); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	checks := report.Table{Columns: []report.Column{{Name: "check"}, {Name: "passed"}, {Name: "value", Right: true}}}
	for _, check := range c.Checks {
		checks.Add(check.Name, fmt.Sprint(check.Passed), fmt.Sprintf("%.3g", check.Value))
	}
	return checks.Write(a.stdout, a.style())
}

// escapeLines escapes a text and keeps its line breaks.
func escapeLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = report.Escape(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (a *app) printJudgments(c datasets.Case) error {
	t := report.Table{Columns: []report.Column{
		{Name: "chunk", Max: 50}, {Name: "by"}, {Name: "grade", Right: true}, {Name: "expected", Right: true}, {Name: "label"}, {Name: "judge", Max: 40},
	}}
	for _, j := range c.Judgments {
		grade, expected := "unknown", ""
		if j.Grade != nil {
			grade = fmt.Sprint(*j.Grade)
		}
		if x, ok := j.Features["expected_grade"]; ok {
			expected = fmt.Sprintf("%.2f", x)
		}
		t.Add(j.ChunkID, j.By, grade, expected, j.Label, judgeWords(&j))
	}
	return t.Write(a.stdout, a.style())
}

// judgeWords name the judge, and say of a judgment of another chunk that it was
// carried over to this one.
func judgeWords(j *datasets.Judgment) string {
	if !j.Carried() {
		return j.Judge
	}
	return strings.TrimSpace("carried over " + j.Judge)
}

func newDatasetsVerify(a *app) *cobra.Command {
	var snapshot string
	cmd := &cobra.Command{
		Use: "verify REF", Short: "Derive again everything that a version claims",
		Long: help("Derives every digest again, finds every evidence span in the snapshot, checks ids and pins, and\n"+
			"reports all problems.", "0 everything holds", "1 a problem was found, or could not run", codeUsage),
		Example: "  goldgen -C examples/quickstart datasets verify handbook",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			ref, problems, err := p.Verify(cmd.Context(), args[0], snapshot)
			if err != nil {
				return err
			}
			return a.reportVerify(ref, problems)
		},
	}
	cmd.Flags().StringVar(&snapshot, "snapshot", "", "check against this snapshot folder")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) reportVerify(ref datasets.Ref, problems []datasets.Problem) error {
	if a.json {
		if err := a.printJSON(map[string]any{"ok": len(problems) == 0, "problems": orEmpty(problems)}); err != nil {
			return err
		}
	} else {
		t := report.Table{Columns: []report.Column{{Name: "kind"}, {Name: "where", Max: 60}, {Name: "detail"}}}
		for _, p := range problems {
			t.Add(p.Kind, p.Where, p.Detail)
		}
		if len(problems) == 0 {
			fmt.Fprintf(a.stdout, "%s: everything holds\n", report.Escape(ref.String()))
			return nil
		}
		if err := t.Write(a.stdout, a.style()); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		which := ref.String()
		if ref.Version == 0 { // its manifest does not say
			which = ref.Path
		}
		return &codeError{code: exitFailed, why: fmt.Sprintf("%s: %s", which, wording.Count(len(problems), "problem"))}
	}
	return nil
}

type importOptions struct {
	datasets.ImportOptions
	name, snapshot, queriesBy string
}

func newDatasetsImport(a *app) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use: "import", Short: "Make a golden set from people's queries and judgments, or from another tool's",
		Long: help("Makes a golden set over the latest snapshot from TREC or BEIR queries and qrels, a Hugging Face folder,\n"+
			"hand-written cases as JSON lines or CSV (query, relevant_chunk_ids), or the files of ragas, DeepEval, promptfoo,\n"+
			"LlamaIndex and AutoRAG. Texts that those give as an answer are looked for in the documents and become evidence. --from\n"+
			"names a folder as datasets export writes it, or the file. docs/exchange.md says what each format holds.",
			codeDone, codeFailed, codeUsage, "3 done, but ids or texts are not in the snapshot"),
		Example: "  goldgen -C examples/quickstart datasets import --format jsonl --queries cases.jsonl --name mine",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			return a.runImport(cmd.Context(), p, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "", strings.Join(datasets.ImportFormats(), ", "))
	f.StringVar(&o.From, "from", "", "folder or file of the format, instead of the files below")
	f.StringVar(&o.Queries, "queries", "", "file of queries, or of cases")
	f.StringVar(&o.Qrels, "qrels", "", "file of judgments (trec, beir, huggingface)")
	f.StringVar(&o.Passages, "passages", "", "file of passages (autorag)")
	f.StringVar(&o.name, "name", "", "name of the golden set (default: the project's)")
	f.StringVar(&o.queriesBy, "queries-by", "id", "id, or position where the qrels number the queries so")
	f.IntVar(&o.RelevantGrade, "relevant-grade", 0, "least relevant grade (default: 1 for binary judgments, else 2)")
	f.StringVar(&o.snapshot, "snapshot", "", "import over this snapshot folder")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) runImport(ctx context.Context, p *pipeline.Project, o importOptions) error {
	switch o.queriesBy {
	case "position":
		o.ByPosition = true
	case "id":
	default:
		return usagef("--queries-by: %q, valid are id, position", o.queriesBy)
	}
	if o.name == "" {
		o.name = p.Config.Name
	}
	done, err := p.Import(ctx, o.name, o.snapshot, o.ImportOptions)
	if err != nil {
		return err
	}
	summary := p.Summary(done.Committed, nil)
	if a.json {
		err = a.printJSON(struct {
			Golden  pipeline.GoldenRef    `json:"golden"`
			Changed bool                  `json:"changed"`
			Report  datasets.ImportReport `json:"report"`
		}{summary.Golden, summary.Changed, done.Report})
	} else {
		err = a.printImport(summary, done.Report)
	}
	if err != nil {
		return err
	}
	return notInSnapshot(done.Report)
}

// notInSnapshot is the error of an import that left ids or texts out: the first of
// them, and how many.
func notInSnapshot(r datasets.ImportReport) error {
	var why []string
	if n := r.UnknownRows; n > 0 {
		why = append(why, fmt.Sprintf("%s of chunks that the snapshot does not have %s left out: %s",
			wording.Count(n, "judgment"), wording.Pick(n, "was", "were"), strings.Join(r.UnknownIDs[:min(5, len(r.UnknownIDs))], ", ")))
	}
	if n := len(r.Unlocated); n > 0 {
		why = append(why, fmt.Sprintf("%s that %s nowhere in the snapshot, or too short or too often, %s left out: %s",
			wording.Count(n, "text"), wording.Pick(n, "stands", "stand"), wording.Pick(n, "was", "were"), strings.Join(r.Unlocated[:min(5, n)], "; ")))
	}
	if len(why) == 0 {
		return nil
	}
	return &codeError{code: exitPartly, why: strings.Join(why, "; ")}
}

func (a *app) printImport(s pipeline.RunSummary, r datasets.ImportReport) error {
	t := report.Table{Columns: []report.Column{{Name: "import"}, {Name: "value"}}}
	t.Add("reference", s.Golden.Ref)
	t.Add("path", s.Golden.Path)
	t.Add("queries", fmt.Sprint(r.Queries))
	t.Add("cases", fmt.Sprint(r.Cases))
	t.Add("judgments", fmt.Sprint(r.Judgments))
	t.Add("relevant from grade", fmt.Sprint(r.RelevantGrade))
	t.Add("queries without judgments", fmt.Sprint(len(r.WithoutQrels)))
	t.Add("judgments of unknown chunks", fmt.Sprint(r.UnknownRows))
	t.Add("texts not in the snapshot", fmt.Sprint(len(r.Unlocated)))
	t.Add("cases without evidence", fmt.Sprint(r.WithoutEvidence))
	return t.Write(a.stdout, a.style())
}
