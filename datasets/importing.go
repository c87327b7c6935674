package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/wording"
)

// Formats that Import reads, besides those of Export.
const (
	FormatTREC       = "trec"
	FormatBEIR       = "beir"
	FormatJSONL      = "jsonl"
	FormatLlamaIndex = "llamaindex"
	FormatAutoRAG    = "autorag"
)

// importFormat is a format that Import reads: its line in importFormats and its
// function are all that there is to it.
type importFormat struct {
	name            string
	queries, second string // files in a folder of the format; second is that of qrels, or of passages
	passages        bool   // second holds passages
	read            func(*importer, RebaseView) error
}

func importFormats() []importFormat {
	return []importFormat{
		{FormatTREC, ExportQueries, ExportQrels, false, (*importer).readCollection},
		{FormatBEIR, ExportBEIRQueries, ExportBEIRQrels, false, (*importer).readCollection},
		{FormatHuggingFace, ExportHubQueries, ExportHubQrels, false, (*importer).readHub},
		{FormatJSONL, "", "", false, (*importer).readCases},
		{FormatCSV, "", "", false, (*importer).readTable},
		{FormatRagas, "", "", false, (*importer).readRagas},
		{FormatDeepEval, "", "", false, (*importer).readDeepEval},
		{FormatPromptfoo, "", "", false, (*importer).readPromptfoo},
		{FormatLlamaIndex, "", "", false, (*importer).readLlamaIndex},
		{FormatAutoRAG, "qa.parquet", "corpus.parquet", true, (*importer).readAutoRAG},
	}
}

// ImportFormats lists what Import reads.
func ImportFormats() []string {
	return convert(importFormats(), func(f importFormat) string { return f.name })
}

// ErrSeveralChunks is in the error of an import that names documents which have
// more than one chunk. A snapshot with chunking: {method: document} helps.
var ErrSeveralChunks = errors.New("a judged document has several chunks")

// ImportOptions say what to import. From stands for the files that a folder of the
// format has, or for Queries.
type ImportOptions struct {
	Format        string
	From          string // folder or file
	Queries       string // file of queries, or of cases
	Qrels         string // trec, beir, huggingface: file of judgments
	Passages      string // autorag: file of passages
	ByPosition    bool   // trec: a topic's id is its position from 1
	RelevantGrade int    // 0: see Import
}

// format is the line of the format.
func (o ImportOptions) format() (importFormat, bool) {
	formats := importFormats()
	i := slices.IndexFunc(formats, func(f importFormat) bool { return f.name == o.Format })
	if i < 0 {
		return importFormat{}, false
	}
	return formats[i], true
}

// Validate reports options that do not fit each other.
func (o ImportOptions) Validate() error {
	f, known := o.format()
	files := o.Queries != "" || o.Qrels != "" || o.Passages != ""
	switch {
	case !known:
		return fmt.Errorf("format %q: want %s", o.Format, strings.Join(ImportFormats(), ", "))
	case o.From != "" && files:
		return errors.New("from: stands for queries, qrels and passages, which are named beside it")
	case o.From == "" && o.Queries == "":
		return errors.New("queries: no file given, nor from")
	case o.Qrels != "" && (f.second == "" || f.passages):
		return fmt.Errorf("qrels: %s cases hold their own judgments", o.Format)
	case o.From == "" && o.Qrels == "" && f.second != "" && !f.passages:
		return errors.New("qrels: no file given")
	case o.Passages != "" && !f.passages:
		return errors.New("passages: only for autorag")
	case o.From == "" && o.Passages == "" && f.passages:
		return errors.New("passages: no file given")
	case o.ByPosition && o.Format != FormatTREC:
		return errors.New("queries by position: only for trec")
	case o.RelevantGrade < 0 || o.RelevantGrade > 3:
		return fmt.Errorf("relevant grade %d: want 1 to 3", o.RelevantGrade)
	}
	return nil
}

// located names the files that From stands for.
func (o ImportOptions) located() (ImportOptions, error) {
	f, _ := o.format()
	if o.From == "" {
		return o, nil
	}
	if f.second == "" {
		o.Queries = o.From
		return o, nil
	}
	if info, err := os.Stat(o.From); err != nil || !info.IsDir() {
		return o, cmp.Or(err, fmt.Errorf("%s: want the folder of %s and %s", o.From, f.queries, f.second))
	}
	second := filepath.Join(o.From, filepath.FromSlash(f.second))
	o.Queries = filepath.Join(o.From, f.queries)
	if f.passages {
		o.Passages = second
	} else {
		o.Qrels = second
	}
	return o, nil
}

