package datasets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// object is a JSON object of a file, and the line on which it begins.
type object struct {
	line int
	json []byte
}

// readObjects reads a list of objects: JSON lines, a JSON array, or for .yaml and .yml
// YAML. A file that is one object with a list under the given key is that list; key ""
// is for formats without. Errors name file and line.
func readObjects(path, key string) ([]object, error) {
	text, err := readText(path)
	if err != nil {
		return nil, fmt.Errorf("cases: %w", err)
	}
	parse := jsonObjects
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".yaml" || ext == ".yml":
		parse = func(text string) ([]object, error) { return yamlObjects(text, key) }
	case strings.HasPrefix(strings.TrimSpace(text), "["):
		parse = arrayObjects
	}
	out, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return out, nil
}

func jsonObjects(text string) ([]object, error) {
	var out []object
	for n, line := range lines(text) {
		if !blank(line) {
			out = append(out, object{n, []byte(line)})
		}
	}
	return out, nil
}

func arrayObjects(text string) ([]object, error) {
	d := json.NewDecoder(strings.NewReader(text))
	line := func() int { return 1 + strings.Count(text[:min(int(d.InputOffset()), len(text))], "\n") }
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%d: %w", line(), err)
	}
	var out []object
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("%d: %w", line(), err)
		}
		out = append(out, object{line() - bytes.Count(raw, []byte("\n")), raw})
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%d: %w", line(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%d: more than one value in the file", line())
	}
	return out, nil
}

func yamlObjects(text, key string) ([]object, error) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	list := listOf(&root, key)
	if list == nil {
		return nil, fmt.Errorf("1: want a list of cases, or one under %s", key)
	}
	var out []object
	for _, node := range list.Content {
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, fmt.Errorf("%d: %w", node.Line, err)
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", node.Line, err)
		}
		out = append(out, object{node.Line, data})
	}
	return out, nil
}

// listOf is the document's list, or the one under its key.
func listOf(root *yaml.Node, key string) *yaml.Node {
	if len(root.Content) == 0 {
		return nil
	}
	node := root.Content[0]
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node = node.Content[i+1]
			break
		}
	}
	if node.Kind != yaml.SequenceNode {
		return nil
	}
	return node
}

// addObjects makes foreign cases of objects. Errors name every bad one, up to a limit.
func (im *importer) addObjects(key string, view RebaseView, read func([]byte) (foreign, error)) error {
	objects, err := readObjects(im.options.Queries, key)
	if err != nil {
		return err
	}
	var list []foreign
	var errs []error
	for _, o := range objects {
		x, err := read(o.json)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", im.options.Queries, o.line, err))
			continue
		}
		x.line = o.line
		list = append(list, x)
	}
	if err := limited(errs); err != nil {
		return err
	}
	return im.addForeign(list, view)
}

// ragasSample is a SingleTurnSample of ragas. Its user_input is a list where it is of
// a conversation.
type ragasSample struct {
	CaseID    string          `json:"case_id"`
	UserInput json.RawMessage `json:"user_input"`
	Reference *string         `json:"reference"`
	Contexts  []string        `json:"reference_contexts"`
	IDs       []any           `json:"reference_context_ids"`
}

// readRagas reads an EvaluationDataset or Testset of ragas, as JSON lines or as a list:
// reference_contexts are the passages, reference_context_ids their ids.
func (im *importer) readRagas(view RebaseView) error {
	return im.addObjects("", view, func(data []byte) (foreign, error) {
		var s ragasSample
		if err := json.Unmarshal(data, &s); err != nil {
			return foreign{}, err
		}
		x := foreign{c: Case{ID: s.CaseID, ReferenceAnswer: s.Reference}}
		if err := json.Unmarshal(s.UserInput, &x.c.Query); err != nil || x.c.Query == "" {
			return foreign{}, errors.New("user_input: want a query: conversations are not read")
		}
		if len(s.IDs) > 0 && len(s.Contexts) > 0 && len(s.IDs) != len(s.Contexts) {
			return foreign{}, fmt.Errorf("%d reference_contexts, but %d reference_context_ids", len(s.Contexts), len(s.IDs))
		}
		x.passages = make([]passage, max(len(s.IDs), len(s.Contexts)))
		for i, id := range s.IDs {
			x.passages[i].id = fmt.Sprint(id)
		}
		for i, text := range s.Contexts {
			x.passages[i].text = text
		}
		return x, nil
	})
}

// readDeepEval reads goldens of DeepEval, as a list or as JSON lines: context holds the
// passages. What an export adds as metadata is read too.
func (im *importer) readDeepEval(view RebaseView) error {
	return im.addObjects("", view, func(data []byte) (foreign, error) {
		var g struct {
			Input    string         `json:"input"`
			Expected *string        `json:"expected_output"`
			Context  []string       `json:"context"`
			Metadata sampleMetadata `json:"additional_metadata"`
		}
		if err := json.Unmarshal(data, &g); err != nil {
			return foreign{}, err
		}
		x := g.Metadata.foreign(g.Expected)
		x.c.Query = g.Input
		ids := g.Metadata.Relevant
		for i, text := range g.Context {
			p := passage{text: text}
			if len(ids) == len(g.Context) {
				p.id = ids[i]
			}
			x.passages = append(x.passages, p)
		}
		return x, nil
	})
}

