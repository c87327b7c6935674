package datasets_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/parquetfile"
)

// toolSet is a set over handbook: two relevant chunks, one that is not, an answer, an
// abstention, and what template languages and spreadsheets trip over.
func toolSet() *datasets.Set {
	answer, grade := "after a day", func(n int) *int { return &n }
	human := func(id string, n int) datasets.Judgment {
		return datasets.Judgment{ChunkID: id, DocID: "a.md", Grade: grade(n), By: datasets.ByHuman, Inclusion: 1}
	}
	return &datasets.Set{
		Manifest: datasets.Manifest{Name: "set", Version: 2, Digest: "sha256:0", RelevantGrade: 2, Trust: datasets.Trust{Level: datasets.TrustReviewed}},
		Cases: []datasets.Case{
			{
				ID: "q1", Query: "when do {{keys}}\n\"expire\"?", QueryType: datasets.Factual, Language: "en", Tags: []string{"critical"},
				ReferenceAnswer: &answer, Status: datasets.Active, Origin: datasets.OriginHuman,
				Judgments: []datasets.Judgment{human("a.md#0", 2), human("a.md#1", 3), human("b.md#0", 0)},
				Evidence:  []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#0", Start: 0, End: 12, Quote: "Keys expire."}},
			},
			{ID: "q2", Query: "=1+1", Language: "en", ExpectedAbstention: true, Status: datasets.Active, Origin: datasets.OriginHuman},
			{ID: "q3", Query: "not relevant", Status: datasets.Active, Origin: datasets.OriginHuman, Judgments: []datasets.Judgment{human("a.md#1", 1)}},
		},
	}
}

const (
	firstChunk  = "Keys expire. Rotate them. "
	secondChunk = "Keys expire. Café keys to"
)

func TestExportForToolsThatTestAnswers(t *testing.T) {
	metadata := `{"case_id":"q1","query_type":"factual","language":"en","tags":["critical"],"relevant_chunk_ids":["a.md#1","a.md#0"],"reference_answer":"after a day"}`
	query := `"when do {{keys}}\n\"expire\"?"`
	contexts := `["` + secondChunk + `","` + firstChunk + `"]`
	for format, want := range map[string]string{
		datasets.FormatRagas: `{"case_id":"q1","user_input":` + query + `,"reference":"after a day","reference_contexts":` + contexts + `,"reference_context_ids":["a.md#1","a.md#0"]}` + "\n",
		datasets.FormatDeepEval: "[\n" + `{"name":"q1","input":` + query + `,"expected_output":"after a day","context":` + contexts +
			`,"source_file":"a.md","additional_metadata":` + metadata + "}\n]\n",
		datasets.FormatLangSmith: "query,reference_answer,relevant_chunk_ids,expected_abstention,case_id,query_type,category,style,language,tags\n" +
			"\"when do {{keys}}\n\"\"expire\"\"?\",after a day,\"[\"\"a.md#1\"\",\"\"a.md#0\"\"]\",false,q1,factual,,,en,\"[\"\"critical\"\"]\"\n" +
			"=1+1,,,true,q2,,,,en,\n",
	} {
		files, report, err := export(toolSet(), handbook(), datasets.ExportOptions{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"": want}, files); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
		if lost := report.Lost[0]; lost.Part != "grades" || lost.Cases != 1 {
			t.Errorf("%s: lost %+v", format, report.Lost)
		}
	}
}

func TestExportPromptfoo(t *testing.T) {
	files, report, err := export(toolSet(), nil, datasets.ExportOptions{Format: datasets.FormatPromptfoo})
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Description string            `json:"description"`
		Vars        map[string]string `json:"vars"`
		Metadata    struct {
			Relevant []string `json:"relevant_chunk_ids"`
		} `json:"metadata"`
		Assert []struct{ Type, Metric, Value string } `json:"assert"`
	}
	if err := json.Unmarshal([]byte(files[""]), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Description != "case q1" || !slices.Equal(got[0].Metadata.Relevant, []string{"a.md#1", "a.md#0"}) || got[1].Metadata.Relevant == nil {
		t.Errorf("tests %+v", got)
	}
	if want := "when do {{ \"{\" }}{keys}}\n\"expire\"?"; got[0].Vars["query"] != want || got[1].Vars["query"] != "=1+1" {
		t.Errorf("queries %q, %q", got[0].Vars, got[1].Vars)
	}
	if a := got[0].Assert[0]; a.Type != "javascript" || !strings.Contains(a.Value, "\n") || strings.ContainsAny(a.Value, "#") || strings.Contains(a.Value, "{{") {
		t.Errorf("assertion %+v: want several lines without marks of templates", a)
	}
	if report.WithoutPositive != 1 || report.Cases != 2 {
		t.Errorf("report %+v", report)
	}
}

