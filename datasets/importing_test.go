package datasets_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// file writes text to a new file of that name and gives its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// shared is the path of test data that lies beside the repository.
func shared(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("test data is missing: %v", err)
		}
		t.Skipf("test data is not here: %v", err)
	}
	return path
}

// oneChunk is a corpus of documents with one chunk each, named as they are.
func oneChunk(ids ...string) *snapshot {
	s := &snapshot{}
	for _, id := range ids {
		s.docs = append(s.docs, corpus.Document{ID: id, Text: "text"})
		s.chunks = append(s.chunks, corpus.Chunk{ID: id, DocID: id, End: 4, Text: "text", Unit: corpus.UnitDocument, Category: "all"})
	}
	return s
}

func importTREC(t *testing.T, queries, qrels string, view datasets.RebaseView) (datasets.Draft, datasets.ImportReport, error) {
	t.Helper()
	return datasets.Import(context.Background(), datasets.ImportOptions{
		Format: datasets.FormatTREC, Queries: file(t, "queries.tsv", queries), Qrels: file(t, "qrels.txt", qrels),
	}, view)
}

func TestImportTREC(t *testing.T) {
	queries := "q1\twhat  expires\r\nq2\twho rotates\nq3\tnot judged\nq4\tonly elsewhere\n"
	qrels := "# by two people\nq1 0 a.md#1 2\nq1 0 b.md -2\nq1 0 a.md#1 2\nq2 0 a.md#0 0\nq2 0 gone 1\nq4 0 gone 2\nq9 0 a.md#0 1\n"
	d, report, err := importTREC(t, queries, qrels, handbook())
	if err != nil {
		t.Fatal(err)
	}
	wantReport := datasets.ImportReport{
		Queries: 4, Cases: 2, Judgments: 3, WithoutQrels: []string{"q3", "q4"}, UnknownQueries: []string{"q9"},
		UnknownIDs: []string{"gone"}, UnknownRows: 2, Folded: 1, Negative: 1, NothingRelevant: 1, RelevantGrade: 2,
		Unlocated: []string{}, WithoutEvidence: 2,
	}
	if diff := cmp.Diff(wantReport, report); diff != "" {
		t.Error(diff)
	}
	zero, two := 0, 2
	human := func(chunk, doc string, grade *int, label string) datasets.Judgment {
		return datasets.Judgment{ChunkID: chunk, DocID: doc, Grade: grade, Label: label, By: "human", Judge: "qrels.txt", Inclusion: 1}
	}
	wantJudgments := map[string][]datasets.Judgment{
		"q1 what expires": {human("a.md#1", "a.md", &two, "relevant"), human("b.md#0", "b.md", &zero, "irrelevant")},
		"q2 who rotates":  {human("a.md#0", "a.md", &zero, "irrelevant")},
	}
	got := map[string][]datasets.Judgment{}
	for _, c := range d.Cases {
		got[c.ID+" "+c.Query] = c.Judgments
		if c.Origin != "human" || c.Status != "active" || len(c.Evidence) > 0 {
			t.Errorf("case %s: origin %s, status %s, evidence %v", c.ID, c.Origin, c.Status, c.Evidence)
		}
	}
	if diff := cmp.Diff(wantJudgments, got); diff != "" {
		t.Error(diff)
	}
	if d.Manifest.Trust.Level != datasets.TrustReviewed || d.Manifest.RelevantGrade != 2 || d.Manifest.Pins.Corpus.Digest != "c1" {
		t.Errorf("manifest %+v", d.Manifest)
	}
	ref := write(t, newStore(t), "set", d)
	if problems := verify(t, ref.Path, handbook()); len(problems) > 0 {
		t.Errorf("the imported set has problems: %v", problems)
	}
}

func TestImportBEIR(t *testing.T) {
	o := datasets.ImportOptions{
		Format:  datasets.FormatBEIR,
		Queries: file(t, "queries.jsonl", `{"_id": "1 a", "text": "first", "metadata": {}}`+"\n"+`{"_id": "2", "text": "second"}`),
		Qrels:   file(t, "test.tsv", "query-id\tcorpus-id\tscore\n1 a\td 1\t1\n"),
	}
	d, report, err := datasets.Import(context.Background(), o, oneChunk("d 1"))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Cases) != 1 || d.Cases[0].ID != "1 a" || d.Cases[0].Judgments[0].ChunkID != "d 1" || d.Cases[0].Category != "all" {
		t.Errorf("cases %+v", d.Cases)
	}
	if report.RelevantGrade != 1 || len(report.WithoutQrels) != 1 {
		t.Errorf("report %+v", report)
	}
}

