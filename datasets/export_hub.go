package datasets

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/text/language"
)

// Folders that Hugging Face's datasets loads, with the columns that BEIR and MTEB
// know. That of MTEB has a task besides.
const (
	FormatHuggingFace = "huggingface"
	FormatMTEB        = "mteb"
)

// Files of both.
const (
	ExportHubQueries = "queries.parquet"
	ExportHubCorpus  = "corpus.parquet"
	ExportHubQrels   = "qrels.parquet"
	ExportHubCard    = "README.md"
	ExportMTEBTask   = "task.py"
)

func hubParts() []string {
	return []string{partQuery, partGrades, partAbstention, partAnswer, partEvidence, partForbidden, partNegatives, partSlices}
}

//go:embed hub.md.tmpl
var hubTemplate string

//go:embed mteb.py.tmpl
var mtebTemplate string

// hubQuery is a row of queries.parquet.
type hubQuery struct {
	ID         string        `parquet:"_id"`
	Text       string        `parquet:"text"`
	QueryType  string        `parquet:"query_type"`
	Category   string        `parquet:"category"`
	Style      string        `parquet:"style"`
	Language   string        `parquet:"language"`
	Tags       []string      `parquet:"tags,list"`
	Abstention bool          `parquet:"expected_abstention"`
	Answer     *string       `parquet:"reference_answer,optional"`
	Evidence   []evidenceRow `parquet:"evidence,list"`
	Forbidden  []string      `parquet:"forbidden,list"`
	Negatives  []string      `parquet:"hard_negatives,list"`
}

// hubText is a row of corpus.parquet.
type hubText struct {
	ID    string `parquet:"_id"`
	Title string `parquet:"title"`
	Text  string `parquet:"text"`
	DocID string `parquet:"doc_id"`
}

// hubQrel is a row of qrels.parquet.
type hubQrel struct {
	QueryID  string `parquet:"query-id"`
	CorpusID string `parquet:"corpus-id"`
	Score    int64  `parquet:"score"`
}

// huggingFace writes the cases that have a label, and those that expect abstention.
func (e *exporter) huggingFace(sink Sink) error {
	return e.hub(sink, func(c *Case, labels []exported) bool { return len(labels) > 0 || c.ExpectedAbstention })
}

// mteb writes the cases that have a label, and a task over them.
func (e *exporter) mteb(sink Sink) error {
	if err := e.hub(sink, func(_ *Case, labels []exported) bool { return len(labels) > 0 }); err != nil {
		return err
	}
	task, err := e.mtebTask()
	if err != nil {
		return err
	}
	return sink(ExportMTEBTask, bytesTo(task))
}

func (e *exporter) hub(sink Sink, keep func(*Case, []exported) bool) error {
	var queries []hubQuery
	var qrels []hubQrel
	for _, c := range e.cases {
		labels := e.known(c)
		if !keep(c, labels) {
			e.report.WithoutLabels++
			continue
		}
		e.count(c, len(labels))
		queries = append(queries, toHubQuery(c))
		for _, l := range labels {
			qrels = append(qrels, hubQrel{c.ID, l.id, int64(l.grade)})
		}
	}
	if len(qrels) == 0 {
		return fmt.Errorf("%w: no case has a known label that is not only a probability", ErrNothingToExport)
	}
	var card bytes.Buffer
	if err := fill(&card, hubTemplate, hubCard{&e.set.Manifest, len(queries), len(qrels)}); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		ExportHubQueries: parquetOf(each(queries)), ExportHubQrels: parquetOf(each(qrels)),
		ExportHubCorpus: parquetOf(e.hubTexts()), ExportHubCard: bytesTo(card.Bytes()),
	} {
		if err := sink(name, write); err != nil {
			return err
		}
	}
	return nil
}

func toHubQuery(c *Case) hubQuery {
	return hubQuery{
		ID: c.ID, Text: c.Query, QueryType: c.QueryType, Category: c.Category, Style: c.Style, Language: c.Language, Tags: c.Tags,
		Abstention: c.ExpectedAbstention, Answer: c.ReferenceAnswer, Evidence: convert(c.Evidence, toEvidenceRow),
		Forbidden: c.Forbidden, Negatives: c.HardNegatives,
	}
}

func (e *exporter) hubTexts() iter.Seq2[hubText, error] {
	return func(yield func(hubText, error) bool) {
		for c, err := range e.view.Chunks() {
			if !yield(hubText{c.ID, strings.Join(c.HeadingPath, " > "), c.Text, c.DocID}, err) {
				return
			}
		}
	}
}

// each yields the rows of a list.
func each[T any](rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// groupRows bounds the rows of a Parquet file that are held at once.
const groupRows = 20_000

// parquetOf writes rows as they come.
func parquetOf[T any](rows iter.Seq2[T, error]) func(io.Writer) error {
	return func(w io.Writer) error {
		out := parquet.NewGenericWriter[T](w,
			parquet.CreatedBy("goldgen", "1", "0"), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(groupRows))
		for row, err := range rows {
			if err != nil {
				return err
			}
			if _, err := out.Write([]T{row}); err != nil {
				return err
			}
		}
		return out.Close()
	}
}

// hubCard is what the card is filled from.
type hubCard struct {
	*Manifest
	Queries, Labels int
}

// mtebTask is the task's source, in which a JSON string is one of Python too.
func (e *exporter) mtebTask() ([]byte, error) {
	languages, err := json.Marshal(e.mtebLanguages())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = fill(&b, mtebTemplate, struct {
		*Manifest
		Languages string
	}{&e.set.Manifest, string(languages)})
	return b.Bytes(), err
}

// mtebLanguages are the languages of the cases as MTEB names them, by three letters
// and the script; English where no case says one.
func (e *exporter) mtebLanguages() []string {
	var out []string
	for _, c := range e.cases {
		tag, err := language.Parse(c.Language)
		if err != nil || c.Language == "" {
			continue
		}
		base, _ := tag.Base()
		script, _ := tag.Script()
		out = append(out, base.ISO3()+"-"+script.String())
	}
	if len(out) == 0 {
		return []string{"eng-Latn"}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