// Whatever marks of templates a query holds, it comes back as it was.
func TestPromptfooQueriesAreNoTemplates(t *testing.T) {
	marks := rapid.SliceOf(rapid.SampledFrom([]string{"{", "{{", "}}", "{%", "%}", "{#", "#}", "raw", "query", " ", "\"", "\n", "é"}))
	rapid.Check(t, func(rt *rapid.T) {
		set := toolSet()
		set.Cases[0].Query = rapid.SampledFrom([]string{"q", "file://q", "package:q"}).Draw(rt, "begin") + strings.Join(marks.Draw(rt, "marks"), "")
		from := exported(t, set, nil, datasets.ExportOptions{Format: datasets.FormatPromptfoo}, "tests.json")
		d, _, err := datasets.Import(context.Background(), datasets.ImportOptions{Format: datasets.FormatPromptfoo, From: from}, handbook())
		if err != nil || d.Cases[0].Query != set.Cases[0].Query {
			rt.Errorf("%q, %v, want %q", d.Cases[0].Query, err, set.Cases[0].Query)
		}
	})
}

// exported puts an export into a new folder, or a file in it, and gives its path.
func exported(t *testing.T, set *datasets.Set, view datasets.ExportView, o datasets.ExportOptions, name string) string {
	t.Helper()
	files, _, err := export(set, view, o)
	if err != nil {
		t.Fatalf("%s: %v", o.Format, err)
	}
	dir := t.TempDir()
	for file, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(file), name)
		if file != "" {
			path = filepath.Join(dir, filepath.FromSlash(file))
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, name)
}