func importJSONL(t *testing.T, text string) (datasets.Draft, datasets.ImportReport, error) {
	t.Helper()
	o := datasets.ImportOptions{Format: datasets.FormatJSONL, Queries: file(t, "cases.jsonl", text)}
	return datasets.Import(context.Background(), o, handbook())
}

func TestImportJSONL(t *testing.T) {
	d, report, err := importJSONL(t, `
{"query": "what expires", "relevant_chunk_ids": ["a.md#0", "b.md"]}
{"case_id": "mine", "query": "who rotates", "relevant_chunk_ids": [{"chunk_id": "a.md#1", "grade": 2}], "query_type": "keyword", "tags": ["critical"], "scope": {"team": ["ops"]}, "evidence": [{"doc_id": "a.md", "chunk_id": "a.md#1", "start": 26, "end": 38, "quote": "Keys expire."}]}
{"query": "what is the weather", "expected_abstention": true}
{"query": "secret", "forbidden": ["a.md#1"]}
{"query": "no labels"}
`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(1, len(report.WithoutQrels)); diff != "" || report.Queries != 5 {
		t.Errorf("report %+v", report)
	}
	type brief struct {
		Query  string
		Grades map[string]int
		Type   string
		Origin string
	}
	got := []brief{}
	for _, c := range d.Cases {
		b := brief{c.Query, map[string]int{}, c.QueryType, c.Origin}
		for _, j := range c.Judgments {
			b.Grades[j.ChunkID] = *j.Grade
		}
		got = append(got, b)
	}
	want := []brief{
		{"what expires", map[string]int{"a.md#0": 3, "b.md#0": 3}, "", "imported"},
		{"who rotates", map[string]int{"a.md#1": 2}, "keyword", "imported"},
		{"what is the weather", map[string]int{}, "", "imported"},
		{"secret", map[string]int{}, "", "imported"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Cases[1].ID != "mine" || d.Cases[1].Tags[0] != "critical" || d.Cases[1].Scope["team"][0] != "ops" {
		t.Errorf("columns were lost: %+v", d.Cases[1])
	}
	ref := write(t, newStore(t), "set", d)
	if problems := verify(t, ref.Path, handbook()); len(problems) > 0 {
		t.Errorf("the imported set has problems: %v", problems)
	}
}

// The labels of a hand-written case with a source are read under every mode.
func TestImportJSONLWithProbabilities(t *testing.T) {
	d, _, err := importJSONL(t, `{"query": "q", "source": ["a.md#0"], "judgments": [{"chunk_id": "a.md#1", "by": "label_model", "p": 0.25, "p_draws": [0.2, 0.3]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if d.Manifest.Trust.Level != datasets.TrustSourceOnly {
		t.Errorf("trust %v, though no person judged", d.Manifest.Trust)
	}
	quarter := 0.25
	want := datasets.Label{P: &quarter, PDraws: []float64{0.2, 0.3}, Known: true}
	if diff := cmp.Diff(want, datasets.EffectiveLabel(&d.Cases[0], "a.md#1", datasets.SourceIn)); diff != "" {
		t.Error(diff)
	}
}

// An exported set comes back as what it was: with no more trust than queries made
// without a model have, and with grades read alike, whoever gave them.
func TestImportJSONLOfAnExport(t *testing.T) {
	const row = `{"query": "q", "provenance": {"generator": %q}, "judgments": [` +
		`{"chunk_id": "a.md#0", "by": "synthetic", "grade": 3}, {"chunk_id": "a.md#1", "by": "human", "grade": 0}]}`
	for generator, want := range map[string]datasets.Trust{
		"builtin":            {Level: datasets.TrustNone, Why: "imported from cases.jsonl: the queries of 1 of 1 cases were made without a model"},
		"ollama/m@sha256:ab": {Level: datasets.TrustReviewed, Why: "people's judgments, imported from cases.jsonl"},
	} {
		d, report, err := importJSONL(t, fmt.Sprintf(row, generator))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, d.Manifest.Trust); diff != "" || report.RelevantGrade != 2 {
			t.Errorf("%s: relevant from %d; trust (-want +got):\n%s", generator, report.RelevantGrade, diff)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	trec := func(queries, qrels string) func(*testing.T) error {
		return func(t *testing.T) error { _, _, err := importTREC(t, queries, qrels, handbook()); return err }
	}
	jsonl := func(text string) func(*testing.T) error {
		return func(t *testing.T) error { _, _, err := importJSONL(t, text); return err }
	}
	tests := []struct {
		name string
		do   func(*testing.T) error
		err  string
	}{
		{"document with several chunks", trec("1\tq\n", "1 0 a.md 1\n"), `"a.md" has 3; make the snapshot with chunking: {method: document}`},
		{"two grades", trec("1\tq\n", "1 0 b.md 1\n1 0 a.md#0 1\n1 0 b.md 2\n"), `line 3: topic "1", id "b.md" has grade 2, but 1 on line 1`},
		{"two ids of a chunk", trec("1\tq\n", "1 0 b.md 1\n1 0 b.md#0 0\n"), `"b.md#0" is chunk "b.md#0", which has another grade`},
		{"grade of 7", trec("1\tq\n", "1 0 b.md 7\n"), "qrels.txt:1: grade 7"},
		{"grade is no number", trec("1\tq\n", "1 0 b.md yes\n"), `qrels.txt:1: grade "yes" is not a whole number`},
		{"three columns", trec("1\tq\n", "1 0 b.md 1\n1 b.md 1\n"), "qrels.txt:2: 3 columns"},
		{"five columns", trec("1\tq\n", "1 0 b.md 1 x\n"), "qrels.txt:1: 5 columns"},
		{"nothing known", trec("1\tq\n", "1 0 x 1\n"), "no query is left"},
		{"empty qrels", trec("1\tq\n", "# nothing\n"), "no judgments"},
		{"empty queries", trec("\n", "1 0 b.md 1\n"), "no queries"},
		{"no tab", trec("1\tq\n2 r\n", "1 0 b.md 1\n"), "queries.tsv:2: want an id, a tab"},
		{"query twice", trec("1\tq\n1\tr\n", "1 0 b.md 1\n"), `queries.tsv:2: duplicate query id "1", first on line 1`},
		{"query empty", trec("1\t \n", "1 0 b.md 1\n"), `queries.tsv:1: query "1" is empty`},
		{"not UTF-8", trec("1\tq\n2\t\xff\n", "1 0 b.md 1\n"), "queries.tsv:2: not UTF-8"},
		{"one id for a list", jsonl(`{"query": "q", "relevant_chunk_ids": "b.md"}`), `cases.jsonl:1: relevant_chunk_ids: want a list, not string`},
		{"a list for a query", jsonl(`{"query": ["q"]}`), `cases.jsonl:1: query: want a string, not array`},
		{"no object", jsonl(`["q"]`), `cases.jsonl:1: line: want an object, not array`},
		{"misspelt key", jsonl(`{"query": "q", "relevant_ids": ["b.md"]}`), `cases.jsonl:1: json: unknown field "relevant_ids"`},
		{"cut line", jsonl("{\"query\": \"q\", \"forbidden\": [\"b.md\"]}\n{\"query\": "), "cases.jsonl:2: unexpected EOF"},
		{"two values", jsonl(`{"query": "q"} {}`), "more than one value"},
		{"no query", jsonl(`{"relevant_chunk_ids": ["b.md"]}`), "query: is empty"},
		{"case twice", jsonl("{\"query\": \"q\", \"forbidden\": [\"b.md\"]}\n{\"query\": \"q\"}"), "cases.jsonl:2: duplicate case"},
		{"relevant twice", jsonl(`{"query": "q", "relevant_chunk_ids": ["b.md", "b.md"]}`), "judged twice"},
		{"abstains and has an answer", jsonl(`{"query": "q", "expected_abstention": true, "relevant_chunk_ids": ["b.md"]}`), "is relevant"},
		{"grade of 4", jsonl(`{"query": "q", "relevant_chunk_ids": [{"chunk_id": "b.md", "grade": 4}]}`), "grade 4"},
		{"quote not there", jsonl(`{"query": "q", "relevant_chunk_ids": ["b.md"], "evidence": [{"doc_id": "b.md", "chunk_id": "b.md", "start": 0, "end": 4, "quote": "Some"}]}`), `document "b.md" has "Noth" at [0,4)`},
		{"bad status", jsonl(`{"query": "q", "status": "done"}`), `status: "done" is none of`},
		{"empty file", jsonl("\n"), "no cases"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.do(t)
			if err == nil {
				t.Fatal("was accepted")
			}
			checkError(t, err, tt.err)
		})
	}
	if err := trec("1\tq\n", "1 0 a.md 1\n")(t); !errors.Is(err, datasets.ErrSeveralChunks) {
		t.Errorf("error %v is not ErrSeveralChunks", err)
	}
}

func TestImportOptions(t *testing.T) {
	bad := map[string]datasets.ImportOptions{
		"want trec, beir, ": {Format: "xlsx", Queries: "q"},
		"queries: no file":  {Format: "trec", Qrels: "r"},
		"qrels: no file":    {Format: "beir", Queries: "q"},
		"jsonl cases hold":  {Format: "jsonl", Queries: "q", Qrels: "r"},
		"only for trec":     {Format: "beir", Queries: "q", Qrels: "r", ByPosition: true},
		"relevant grade 4":  {Format: "trec", Queries: "q", Qrels: "r", RelevantGrade: 4},
	}
	for want, o := range bad {
		err := o.Validate()
		if err == nil {
			t.Errorf("%+v was accepted", o)
		}
		checkError(t, err, want)
	}
}

func TestCranfield(t *testing.T) {
	ids := []string{}
	for i := range 1400 {
		ids = append(ids, fmt.Sprint(i+1))
	}
	o := datasets.ImportOptions{
		Format: datasets.FormatTREC, ByPosition: true,
		Queries: shared(t, "cranfield/cran.qry.xml"), Qrels: shared(t, "cranfield/cranqrel.trec.txt"),
	}
	d, report, err := datasets.Import(context.Background(), o, oneChunk(ids...))
	if err != nil {
		t.Fatal(err)
	}
	// binary in effect: one row of 1,837 has grade 3
	if report.RelevantGrade != 1 || report.Cases != 225 || report.Judgments != 1837 || len(report.UnknownIDs) > 0 {
		t.Errorf("report %+v", report)
	}
	first, third := d.Cases[0], d.Cases[2]
	if want := "what similarity laws must be obeyed when constructing aeroelastic models of heated high speed aircraft ."; first.Query != want {
		t.Errorf("first query %q", first.Query)
	}
	if third.ID != "3" || !strings.HasPrefix(third.Query, "what problems of heat conduction") {
		t.Errorf("third query %s %q, want that with <num> 4 under the id 3", third.ID, third.Query)
	}
}

func TestCACM(t *testing.T) {
	topics, err := datasets.ReadTopics(shared(t, "cacm/topics.cacm.txt"), false)
	if err != nil {
		t.Fatal(err)
	}
	want := datasets.Topic{ID: "2", Text: "I am interested in articles written either by Prieve or Udo Pooch Prieve, B. Pooch, U.", Line: 10}
	if diff := cmp.Diff(want, topics[1]); diff != "" || len(topics) != 64 {
		t.Errorf("%d topics: %s", len(topics), diff)
	}
	o := datasets.ImportOptions{Format: datasets.FormatTREC, Queries: shared(t, "cacm/topics.cacm.txt"), Qrels: shared(t, "cacm/qrels.cacm.txt")}
	_, report, err := datasets.Import(context.Background(), o, oneChunk(cacmIDs(t)...))
	if err != nil {
		t.Fatal(err)
	}
	if report.Cases != 52 || report.Judgments != 796 || report.RelevantGrade != 1 || len(report.UnknownIDs) > 0 || len(report.WithoutQrels) != 12 {
		t.Errorf("report %+v", report)
	}
}

func cacmIDs(t *testing.T) []string {
	t.Helper()
	f, err := os.Open(shared(t, "cacm/cacm.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return ids
		}
		if err != nil {
			t.Fatal(err)
		}
		var n int // files are padded with zeros, ids in the qrels are not
		if _, err := fmt.Sscanf(filepath.Base(h.Name), "CACM-%d.html", &n); err == nil {
			ids = append(ids, fmt.Sprintf("CACM-%d", n))
		}
	}
}
