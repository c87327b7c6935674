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

// FormatHardNegatives is the format of Export for training a reranker; the
// others are those that Import reads.
const FormatHardNegatives = "hard-negatives"

// ExportFormats lists what Export writes.
func ExportFormats() []string {
	return []string{FormatHardNegatives, FormatBEIR, FormatTREC, FormatJSONL}
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

// Folder reports whether the format is several files.
func (o ExportOptions) Folder() bool { return o.Format == FormatBEIR || o.Format == FormatTREC }

// NeedsCorpus reports whether the format holds the texts of chunks.
func (o ExportOptions) NeedsCorpus() bool {
	return o.Format == FormatBEIR || o.Format == FormatHardNegatives
}

// ExportReport says what an export wrote and what it left.
type ExportReport struct {
	Format           string `json:"format"`
	Cases            int    `json:"cases"`             // with a row
	Rows             int    `json:"rows"`              // lines of JSONL, or judgments
	WithoutPositive  int    `json:"without_positive"`  // cases left out, as nothing is known to be relevant
	WithoutNegatives int    `json:"without_negatives"` // cases left out, as they have no hard negative
	Probabilities    int    `json:"probabilities"`     // labels left out, as they are only probabilities
	Restricted       int    `json:"restricted"`        // cases whose scope, filters or date the format cannot hold
	Trust            string `json:"trust"`             // of the set, which qrels cannot hold
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
	e := exporter{set: set, view: view, o: o, report: ExportReport{Format: o.Format, Trust: set.Manifest.Trust.Level}}
	if err := o.Validate(); err != nil {
		return e.report, err
	}
	for i := range set.Cases {
		if s := set.Cases[i].Status; s == Active || s == NeedsReview && o.NeedsReview {
			e.cases = append(e.cases, &set.Cases[i])
		}
	}
	write := map[string]func(Sink) error{
		FormatHardNegatives: e.hardNegatives, FormatBEIR: e.beir, FormatTREC: e.trec, FormatJSONL: e.jsonl,
	}[o.Format]
	if err := write(sink); err != nil {
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

// labels are the known labels of a case, by chunk id.
func (e *exporter) labels(c *Case) []exported {
	var out []exported
	for id, l := range c.Labels(cmp.Or(e.o.Source, SourceIn)).Chunks {
		switch {
		case l.Grade != nil:
			out = append(out, exported{id, *l.Grade})
		case l.P != nil && e.o.LeastP == 0:
			e.report.Probabilities++
		case l.P != nil && *l.P >= e.o.LeastP:
			out = append(out, exported{id, e.set.Manifest.RelevantGrade})
		case l.P != nil:
			out = append(out, exported{id, 0})
		}
	}
	slices.SortFunc(out, func(a, b exported) int { return strings.Compare(a.id, b.id) })
	return out
}

// count takes a case with so many rows into the report.
func (e *exporter) count(c *Case, rows int) {
	e.report.Cases++
	e.report.Rows += rows
	if e.o.Format == FormatJSONL {
		return
	}
	if len(c.Scope) > 0 || len(c.Filters) > 0 || c.AsOf != nil {
		e.report.Restricted++
	}
}

// jsonl writes the cases as they are: Import reads them back.
func (e *exporter) jsonl(sink Sink) error {
	if len(e.cases) == 0 {
		return ErrNothingToExport
	}
	return sink("", func(w io.Writer) error {
		encoder := encoderOf(w)
		for _, c := range e.cases {
			if err := encoder.Encode(c); err != nil {
				return fmt.Errorf("case %s: %w", c.ID, err)
			}
			e.count(c, 1)
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