func TestExportHuggingFaceAndMTEB(t *testing.T) {
	dir := exported(t, toolSet(), handbook(), datasets.ExportOptions{Format: datasets.FormatMTEB}, "")
	task, err := os.ReadFile(filepath.Join(dir, datasets.ExportMTEBTask))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`name="set",`, `eval_langs=["eng-Latn"],`, `"revision": "sha256:0"}`} {
		if !bytes.Contains(task, []byte(want)) {
			t.Errorf("task.py lacks %s", want)
		}
	}
	type qrel struct {
		Query string `parquet:"query-id"`
		Chunk string `parquet:"corpus-id"`
		Score int64  `parquet:"score"`
	}
	got, err := parquetfile.ReadFile[qrel](filepath.Join(dir, datasets.ExportHubQrels))
	if err != nil {
		t.Fatal(err)
	}
	want := []qrel{{"q1", "a.md#0", 2}, {"q1", "a.md#1", 3}, {"q1", "b.md#0", 0}, {"q3", "a.md#1", 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	type text struct {
		ID   string `parquet:"_id"`
		Text string `parquet:"text"`
		Doc  string `parquet:"doc_id"`
	}
	chunks, err := parquetfile.ReadFile[text](filepath.Join(dir, datasets.ExportHubCorpus))
	if err != nil || len(chunks) != len(handbook().chunks) || chunks[0] != (text{"a.md#0", firstChunk, "a.md"}) {
		t.Errorf("corpus %+v, %v", chunks, err)
	}
}

// What Export writes, Import reads: the same queries and labels, and what else the
// format holds.
func TestRoundTripOfFormats(t *testing.T) {
	for name, test := range map[string]struct {
		o    datasets.ExportOptions
		file string
		same func(*datasets.Case) any
	}{
		"huggingface": {datasets.ExportOptions{Format: datasets.FormatHuggingFace}, "", everything},
		"csv":         {datasets.ExportOptions{Format: datasets.FormatCSV}, "cases.csv", everything},
		"jsonl":       {datasets.ExportOptions{Format: datasets.FormatJSONL}, "cases.jsonl", everything},
		"beir":        {datasets.ExportOptions{Format: datasets.FormatBEIR}, "", grades},
		"trec":        {datasets.ExportOptions{Format: datasets.FormatTREC}, "", grades},
	} {
		t.Run(name, func(t *testing.T) {
			set := toolSet()
			from := exported(t, set, handbook(), test.o, test.file)
			d, report, err := datasets.Import(context.Background(), datasets.ImportOptions{Format: test.o.Format, From: from, RelevantGrade: 2}, handbook())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			for i := range d.Cases {
				got[d.Cases[i].ID] = test.same(&d.Cases[i])
			}
			want := map[string]any{}
			for i := range set.Cases {
				if c := &set.Cases[i]; got[c.ID] != nil {
					want[c.ID] = test.same(c)
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || report.UnknownRows > 0 {
				t.Errorf("%s%+v", diff, report)
			}
			if name != "trec" && name != "beir" && len(got) != 2 && len(got) != 3 {
				t.Errorf("%d cases", len(got))
			}
		})
	}
}

func grades(c *datasets.Case) any {
	out := map[string]int{}
	for _, j := range c.Judgments {
		out[j.ChunkID] = *j.Grade
	}
	return struct {
		Query  string
		Grades map[string]int
	}{strings.Join(strings.Fields(c.Query), " "), out}
}

func everything(c *datasets.Case) any {
	return []any{grades(c), c.ReferenceAnswer, c.QueryType, c.Tags, c.ExpectedAbstention, c.Evidence}
}

// Queries and labels survive whatever text they hold.
func TestRoundTripOfHostileText(t *testing.T) {
	nasty := rapid.StringOfN(rapid.RuneFrom([]rune("aé\t\n\"',;|<{%#=\u202e日🦫")), 1, 8, -1)
	rapid.Check(t, func(rt *rapid.T) {
		grades := rapid.MapOfN(rapid.SampledFrom([]string{"a.md#0", "a.md#1", "b.md#0"}), rapid.IntRange(0, 3), 1, 3).Draw(rt, "grades")
		c := datasets.Case{ID: "q" + nasty.Draw(rt, "id"), Query: "q" + nasty.Draw(rt, "query"), Status: datasets.Active, Origin: datasets.OriginHuman}
		for _, id := range slices.Sorted(maps.Keys(grades)) {
			grade := grades[id]
			c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: id, Grade: &grade, By: datasets.ByHuman, Inclusion: 1})
		}
		set := &datasets.Set{Cases: []datasets.Case{c}, Manifest: datasets.Manifest{RelevantGrade: 2}}
		for format, name := range map[string]string{datasets.FormatCSV: "c.csv", datasets.FormatJSONL: "c.jsonl", datasets.FormatHuggingFace: ""} {
			from := exported(t, set, handbook(), datasets.ExportOptions{Format: format}, name)
			d, _, err := datasets.Import(context.Background(), datasets.ImportOptions{Format: format, From: from, RelevantGrade: 2}, handbook())
			if err != nil {
				rt.Fatalf("%s: %v", format, err)
			}
			got := map[string]int{}
			for _, j := range d.Cases[0].Judgments {
				got[j.ChunkID] = *j.Grade
			}
			if diff := cmp.Diff(grades, got); diff != "" {
				rt.Errorf("%s: %s", format, diff)
			}
			if d.Cases[0].ID != c.ID || d.Cases[0].Query != c.Query {
				rt.Errorf("%s: %q %q became %q %q", format, c.ID, c.Query, d.Cases[0].ID, d.Cases[0].Query)
			}
		}
	})
}

// A table has as many cells in each row as in its header, for every reader.
func TestTablesAreSquare(t *testing.T) {
	for _, format := range []string{datasets.FormatCSV, datasets.FormatLangSmith} {
		files, _, err := export(toolSet(), handbook(), datasets.ExportOptions{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := csv.NewReader(strings.NewReader(files[""])).ReadAll(); err != nil || len(rows) < 3 {
			t.Errorf("%s: %d rows, %v", format, len(rows), err)
		}
	}
}

func TestExportWithoutWhatTheFormatNeeds(t *testing.T) {
	set := toolSet()
	set.Cases = set.Cases[1:]
	for _, format := range []string{datasets.FormatRagas, datasets.FormatDeepEval} {
		if _, _, err := export(set, handbook(), datasets.ExportOptions{Format: format}); !errors.Is(err, datasets.ErrNothingToExport) {
			t.Errorf("%s: %v", format, err)
		}
	}
	if _, _, err := export(toolSet(), &snapshot{}, datasets.ExportOptions{Format: datasets.FormatRagas}); err == nil || !strings.Contains(err.Error(), "case q1: chunk a.md#1 is not in the snapshot") {
		t.Errorf("%v", err)
	}
}