// ImportReport says what an import took and what it left. Lists are sorted, but for
// Unlocated, which is in the order of the file.
type ImportReport struct {
	Queries         int      `json:"queries"`          // in the file
	Cases           int      `json:"cases"`            // made of them
	Judgments       int      `json:"judgments"`        // kept
	WithoutQrels    []string `json:"without_qrels"`    // queries dropped, as nothing is judged for them
	UnknownQueries  []string `json:"unknown_queries"`  // topics of the qrels that have no query
	UnknownIDs      []string `json:"unknown_ids"`      // ids that the snapshot does not have; their rows are left out
	UnknownRows     int      `json:"unknown_rows"`     // rows left out for that
	Folded          int      `json:"folded"`           // rows that repeat an earlier one
	Negative        int      `json:"negative"`         // rows with a negative grade, read as 0
	NothingRelevant int      `json:"nothing_relevant"` // cases judged without a relevant chunk
	Unlocated       []string `json:"unlocated"`        // texts that are nowhere in the snapshot, or in too many places, with their case
	WithoutEvidence int      `json:"without_evidence"` // cases that have no span to point at
	RelevantGrade   int      `json:"relevant_grade"`
}

// Import makes a draft of people's queries and judgments over a snapshot. Ids
// are chunk ids; a document's id stands for its chunk where it has exactly one.
// Queries for which nothing is judged, and rows whose id is in no snapshot, are
// left out and reported.
//
// A chunk is relevant from grade 1 when all grades are 0 or 1, or when fewer
// than half of the cases with a positive grade have one of 2 or more (a
// collection that is binary but for a few rows); else from 2.
// ImportOptions.RelevantGrade overrides that.
//
// A text that another tool gives as the answer of a query is looked for in the
// documents, up to white space, case and typography: the span becomes evidence, and
// labels the chunks that hold it as Rebase carries a label over. A text that is not
// there, or in too many places, is left out and reported, and a query that has no
// other becomes a reject. What a tool says of its own queries is taken for what they
// were written from, not for people's judgment.
//
// The caller adds goldgen's version to the draft's pins.
func Import(ctx context.Context, o ImportOptions, view RebaseView) (Draft, ImportReport, error) {
	d, report, err := runImport(ctx, o, view)
	if err != nil {
		return Draft{}, ImportReport{}, fmt.Errorf("import: %w", err)
	}
	return d, report, nil
}

