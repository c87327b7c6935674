package datasets

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// Formats that Export writes besides those that it shares with Import.
const (
	FormatHardNegatives = "hard-negatives"
	FormatRanx          = "ranx"
)

// exportFormat is a format that Export writes: its line in exportFormats and its
// function are all that there is to it.
type exportFormat struct {
	name   string
	folder bool     // several files
	texts  bool     // with texts of chunks
	holds  []string // what it has of a case besides the query's id; see parts
	write  func(*exporter, Sink) error
}

func exportFormats() []exportFormat {
	return []exportFormat{
		{FormatHardNegatives, false, true, []string{partQuery, partGrades, partNegatives, partJudges}, (*exporter).hardNegatives},
		{FormatBEIR, true, true, []string{partQuery, partGrades}, (*exporter).beir},
		{FormatTREC, true, false, []string{partQuery, partGrades}, (*exporter).trec},
		{FormatHuggingFace, true, true, hubParts(), (*exporter).huggingFace},
		{FormatMTEB, true, true, hubParts(), (*exporter).mteb},
		{FormatRanx, false, false, []string{partGrades}, (*exporter).ranx},
		{FormatRagas, false, true, []string{partQuery, partAnswer}, (*exporter).ragas},
		{FormatDeepEval, false, true, []string{partQuery, partAnswer, partSlices}, (*exporter).deepEval},
		{FormatPromptfoo, false, false, []string{partQuery, partAnswer, partAbstention, partSlices}, (*exporter).promptfoo},
		{FormatLangSmith, false, false, []string{partQuery, partAnswer, partAbstention, partSlices}, (*exporter).langSmith},
		{FormatCSV, false, false, csvParts(), (*exporter).csv},
		{FormatJSONL, false, false, partNames(), (*exporter).jsonl},
	}
}

// ExportFormats lists what Export writes.
func ExportFormats() []string {
	return convert(exportFormats(), func(f exportFormat) string { return f.name })
}

// Files of the formats that are folders.
const (
	ExportQueries     = "queries.tsv"
	ExportQrels       = "qrels.txt"
	ExportBEIRQueries = "queries.jsonl"
	ExportBEIRCorpus  = "corpus.jsonl"
	ExportBEIRQrels   = "qrels/test.tsv"
)

// ErrNothingToExport says that no row would be written.
var ErrNothingToExport = errors.New("nothing to export")

// ExportOptions say what to export.
type ExportOptions struct {
	Format      string
	Source      SourceMode // how the chunk that a query was written from is read; "" in
	NeedsReview bool       // cases that need review too
	// LeastP is the probability from which a label that is only a probability
	// counts as relevant, and under which as not relevant. 0 leaves such labels
	// out, and the report counts them.
	LeastP float64
}

// Validate names the first value that makes no sense.
func (o ExportOptions) Validate() error {
	switch {
	case !slices.Contains(ExportFormats(), o.Format):
		return fmt.Errorf("format %q: want %s", o.Format, strings.Join(ExportFormats(), ", "))
	case !(o.LeastP >= 0 && o.LeastP <= 1):
		return fmt.Errorf("least p %v: want above 0, at most 1", o.LeastP)
	}
	_, err := ParseSourceMode(string(cmp.Or(o.Source, SourceIn)))
	return err
}

// format is the line of the format; the zero one for none.
func (o ExportOptions) format() exportFormat {
	formats := exportFormats()
	if i := slices.IndexFunc(formats, func(f exportFormat) bool { return f.name == o.Format }); i >= 0 {
		return formats[i]
	}
	return exportFormat{}
}

// Folder reports whether the format is several files.
func (o ExportOptions) Folder() bool { return o.format().folder }

// NeedsCorpus reports whether the format holds the texts of chunks.
func (o ExportOptions) NeedsCorpus() bool { return o.format().texts }

