package datasets

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// Formats of tools that test answers: a query and what answers it, a case at a time.
const (
	FormatRagas     = "ragas"
	FormatDeepEval  = "deepeval"
	FormatPromptfoo = "promptfoo"
	FormatLangSmith = "langsmith"
)

// sample is a case and the chunks that are known to be relevant, the highest grade
// first; their texts only where the format has them.
type sample struct {
	c        *Case
	ids      []string
	relevant []corpus.Chunk
}

// samples are the cases that have a relevant chunk or that expect abstention, where
// the format has a place for that.
func (e *exporter) samples() ([]sample, error) {
	var out []sample
	var all []string
	abstains := slices.Contains(e.o.format().holds, partAbstention)
	for _, c := range e.cases {
		ids := e.relevant(e.known(c))
		if len(ids) == 0 && !(abstains && c.ExpectedAbstention) {
			e.report.WithoutPositive++
			continue
		}
		e.count(c, 1)
		out, all = append(out, sample{c: c, ids: ids}), append(all, ids...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no case has a chunk that is known to be relevant", ErrNothingToExport)
	}
	if !e.o.NeedsCorpus() {
		return out, nil
	}
	return out, e.fillTexts(out, all)
}

func (e *exporter) fillTexts(samples []sample, ids []string) error {
	slices.Sort(ids)
	chunks, err := e.view.ChunksByID(slices.Compact(ids))
	if err != nil {
		return err
	}
	for i := range samples {
		s := &samples[i]
		for _, id := range s.ids {
			chunk, ok := chunks[id]
			if !ok {
				return fmt.Errorf("case %s: chunk %s is not in the snapshot", s.c.ID, id)
			}
			s.relevant = append(s.relevant, chunk)
		}
	}
	return nil
}

func (s *sample) texts() []string {
	return convert(s.relevant, func(c corpus.Chunk) string { return c.Text })
}

// ragasRow is a SingleTurnSample of ragas, and the case's id, which ragas passes over.
type ragasRow struct {
	CaseID    string   `json:"case_id"`
	UserInput string   `json:"user_input"`
	Reference *string  `json:"reference,omitempty"`
	Contexts  []string `json:"reference_contexts"`
	IDs       []string `json:"reference_context_ids"`
}

// ragas writes JSON lines as EvaluationDataset.from_jsonl reads them.
func (e *exporter) ragas(sink Sink) error {
	samples, err := e.samples()
	if err != nil {
		return err
	}
	return jsonLines(sink, "", convert(samples, func(s sample) ragasRow {
		return ragasRow{s.c.ID, s.c.Query, s.c.ReferenceAnswer, s.texts(), s.ids}
	}))
}

// sampleMetadata is what tools keep beside a query without reading it.
type sampleMetadata struct {
	CaseID     string   `json:"case_id"`
	QueryType  string   `json:"query_type,omitempty"`
	Category   string   `json:"category,omitempty"`
	Style      string   `json:"style,omitempty"`
	Language   string   `json:"language,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Relevant   []string `json:"relevant_chunk_ids"`
	Abstention bool     `json:"expected_abstention,omitempty"`
	Answer     *string  `json:"reference_answer,omitempty"`
}

func (s *sample) metadata() sampleMetadata {
	c := s.c
	return sampleMetadata{c.ID, c.QueryType, c.Category, c.Style, c.Language, c.Tags, append([]string{}, s.ids...), c.ExpectedAbstention, c.ReferenceAnswer}
}

// deepEvalRow is a golden of DeepEval.
type deepEvalRow struct {
	Name     string         `json:"name"`
	Input    string         `json:"input"`
	Expected *string        `json:"expected_output"`
	Context  []string       `json:"context"`
	Source   string         `json:"source_file"` // document of the first context
	Metadata sampleMetadata `json:"additional_metadata"`
}

// deepEval writes a list as EvaluationDataset.add_goldens_from_json_file reads it.
func (e *exporter) deepEval(sink Sink) error {
	samples, err := e.samples()
	if err != nil {
		return err
	}
	return jsonList(sink, convert(samples, func(s sample) deepEvalRow {
		return deepEvalRow{s.c.ID, s.c.Query, s.c.ReferenceAnswer, s.texts(), s.relevant[0].DocID, s.metadata()}
	}))
}

// jsonList writes a JSON array, an element a line.
func jsonList[T any](sink Sink, rows []T) error {
	lines := convert(rows, func(row T) string { return string(mustJSON(row)) })
	return sink("", func(w io.Writer) error {
		_, err := io.WriteString(w, "[\n"+strings.Join(lines, ",\n")+"\n]\n")
		return err
	})
}

// promptfooRecall is the assertion of each test: it reads what the provider returned
// as a list of chunk ids, or of objects that have one.
//
//go:embed promptfoo_recall.js
var promptfooRecall string

type promptfooTest struct {
	Description string            `json:"description"`
	Vars        map[string]string `json:"vars"`
	Assert      []promptfooAssert `json:"assert"`
	Metadata    sampleMetadata    `json:"metadata"`
}

type promptfooAssert struct {
	Type   string `json:"type"`
	Metric string `json:"metric"`
	Value  string `json:"value"`
}

// promptfoo writes a list of tests.
func (e *exporter) promptfoo(sink Sink) error {
	samples, err := e.samples()
	if err != nil {
		return err
	}
	tests := make([]promptfooTest, len(samples))
	for i, s := range samples {
		tests[i] = promptfooTest{
			Description: "case " + s.c.ID, Vars: map[string]string{"query": inTemplate(s.c.Query)}, Metadata: s.metadata(),
			Assert: []promptfooAssert{{"javascript", "recall", promptfooRecall}},
		}
	}
	return jsonList(sink, tests)
}

// inTemplate writes a text so that promptfoo, to which a variable is a template or the
// name of a file, gives it to the provider as it stands: what begins a mark is written
// as an expression. (Between raw and endraw a text with {{ is left as it is, marks and
// all, where what stands there names no variable.)
func inTemplate(text string) string {
	file := strings.HasPrefix(text, "file://") || strings.HasPrefix(text, "package:")
	var b strings.Builder
	for i, r := range text {
		if file && i == 0 || beginsMark(text[i:]) {
			fmt.Fprintf(&b, `{{ "%c" }}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// beginsMark reports whether a text begins with a mark, or with the end of a comment,
// which is an error without its beginning.
func beginsMark(text string) bool {
	for _, mark := range []string{"{{", "{%", "{#", "#}"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

var templateLetter = regexp.MustCompile(`\{\{ "(.)" \}\}`)

// plainTemplate takes what inTemplate wrote back, and raw and endraw around a text.
func plainTemplate(text string) string {
	inner, begins := strings.CutPrefix(text, "{% raw %}")
	inner, ends := strings.CutSuffix(inner, "{% endraw %}")
	if begins && ends {
		return inner
	}
	return templateLetter.ReplaceAllString(text, "$1")
}

// langSmith writes a table as Client.upload_csv reads it: query is the input, the
// answer, the chunks and the abstention are outputs, the rest is metadata.
func (e *exporter) langSmith(sink Sink) error {
	samples, err := e.samples()
	if err != nil {
		return err
	}
	columns := []string{
		"query", "reference_answer", "relevant_chunk_ids", "expected_abstention",
		"case_id", "query_type", "category", "style", "language", "tags",
	}
	rows := [][]string{columns}
	for _, s := range samples {
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal(mustJSON(s.metadata()), &fields); err != nil {
			return err
		}
		fields["query"] = mustJSON(s.c.Query)
		if !s.c.ExpectedAbstention {
			fields["expected_abstention"] = mustJSON(false)
		}
		rows = append(rows, convert(columns, func(column string) string { return cell(fields[column]) }))
	}
	return writeCSV(sink, rows)
}