// foreign is a case with what the metadata says of it, but for its passages.
func (m *sampleMetadata) foreign(answer *string) foreign {
	return foreign{c: Case{
		ID: m.CaseID, QueryType: m.QueryType, Category: m.Category, Style: m.Style, Language: m.Language, Tags: m.Tags,
		ExpectedAbstention: m.Abstention, ReferenceAnswer: cmp.Or(m.Answer, answer),
	}}
}

// promptfooCase is a test of promptfoo.
type promptfooCase struct {
	Vars   map[string]json.RawMessage `json:"vars"`
	Assert []struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	} `json:"assert"`
	Metadata sampleMetadata `json:"metadata"`
}

// Variables of a promptfoo test that are read, the first one that is there; and
// assertions whose value is what a right answer says.
func promptfooQueries() []string  { return []string{"query", "question", "input"} }
func promptfooContexts() []string { return []string{"context", "contexts", "documents"} }
func promptfooAnswers() []string {
	return []string{"context-recall", "factuality", "model-graded-factuality", "answer-similarity", "similar"}
}

// readPromptfoo reads the tests of promptfoo: a list as JSON, JSON lines or YAML, or a
// configuration as YAML.
func (im *importer) readPromptfoo(view RebaseView) error {
	return im.addObjects("tests", view, func(data []byte) (foreign, error) {
		var t promptfooCase
		if err := json.Unmarshal(data, &t); err != nil {
			return foreign{}, err
		}
		return t.foreign()
	})
}

func (t *promptfooCase) foreign() (foreign, error) {
	x := t.Metadata.foreign(nil)
	queries, err := t.variable(promptfooQueries())
	if err != nil || len(queries) != 1 {
		return foreign{}, cmp.Or(err, fmt.Errorf("want one query in a variable named %s", strings.Join(promptfooQueries(), " or ")))
	}
	x.c.Query = plainTemplate(queries[0])
	contexts, err := t.variable(promptfooContexts())
	if err != nil {
		return foreign{}, err
	}
	for _, id := range t.Metadata.Relevant {
		x.passages = append(x.passages, passage{id: id})
	}
	for _, text := range contexts {
		x.passages = append(x.passages, passage{text: plainTemplate(text)})
	}
	for _, a := range t.Assert {
		var value string
		if x.c.ReferenceAnswer == nil && slices.Contains(promptfooAnswers(), a.Type) && json.Unmarshal(a.Value, &value) == nil {
			x.c.ReferenceAnswer = &value
		}
	}
	return x, nil
}

// variable is the value, or the list of values, of the first variable that is there.
func (t *promptfooCase) variable(names []string) ([]string, error) {
	for _, name := range names {
		raw, ok := t.Vars[name]
		if !ok {
			continue
		}
		var one string
		if json.Unmarshal(raw, &one) == nil {
			return []string{one}, nil
		}
		var several []string
		if err := json.Unmarshal(raw, &several); err != nil {
			return nil, fmt.Errorf("vars.%s: want a text or a list of texts", name)
		}
		return several, nil
	}
	return nil, nil
}

// readLlamaIndex reads an EmbeddingQAFinetuneDataset of LlamaIndex, in the order of
// the queries' ids.
func (im *importer) readLlamaIndex(view RebaseView) error {
	text, err := readText(im.options.Queries)
	if err != nil {
		return fmt.Errorf("cases: %w", err)
	}
	var d struct {
		Queries  map[string]string   `json:"queries"`
		Corpus   map[string]string   `json:"corpus"`
		Relevant map[string][]string `json:"relevant_docs"`
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return fmt.Errorf("%s:1: %w", im.options.Queries, err)
	}
	if d.Queries == nil || d.Relevant == nil {
		return fmt.Errorf("%s:1: want an object with queries, corpus and relevant_docs", im.options.Queries)
	}
	var list []foreign
	for n, id := range slices.Sorted(maps.Keys(d.Queries)) {
		x := foreign{line: n + 1, c: Case{ID: id, Query: d.Queries[id]}}
		for _, node := range d.Relevant[id] {
			x.passages = append(x.passages, passage{node, d.Corpus[node]})
		}
		list = append(list, x)
	}
	return im.addForeign(list, view)
}

// readAutoRAG reads qa.parquet and corpus.parquet of AutoRAG. The passages of a query
// are taken as one list: that some of them are alternatives is not kept.
func (im *importer) readAutoRAG(view RebaseView) error {
	texts := map[string]string{}
	for row, err := range textRows(im.options.Passages, []string{"doc_id", "contents"}, nil) {
		if err != nil {
			return fmt.Errorf("passages: %w", err)
		}
		texts[row.first("doc_id")] = row.first("contents")
	}
	var list []foreign
	for row, err := range textRows(im.options.Queries, []string{"qid", "query", "retrieval_gt"}, []string{"generation_gt"}) {
		if err != nil {
			return fmt.Errorf("queries: %w", err)
		}
		x := foreign{line: len(list) + 1, c: Case{ID: row.first("qid"), Query: row.first("query")}}
		if answers := row["generation_gt"]; len(answers) > 0 {
			x.c.ReferenceAnswer = &answers[0]
		}
		for _, id := range row["retrieval_gt"] {
			x.passages = append(x.passages, passage{id, texts[id]})
		}
		list = append(list, x)
	}
	return im.addForeign(list, view)
}
