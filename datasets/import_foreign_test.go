package datasets_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/parquetfile"
)

// imported is what a test of another tool's file looks at.
type imported struct {
	ID, Query string
	Grades    map[string]int
	Source    []string
	Evidence  []datasets.Evidence
}

func importedCases(d datasets.Draft) []imported {
	var out []imported
	for _, c := range d.Cases {
		x := imported{ID: c.ID, Query: c.Query, Grades: map[string]int{}, Source: c.Source, Evidence: c.Evidence}
		for _, j := range c.Judgments {
			x.Grades[j.ChunkID] = *j.Grade
		}
		out = append(out, x)
	}
	return out
}

func importFile(t *testing.T, format, name, text string) (datasets.Draft, datasets.ImportReport, error) {
	t.Helper()
	return datasets.Import(context.Background(), datasets.ImportOptions{Format: format, From: file(t, name, text)}, handbook())
}

// inSecond is evidence of which the chunk after holds the last two bytes.
func inSecond() []datasets.Evidence {
	return []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#1", Start: 26, End: 53, Quote: "Keys expire. Café keys too"}}
}

// A text of another tool is found whatever it made of white space, case and Unicode
// forms; one that is not there makes a reject, an id that is none is counted.
func TestImportRagas(t *testing.T) {
	lines := `{"user_input":"when do keys expire","reference":"after a day","reference_contexts":["Keys EXPIRE.\n Rotate  them."],"synthesizer_name":"x"}
{"case_id":"b","user_input":"of cafés","reference_contexts":["Keys expire. Cafe\u0301 KEYS too"],"reference_context_ids":["node-7"]}
{"case_id":"c","user_input":"by id","reference_context_ids":["b.md","gone"]}
{"case_id":"d","user_input":"elsewhere","reference_contexts":["A text that nobody wrote."]}
`
	d, report, err := importFile(t, datasets.FormatRagas, "set.jsonl", lines)
	if err != nil {
		t.Fatal(err)
	}
	cases := importedCases(d)
	want := []imported{
		{
			ID: cases[0].ID, Query: "when do keys expire", Grades: map[string]int{"a.md#0": 3}, Source: []string{"a.md#0"},
			Evidence: []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#0", Start: 0, End: 25, Quote: "Keys expire. Rotate them."}},
		},
		{ID: "b", Query: "of cafés", Grades: map[string]int{"a.md#1": 3, "a.md#2": 1}, Source: []string{"a.md#1"}, Evidence: inSecond()},
		{ID: "c", Query: "by id", Grades: map[string]int{"b.md#0": 3}, Source: []string{"b.md#0"}},
	}
	if diff := cmp.Diff(want, cases, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	wantReport := datasets.ImportReport{
		Queries: 4, Cases: 3, Judgments: 4, WithoutQrels: []string{}, UnknownQueries: []string{}, UnknownIDs: []string{"gone"}, UnknownRows: 1,
		RelevantGrade: 2, Unlocated: []string{`d: "A text that nobody wrote."`}, WithoutEvidence: 1,
	}
	if diff := cmp.Diff(wantReport, report); diff != "" {
		t.Error(diff)
	}
	if len(d.Rejects) != 1 || d.Rejects[0].Reason != datasets.ReasonNotLocated || d.Manifest.Funnel[datasets.ReasonNotLocated] != 1 {
		t.Errorf("rejects %+v", d.Rejects)
	}
	if d.Manifest.Trust.Level != datasets.TrustSourceOnly || *d.Cases[0].ReferenceAnswer != "after a day" {
		t.Errorf("trust %+v", d.Manifest.Trust)
	}
	if diff := cmp.Diff([]datasets.Check{{Name: datasets.CheckEvidence}}, d.Cases[2].Checks); diff != "" || len(d.Cases[0].Checks) > 0 {
		t.Errorf("the case without evidence is not marked: %s", diff)
	}
}

// A text over two chunks labels both, by how much of it they hold; an id that was
// used again for another text is not believed.
func TestImportedTextsLabelChunksByTheirShare(t *testing.T) {
	d, _, err := importFile(t, datasets.FormatRagas, "set.json",
		`[{"user_input":"q","reference_contexts":["Rotate them. Keys expire."],"reference_context_ids":["b.md#0"]}]`)
	if err != nil {
		t.Fatal(err)
	}
	got := importedCases(d)[0]
	if diff := cmp.Diff(map[string]int{"a.md#0": 3, "a.md#1": 1}, got.Grades); diff != "" {
		t.Error(diff)
	}
	if len(got.Evidence) != 1 || got.Evidence[0].Quote != "Rotate them. Keys expire." {
		t.Errorf("evidence %+v", got.Evidence)
	}
}

// A passage that was cut inside of its first and last word is found without them; a
// short one, which would be found anywhere, is not.
func TestImportedTextsThatAreCutInAWord(t *testing.T) {
	corpus := &snapshot{}
	corpus.add("long.md", "Before it. Every key that is older than one hundred days expires at midnight. After it.", 200)
	for text, want := range map[string]string{
		"ery key that is older than one hundred days expires at midn": "key that is older than one hundred days expires at",
		"ery key that is older than":                                  "",
		"Every key that is younger than one hundred days expires at":  "",
	} {
		path := file(t, "set.json", `[{"user_input":"q","reference_contexts":["`+text+`","Before it. Every"]}]`)
		d, report, err := datasets.Import(context.Background(), datasets.ImportOptions{Format: datasets.FormatRagas, From: path}, corpus)
		if err != nil {
			t.Fatal(err)
		}
		evidence := d.Cases[0].Evidence
		if want == "" && (len(evidence) != 1 || len(report.Unlocated) != 1) || want != "" && evidence[0].Quote != want {
			t.Errorf("%q: evidence %+v, unlocated %q", text, evidence, report.Unlocated)
		}
	}
}

// What stands in many places answers nothing by itself.
func TestImportedTextsThatStandEverywhere(t *testing.T) {
	corpus := &snapshot{}
	corpus.add("a.md", strings.Repeat("See the manual. ", 6)+"Read the other manual. ", 2000)
	d, report, err := datasets.Import(context.Background(), datasets.ImportOptions{
		Format: datasets.FormatRagas, From: file(t, "x.jsonl", `{"case_id":"x","user_input":"q","reference_contexts":["See the manual.","Read the other manual."]}`),
	}, corpus)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`x: "See the manual."`}, report.Unlocated); diff != "" || len(d.Cases[0].Evidence) != 1 {
		t.Errorf("%s%+v", diff, d.Cases[0].Evidence)
	}
}