// ExportReport says what an export wrote and what it left.
type ExportReport struct {
	Format           string `json:"format"`
	Cases            int    `json:"cases"`             // with a row
	Rows             int    `json:"rows"`              // lines of JSONL, or judgments
	WithoutLabels    int    `json:"without_labels"`    // cases left out, as no label is known
	WithoutPositive  int    `json:"without_positive"`  // cases left out, as nothing is known to be relevant
	WithoutNegatives int    `json:"without_negatives"` // cases left out, as they have no hard negative
	Probabilities    int    `json:"probabilities"`     // labels left out, as they are only probabilities
	Lost             []Lost `json:"lost"`              // what the format has no place for
	Trust            string `json:"trust"`             // of the set; most formats have no place for it
}

// ExportView is what Export needs of a corpus; *corpus.Snapshot satisfies it.
type ExportView interface {
	ChunksByID(ids []string) (map[string]corpus.Chunk, error)
	Chunks() iter.Seq2[corpus.Chunk, error]
}

// Sink takes a file of an export. The name is "" for a format of one file.
type Sink func(name string, write func(io.Writer) error) error

// Export writes a set's cases, in their order, without retired ones. view may be
// nil for a format that does not hold texts.
func Export(set *Set, view ExportView, o ExportOptions, sink Sink) (ExportReport, error) {
	e := exporter{set: set, view: view, o: o, report: ExportReport{Format: o.Format, Lost: []Lost{}, Trust: set.Manifest.Trust.Level}}
	if err := o.Validate(); err != nil {
		return e.report, err
	}
	for i := range set.Cases {
		if s := set.Cases[i].Status; s == Active || s == NeedsReview && o.NeedsReview {
			e.cases = append(e.cases, &set.Cases[i])
		}
	}
	if err := o.format().write(&e, sink); err != nil {
		return e.report, fmt.Errorf("export %s: %w", set.Ref(), err)
	}
	return e.report, nil
}

type exporter struct {
	set    *Set
	view   ExportView
	o      ExportOptions
	cases  []*Case
	report ExportReport
}

// exported is a label as an export gives it.
type exported struct {
	id    string
	grade int
}

// labels are the known labels of a case, by chunk id, and how many were left out as
// they are only probabilities.
func (e *exporter) labels(c *Case) (out []exported, probabilities int) {
	for id, l := range c.Labels(cmp.Or(e.o.Source, SourceIn)).Chunks {
		switch {
		case l.Grade != nil:
			out = append(out, exported{id, *l.Grade})
		case l.P != nil && e.o.LeastP == 0:
			probabilities++
		case l.P != nil && *l.P >= e.o.LeastP:
			out = append(out, exported{id, e.set.Manifest.RelevantGrade})
		case l.P != nil:
			out = append(out, exported{id, 0})
		}
	}
	slices.SortFunc(out, func(a, b exported) int { return strings.Compare(a.id, b.id) })
	return out, probabilities
}

// known are the labels of a case that is exported; what is left out is counted.
func (e *exporter) known(c *Case) []exported {
	labels, probabilities := e.labels(c)
	e.report.Probabilities += probabilities
	return labels
}

// relevant are the chunks that are known to be relevant, the highest grade first.
func (e *exporter) relevant(labels []exported) []string {
	kept := slices.DeleteFunc(slices.Clone(labels), func(l exported) bool { return l.grade < e.set.Manifest.RelevantGrade })
	slices.SortStableFunc(kept, func(a, b exported) int { return b.grade - a.grade })
	return convert(kept, func(l exported) string { return l.id })
}

// count takes a case with so many rows into the report.
func (e *exporter) count(c *Case, rows int) {
	e.report.Cases++
	e.report.Rows += rows
	holds := e.o.format().holds
	for _, p := range parts() {
		if !slices.Contains(holds, p.name) && p.in(e, c) {
			e.report.lose(p.name)
		}
	}
}

// jsonl writes the cases as they are: Import reads them back.
func (e *exporter) jsonl(sink Sink) error {
	for _, c := range e.cases {
		e.count(c, 1)
	}
	return jsonLines(sink, "", e.cases)
}

// jsonLines writes a line of JSON for each row; no rows are ErrNothingToExport.
func jsonLines[T any](sink Sink, name string, rows []T) error {
	if len(rows) == 0 {
		return ErrNothingToExport
	}
	return sink(name, func(w io.Writer) error {
		encoder := encoderOf(w)
		for i := range rows {
			if err := encoder.Encode(rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// encoderOf leaves < and > readable.
func encoderOf(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}