func runImport(ctx context.Context, o ImportOptions, view RebaseView) (Draft, ImportReport, error) {
	if err := o.Validate(); err != nil {
		return Draft{}, ImportReport{}, err
	}
	o, err := o.located()
	if err != nil {
		return Draft{}, ImportReport{}, err
	}
	im := &importer{options: o, rejects: []Reject{}, report: ImportReport{WithoutQrels: []string{}, UnknownQueries: []string{}, Unlocated: []string{}}}
	format, _ := o.format()
	if err := format.read(im, view); err != nil {
		return Draft{}, ImportReport{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return Draft{}, ImportReport{}, err
	}
	d, err := im.draft(view)
	return d, im.report, err
}

// importer holds an import in the making: cases whose chunk ids are still those
// of the files.
type importer struct {
	options ImportOptions
	cases   []Case
	lines   []int // of each case
	rejects []Reject
	foreign bool // queries are another tool's, written from the chunks that it names
	report  ImportReport
}

// readCollection reads queries and qrels into cases.
func (im *importer) readCollection(RebaseView) error {
	o := im.options
	read := func() ([]Topic, error) { return ReadTopics(o.Queries, o.ByPosition) }
	if o.Format == FormatBEIR {
		read = func() ([]Topic, error) { return ReadBEIRQueries(o.Queries) }
	}
	topics, err := read()
	if err != nil {
		return err
	}
	return im.addTopics(topics, nil)
}

// addTopics reads the qrels of topics. A topic without any is left out, but for those
// that nothing should answer.
func (im *importer) addTopics(topics []Topic, unanswered map[string]bool) error {
	qrels, err := ReadQrels(im.options.Qrels)
	if err != nil {
		return err
	}
	byTopic := make(map[string]*TopicQrels, len(qrels.Topics))
	for i := range qrels.Topics {
		byTopic[qrels.Topics[i].ID] = &qrels.Topics[i]
	}
	im.report.Queries, im.report.Folded = len(topics), qrels.Folded
	for _, t := range topics {
		judged := byTopic[t.ID]
		if judged == nil && unanswered[t.ID] {
			judged = &TopicQrels{ID: t.ID}
		}
		if judged == nil {
			im.report.WithoutQrels = append(im.report.WithoutQrels, t.ID)
			continue
		}
		delete(byTopic, t.ID)
		if err := im.addTopic(t, judged); err != nil {
			return err
		}
	}
	for id := range byTopic {
		im.report.UnknownQueries = append(im.report.UnknownQueries, id)
	}
	slices.Sort(im.report.UnknownQueries)
	slices.Sort(im.report.WithoutQrels)
	return nil
}

func (im *importer) addTopic(t Topic, judged *TopicQrels) error {
	c := Case{
		ID: t.ID, Query: t.Text, Origin: OriginHuman, Status: Active,
		Provenance: Provenance{Generator: filepath.Base(im.options.Queries)},
		Judgments:  make([]Judgment, 0, len(judged.Rows)),
	}
	for _, q := range judged.Rows {
		grade := int(q.Grade)
		if grade > 3 {
			return fmt.Errorf("qrels %s:%d: grade %d of %q; a golden set has 0 to 3", im.options.Qrels, q.Line, grade, q.ChunkID)
		}
		if grade < 0 {
			grade = 0
			im.report.Negative++
		}
		c.Judgments = append(c.Judgments, humanJudgment(q.ChunkID, grade, filepath.Base(im.options.Qrels)))
	}
	im.cases, im.lines = append(im.cases, c), append(im.lines, t.Line)
	return nil
}

func humanJudgment(id string, grade int, judge string) Judgment {
	return Judgment{ChunkID: id, Grade: &grade, By: ByHuman, Judge: judge, Inclusion: 1}
}

// draft resolves the ids and fills what follows from them.
func (im *importer) draft(view CorpusView) (Draft, error) {
	r, err := newResolver(im.cases, view)
	if err != nil {
		return Draft{}, err
	}
	kept := im.cases[:0]
	for i := range im.cases {
		c := &im.cases[i]
		if err := r.resolve(c); err != nil {
			return Draft{}, fmt.Errorf("%s:%d: case %q: %w", im.options.Queries, im.lines[i], c.ID, err)
		}
		if !answerable(c) {
			im.report.WithoutQrels = append(im.report.WithoutQrels, c.ID)
			continue
		}
		kept = append(kept, *c)
	}
	slices.Sort(im.report.WithoutQrels)
	im.report.UnknownIDs, im.report.UnknownRows = r.unknown()
	im.report.Cases = len(kept)
	if len(kept) == 0 {
		return Draft{}, fmt.Errorf("no query is left: %d of %d have no judgment on a chunk of the snapshot; ids that it does not have: %d, such as %q; texts: %d",
			len(im.report.WithoutQrels)+len(im.rejects), im.report.Queries, len(im.report.UnknownIDs), im.report.UnknownIDs[:min(3, len(im.report.UnknownIDs))], len(im.report.Unlocated))
	}
	im.report.RelevantGrade = cmp.Or(im.options.RelevantGrade, relevantGrade(kept))
	for i := range kept {
		im.finish(&kept[i], r)
	}
	return Draft{Cases: kept, Rejects: im.rejects, Manifest: im.manifest(kept, view)}, nil
}

// answerable reports whether the case says anything that eval can use.
func answerable(c *Case) bool {
	return len(c.Judgments) > 0 || len(c.Forbidden) > 0 || c.ExpectedAbstention
}

// relevantGrade is the grade from which the cases' chunks are relevant; see
// Import.
func relevantGrade(cases []Case) int {
	positive, high := 0, 0
	for i := range cases {
		best := bestGrade(&cases[i], anybody)
		if best >= 1 {
			positive++
		}
		if best >= 2 {
			high++
		}
	}
	if high == 0 || 2*high < positive {
		return 1
	}
	return 2
}

// bestGrade is the highest grade in the case of those that are asked for, or -1.
func bestGrade(c *Case, asked func(Judgment) bool) int {
	best := -1
	for _, j := range c.Judgments {
		if j.Grade != nil && asked(j) {
			best = max(best, *j.Grade)
		}
	}
	return best
}

func anybody(Judgment) bool    { return true }
func byPeople(j Judgment) bool { return j.By == ByHuman }

// finish fills labels, and what the best chunk tells of the case.
func (im *importer) finish(c *Case, r *resolver) {
	if im.foreign {
		c.Source = sourcesOf(c.Judgments, im.report.RelevantGrade)
	}
	im.report.Judgments += len(c.Judgments)
	relevant := false
	var best *Judgment
	for i := range c.Judgments {
		j := &c.Judgments[i]
		if j.Label == "" && j.Grade != nil {
			j.Label = LabelOf(*j.Grade, im.report.RelevantGrade)
		}
		relevant = relevant || (j.Grade != nil && *j.Grade >= im.report.RelevantGrade) || j.P != nil
		if j.Grade != nil && (best == nil || *j.Grade > *best.Grade) {
			best = j
		}
	}
	if !relevant && !c.ExpectedAbstention {
		im.report.NothingRelevant++
	}
	if best != nil {
		chunk := r.chunks[best.ChunkID]
		c.Unit = cmp.Or(c.Unit, chunk.Unit)
		c.Category = cmp.Or(c.Category, chunk.Category)
	}
	c.Language = cmp.Or(c.Language, corpus.Language(c.Query))
	im.markEvidence(c)
}

// CheckEvidence is the check of an imported case: whether it has a span to point at.
const CheckEvidence = "evidence"

// markEvidence marks a case that has no span to point at, where it should have one.
func (im *importer) markEvidence(c *Case) {
	if len(c.Evidence) > 0 || c.ExpectedAbstention {
		return
	}
	im.report.WithoutEvidence++
	if !slices.ContainsFunc(c.Checks, func(k Check) bool { return k.Name == CheckEvidence }) {
		c.Checks = append(slices.Clone(c.Checks), Check{Name: CheckEvidence})
	}
}

func (im *importer) manifest(cases []Case, view CorpusView) Manifest {
	snapshot := view.Manifest()
	m := Manifest{
		RelevantGrade: im.report.RelevantGrade,
		Pins: Pins{
			Corpus:   CorpusPin{Digest: snapshot.Digest, Documents: snapshot.Documents, Chunks: snapshot.Chunks},
			Chunking: snapshot.Chunking,
		},
		Trust: importedTrust(cases, filepath.Base(cmp.Or(im.options.Qrels, im.options.Queries))),
	}
	if len(im.rejects) > 0 {
		m.Funnel = map[string]int{ReasonNotLocated: len(im.rejects)}
	}
	if evidenced := countFunc(cases, func(c *Case) bool { return len(c.Evidence) > 0 }); evidenced < len(cases) {
		m.Notes = append(m.Notes, fmt.Sprintf("imported: %d of %d cases have no evidence span", len(cases)-evidenced, len(cases)))
	}
	if n := len(im.report.UnknownIDs); n > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("imported without %s on %s that the snapshot does not have", wording.Count(im.report.UnknownRows, "judgment"), wording.Count(n, "id")))
	}
	if n := len(im.report.Unlocated); n > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("imported without %s that the snapshot does not have", wording.Count(n, "text")))
	}
	if n := len(im.report.WithoutQrels); n > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("imported without %s for which nothing is judged", wording.Count(n, "query")))
	}
	return m
}

// importedTrust is reviewed when people judged every case that can be judged,
// and none where queries were made without a model, whoever judged them.
func importedTrust(cases []Case, file string) Trust {
	if n := countFunc(cases, func(c *Case) bool { return c.Provenance.Generator == GeneratorBuiltin }); n > 0 {
		return Trust{Level: TrustNone, Why: fmt.Sprintf("imported from %s: the queries of %d of %d cases were made without a model", file, n, len(cases))}
	}
	people := countFunc(cases, func(c *Case) bool { return bestGrade(c, byPeople) >= 0 || len(c.Judgments) == 0 })
	if people == len(cases) {
		return Trust{Level: TrustReviewed, Why: "people's judgments, imported from " + file}
	}
	return Trust{
		Level: TrustSourceOnly,
		Why:   fmt.Sprintf("imported from %s: %d of %d cases have no person's judgment", file, len(cases)-people, len(cases)),
	}
}

func countFunc[T any](list []T, is func(*T) bool) int {
	n := 0
	for i := range list {
		if is(&list[i]) {
			n++
		}
	}
	return n
}