// The chunks that are relevant survive in the formats that have no grades.
func TestRoundTripOfRelevantChunks(t *testing.T) {
	want := map[string][]string{"q1": {"a.md#0", "a.md#1"}}
	for _, format := range []string{datasets.FormatRagas, datasets.FormatDeepEval, datasets.FormatPromptfoo} {
		from := exported(t, toolSet(), handbook(), datasets.ExportOptions{Format: format}, "cases.json")
		d, report, err := datasets.Import(context.Background(), datasets.ImportOptions{Format: format, From: from}, handbook())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for _, c := range d.Cases {
			if len(c.Source) > 0 {
				got[c.ID] = slices.Sorted(slices.Values(c.Source))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(report.Unlocated)+report.UnknownRows > 0 || d.Cases[0].Query != toolSet().Cases[0].Query {
			t.Errorf("%s: %s%+v", format, diff, report)
		}
	}
}

// Cases written by hand may quote what answers them instead of naming chunks.
func TestImportOfQuotes(t *testing.T) {
	d, report, err := importFile(t, datasets.FormatJSONL, "cases.jsonl", `{"case_id":"a","query":"cafés","evidence":[{"quote":"café KEYS too"}]}
{"case_id":"b","query":"both","evidence":[{"doc_id":"b.md","quote":"Keys expire. Rotate them."}],"relevant_chunk_ids":["b.md#0"]}
{"case_id":"c","query":"by id","evidence":[{"doc_id":"a.md","quote":"Keys expire. Rotate them."}],"relevant_chunk_ids":["b.md#0"]}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []imported{
		{ID: "a", Query: "cafés", Grades: map[string]int{"a.md#1": 1, "a.md#2": 0}, Evidence: []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#1", Start: 39, End: 53, Quote: "Café keys too"}}},
		{ID: "b", Query: "both", Grades: map[string]int{"b.md#0": 1}},
		{ID: "c", Query: "by id", Grades: map[string]int{"b.md#0": 1}, Evidence: []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#0", Start: 0, End: 25, Quote: "Keys expire. Rotate them."}}},
	}
	if diff := cmp.Diff(want, importedCases(d), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`b: "Keys expire. Rotate them."`}, report.Unlocated); diff != "" || d.Manifest.Trust.Level != datasets.TrustReviewed {
		t.Errorf("%s%+v", diff, d.Manifest.Trust)
	}
}

func TestImportPromptfoo(t *testing.T) {
	config := `prompts: ["{{query}}"]
tests:
  - vars:
      query: "{% raw %}what is {{x}}{% endraw %}"
      context: ["Keys expire. Rotate them."]
    assert: [{type: factuality, value: after a day}, {type: javascript, value: "true"}]
  - vars: {question: by id}
    metadata: {case_id: two, relevant_chunk_ids: [a.md#1], query_type: keyword}
`
	d, _, err := importFile(t, datasets.FormatPromptfoo, "promptfooconfig.yaml", config)
	if err != nil {
		t.Fatal(err)
	}
	cases := importedCases(d)
	if len(cases) != 2 || cases[0].Query != "what is {{x}}" || *d.Cases[0].ReferenceAnswer != "after a day" || len(cases[0].Evidence) != 1 {
		t.Errorf("%+v", cases)
	}
	if diff := cmp.Diff(imported{ID: "two", Query: "by id", Grades: map[string]int{"a.md#1": 3}, Source: []string{"a.md#1"}}, cases[1], cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	back := exported(t, toolSet(), nil, datasets.ExportOptions{Format: datasets.FormatPromptfoo}, "tests.json")
	d, _, err = datasets.Import(context.Background(), datasets.ImportOptions{Format: datasets.FormatPromptfoo, From: back}, handbook())
	if err != nil || len(d.Cases) != 2 || d.Cases[0].Query != toolSet().Cases[0].Query || !d.Cases[1].ExpectedAbstention {
		t.Errorf("back again: %+v, %v", d.Cases, err)
	}
}

func TestImportLlamaIndex(t *testing.T) {
	d, report, err := importFile(t, datasets.FormatLlamaIndex, "qa.json", `{"queries":{"b":"of cafés","a":"which keys"},
		"corpus":{"n1":"`+"Keys expire. Café keys too"+`","n2":"Nothing that is here"},"relevant_docs":{"a":["n1"],"b":["n1","n2"]},"mode":"text"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []imported{
		{ID: "a", Query: "which keys", Grades: map[string]int{"a.md#1": 3, "a.md#2": 1}, Source: []string{"a.md#1"}, Evidence: inSecond()},
		{ID: "b", Query: "of cafés", Grades: map[string]int{"a.md#1": 3, "a.md#2": 1}, Source: []string{"a.md#1"}, Evidence: inSecond()},
	}
	if diff := cmp.Diff(want, importedCases(d)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`b: "Nothing that is here"`}, report.Unlocated); diff != "" {
		t.Error(diff)
	}
}

func TestImportAutoRAG(t *testing.T) {
	type qa struct {
		QID     string     `parquet:"qid"`
		Query   string     `parquet:"query"`
		GT      [][]string `parquet:"retrieval_gt,list"`
		Answers []string   `parquet:"generation_gt,list"`
	}
	type passage struct {
		DocID    string `parquet:"doc_id"`
		Contents string `parquet:"contents"`
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "qa.parquet"), []qa{{"q1", "which keys", [][]string{{"p1"}, {"p2", "p3"}}, []string{"all", "some"}}})
	put(t, filepath.Join(dir, "corpus.parquet"), []passage{{"p1", "Keys expire. Rotate them."}, {"p2", "Keys expire. Café keys too"}, {"p3", "Neither here nor there."}})
	d, report, err := datasets.Import(context.Background(), datasets.ImportOptions{Format: datasets.FormatAutoRAG, From: dir}, handbook())
	if err != nil {
		t.Fatal(err)
	}
	got := importedCases(d)
	if len(got) != 1 || len(got[0].Evidence) != 2 || len(report.Unlocated) != 1 || *d.Cases[0].ReferenceAnswer != "all" {
		t.Errorf("%+v, %+v", got, report)
	}
	if diff := cmp.Diff(map[string]int{"a.md#0": 3, "a.md#1": 3, "a.md#2": 1}, got[0].Grades); diff != "" {
		t.Error(diff)
	}
}

func put[T any](t *testing.T, path string, rows []T) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := parquetfile.Write(f, rows); err != nil {
		t.Fatal(err)
	}
}

func TestImportNamesWhatIsWrongInAFile(t *testing.T) {
	for name, test := range map[string]struct{ format, file, text, want string }{
		"conversation":    {"ragas", "x.jsonl", `{"user_input":[{"content":"hi"}]}`, "x.jsonl:1: user_input: want a query"},
		"ids":             {"ragas", "x.jsonl", "\n" + `{"user_input":"q","reference_contexts":["a b c"],"reference_context_ids":["x","y"]}`, "x.jsonl:2: 1 reference_contexts, but 2"},
		"no json":         {"ragas", "x.jsonl", "{", "x.jsonl:1: unexpected end"},
		"array cut":       {"ragas", "x.json", "[\n{\"user_input\":\"q\"},\n{", "x.json:"},
		"after the array": {"ragas", "x.json", "[]\n[]", "more than one value"},
		"empty":           {"ragas", "x.jsonl", "\n", "x.jsonl: no cases"},
		"twice":           {"ragas", "x.jsonl", `{"case_id":"a","user_input":"q"}` + "\n" + `{"case_id":"a","user_input":"r"}`, `x.jsonl:2: duplicate case "a", first on line 1`},
		"no variable":     {"promptfoo", "x.yaml", "- vars: {city: Rome}\n", "x.yaml:1: want one query in a variable named query or question or input"},
		"no tests":        {"promptfoo", "x.yaml", "prompts: [a]\n", "want a list of cases, or one under tests"},
		"bad yaml":        {"promptfoo", "x.yaml", "a: [", "x.yaml:1: "},
		"no object":       {"llamaindex", "x.json", "[1]", "x.json:1: "},
		"no queries":      {"llamaindex", "x.json", "{}", "want an object with queries, corpus and relevant_docs"},
		"column":          {"csv", "x.csv", "query,relevent\nq,a\n", `x.csv:1: unknown column "relevent"`},
		"column twice":    {"csv", "x.csv", "query,query\nq,a\n", `x.csv:1: column "query" is there twice`},
		"no query":        {"csv", "x.csv", "case_id\nq\n", "x.csv:1: no column query"},
		"cells":           {"csv", "x.csv", "query,tags\n\"a\nb\",\nq\n", "x.csv:4: wrong number of fields"},
		"quotes":          {"csv", "x.csv", "query\na \"b\n", "x.csv:2: bare"},
		"cell":            {"csv", "x.csv", "query,scope\nq,team\n", "x.csv:2: column scope: \"team\" is no JSON"},
		"label":           {"csv", "x.csv", "query,query_type\nq,hard\n", `x.csv:2: case`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := importFile(t, test.format, test.file, test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

func TestImportOptionsThatDoNotFit(t *testing.T) {
	for want, o := range map[string]datasets.ImportOptions{
		`format "xlsx": want trec, beir, huggingface, jsonl, csv, ragas, deepeval, promptfoo, llamaindex, autorag`: {Format: "xlsx", From: "a"},
		"from: stands for queries, qrels": {Format: "beir", From: "a", Qrels: "b"},
		"passages: no file given":         {Format: "autorag", Queries: "a"},
		"passages: only for autorag":      {Format: "ragas", Queries: "a", Passages: "b"},
		"qrels: ragas cases hold":         {Format: "ragas", Queries: "a", Qrels: "b"},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Cells that people write by hand.
func TestImportTableByHand(t *testing.T) {
	d, _, err := importFile(t, datasets.FormatCSV, "cases.csv", "query,relevant_chunk_ids,tags,expected_abstention\nwhich keys,\"a.md#0\na.md#1\",critical,FALSE\nnobody knows,,,TRUE\n")
	if err != nil {
		t.Fatal(err)
	}
	got := importedCases(d)
	if diff := cmp.Diff(map[string]int{"a.md#0": 1, "a.md#1": 1}, got[0].Grades); diff != "" || !d.Cases[1].ExpectedAbstention || d.Cases[0].Tags[0] != "critical" {
		t.Errorf("%s%+v", diff, d.Cases)
	}
}

func FuzzImportTable(f *testing.F) {
	f.Add("query,tags\nq,\"[\"\"a\"\"]\"\n")
	f.Add("query\n\"a\nb\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, _, err := importFile(t, datasets.FormatCSV, "cases.csv", text)
		if err == nil && len(d.Cases) == 0 {
			t.Error("neither a case nor an error")
		}
	})
}

// Whatever a file of another tool holds, it gives cases, rejects or an error.
func FuzzImportForeign(f *testing.F) {
	for _, text := range []string{
		`{"user_input":"q","reference_contexts":["Keys expire. Rotate them."]}`, `[{"input":"q","context":["a b c"]}]`, "- vars: {query: q, context: a b c}\n",
		`{"queries":{"a":"q"},"corpus":{"n":"Keys expire. Rotate them."},"relevant_docs":{"a":["n"]}}`, "tests: &a [*a]", "[{}, {", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, x := range [][2]string{{datasets.FormatRagas, "x.jsonl"}, {datasets.FormatDeepEval, "x.json"}, {datasets.FormatPromptfoo, "x.yaml"}, {datasets.FormatLlamaIndex, "x.json"}} {
			d, report, err := importFile(t, x[0], x[1], text)
			if err == nil && len(d.Cases) == 0 {
				t.Errorf("%s: neither a case nor an error: %+v", x[0], report)
			}
		}
	})
}
