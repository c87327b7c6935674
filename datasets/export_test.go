package datasets_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

func (s *snapshot) Chunks() iter.Seq2[corpus.Chunk, error] {
	return func(yield func(corpus.Chunk, error) bool) {
		for _, c := range s.chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (s *snapshot) Documents() iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, d := range s.docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (s *snapshot) ChunksOfDocuments(ids []string) (map[string][]corpus.Chunk, error) {
	out := map[string][]corpus.Chunk{}
	for _, c := range s.chunks {
		if slices.Contains(ids, c.DocID) {
			out[c.DocID] = append(out[c.DocID], c)
		}
	}
	return out, nil
}

// export gives an export's files.
func export(set *datasets.Set, view datasets.ExportView, o datasets.ExportOptions) (map[string]string, datasets.ExportReport, error) {
	files := map[string]string{}
	report, err := datasets.Export(set, view, o, func(name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		files[name] = b.String()
		return nil
	})
	return files, report, err
}

// exportSet has a case of each kind that an export tells apart.
func exportSet() *datasets.Set {
	judged := func(id, by string, grade int, p float64) datasets.Judgment {
		j := datasets.Judgment{ChunkID: id, DocID: id, By: by, Inclusion: 1}
		if p >= 0 {
			j.P = &p
		} else {
			j.Grade = &grade
		}
		return j
	}
	source := datasets.SourceJudgment
	cases := []datasets.Case{
		{ID: "q1", Query: "first\tquery <b>", Source: []string{"a"}, HardNegatives: []string{"b", "c", "d"}, Scope: corpus.Scope{"team": {"x"}}, Judgments: []datasets.Judgment{
			source("a", "a"), judged("b", datasets.ByLLM, 1, -1), judged("b", datasets.ByLabelModel, 0, .3),
			judged("c", datasets.ByLabelModel, 0, .04), judged("d", datasets.ByLLM, 3, -1), judged("d", datasets.ByHuman, 0, -1),
			judged("e", datasets.ByHuman, 2, -1), judged("f", datasets.ByLabelModel, 0, .8),
		}},
		{ID: "q2", Query: "without negatives", Judgments: []datasets.Judgment{judged("a", datasets.ByHuman, 3, -1)}},
		{ID: "q3", Query: "without a positive", HardNegatives: []string{"b"}, Judgments: []datasets.Judgment{judged("b", datasets.ByHuman, 0, -1)}},
		{ID: "q4", Query: "retired", Status: datasets.Retired, HardNegatives: []string{"b"}, Judgments: []datasets.Judgment{source("a", "a")}},
		{ID: "q5", Query: "in review", Status: datasets.NeedsReview, HardNegatives: []string{"b"}, Judgments: []datasets.Judgment{source("a", "a")}},
	}
	for i := range cases {
		if cases[i].Status == "" {
			cases[i].Status = datasets.Active
		}
	}
	return &datasets.Set{Cases: cases, Manifest: datasets.Manifest{Name: "set", Version: 2, RelevantGrade: 2}}
}

func texts() *snapshot {
	s := oneChunk("a", "b", "c", "d", "e", "f")
	for i := range s.chunks {
		s.chunks[i].Text = "text of " + s.chunks[i].ID
	}
	return s
}

// named is a set of one case, with a label of one chunk.
func named(id, chunk string) *datasets.Set {
	two := 2
	return &datasets.Set{Manifest: datasets.Manifest{RelevantGrade: 2}, Cases: []datasets.Case{{
		ID: id, Query: "query", Status: datasets.Active, Origin: datasets.OriginHuman,
		Judgments: []datasets.Judgment{{ChunkID: chunk, Grade: &two, By: datasets.ByHuman, Inclusion: 1}},
	}}}
}

func blankQuery() *datasets.Set {
	set := named("q", "a")
	set.Cases[0].Query = " \n"
	return set
}

func TestExportHardNegatives(t *testing.T) {
	files, report, err := export(exportSet(), texts(), datasets.ExportOptions{Format: datasets.FormatHardNegatives})
	if err != nil {
		t.Fatal(err)
	}
	var got []datasets.NegativeRow
	for line := range strings.Lines(files[""]) {
		var row datasets.NegativeRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	one, zero, p := 1, 0, .04
	row := func(positive string) datasets.NegativeRow {
		return datasets.NegativeRow{
			CaseID: "q1", Query: "first\tquery <b>", Positive: "text of " + positive, PositiveID: positive,
			Negatives: []string{"text of b", "text of c", "text of d"},
			Labels: []datasets.Negative{
				{ChunkID: "b", By: datasets.ByLLM, Grade: &one}, {ChunkID: "c", By: datasets.ByLabelModel, P: &p}, {ChunkID: "d", By: datasets.ByHuman, Grade: &zero},
			},
		}
	}
	if diff := cmp.Diff([]datasets.NegativeRow{row("a"), row("e")}, got); diff != "" {
		t.Error(diff)
	}
	want := datasets.ExportReport{Format: datasets.FormatHardNegatives, Cases: 1, Rows: 2, WithoutPositive: 1, WithoutNegatives: 1, Probabilities: 3, Lost: []datasets.Lost{{Part: "scope", Cases: 1}, {Part: "provenance", Cases: 1}}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(files[""], "<b>") {
		t.Error("< is escaped")
	}
}

func TestExportTREC(t *testing.T) {
	files, report, err := export(exportSet(), nil, datasets.ExportOptions{Format: datasets.FormatTREC, LeastP: .5})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		datasets.ExportQueries: "q1\tfirst query <b>\nq2\twithout negatives\nq3\twithout a positive\n",
		datasets.ExportQrels:   "q1 0 a 3\nq1 0 b 0\nq1 0 c 0\nq1 0 d 0\nq1 0 e 2\nq1 0 f 2\nq2 0 a 3\nq3 0 b 0\n",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	if report.Probabilities != 0 || report.Rows != 8 || report.Cases != 3 {
		t.Errorf("report %+v", report)
	}
}

func TestExportBEIR(t *testing.T) {
	files, _, err := export(exportSet(), texts(), datasets.ExportOptions{Format: datasets.FormatBEIR, NeedsReview: true, Source: datasets.SourceOut})
	if err != nil {
		t.Fatal(err)
	}
	want := "query-id\tcorpus-id\tscore\nq1\td\t0\nq1\te\t2\nq2\ta\t3\nq3\tb\t0\n"
	if diff := cmp.Diff(want, files[datasets.ExportBEIRQrels]); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(files[datasets.ExportBEIRCorpus], `{"_id":"a","text":"text of a"}`+"\n") || strings.Count(files[datasets.ExportBEIRCorpus], "\n") != 6 {
		t.Errorf("corpus %s", files[datasets.ExportBEIRCorpus])
	}
	if !strings.HasPrefix(files[datasets.ExportBEIRQueries], `{"_id":"q1","text":"first\tquery <b>"}`) {
		t.Errorf("queries %s", files[datasets.ExportBEIRQueries])
	}
}

func TestExportRanx(t *testing.T) {
	files, report, err := export(exportSet(), nil, datasets.ExportOptions{Format: datasets.FormatRanx})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"q1":{"a":3,"d":0,"e":2},"q2":{"a":3},"q3":{"b":0}}` + "\n"
	if diff := cmp.Diff(map[string]string{"": want}, files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(datasets.Lost{Part: "query", Cases: 3}, report.Lost[0]); diff != "" || report.Probabilities != 3 {
		t.Errorf("%s%+v", diff, report)
	}
}

func TestExportCSV(t *testing.T) {
	answer := "after a day"
	set := exportSet()
	set.Cases[0].ReferenceAnswer, set.Cases[1].ExpectedAbstention = &answer, true
	set.Cases[1].Judgments = nil
	files, report, err := export(set, nil, datasets.ExportOptions{Format: datasets.FormatCSV})
	if err != nil {
		t.Fatal(err)
	}
	want := "case_id,query,relevant_chunk_ids,query_type,category,style,language,unit,tags,origin,scope,filters,expected_source,as_of,expected_abstention,reference_answer,evidence,forbidden,hard_negatives\n" +
		"q1,first\tquery <b>,\"[{\"\"chunk_id\"\":\"\"a\"\",\"\"grade\"\":3},{\"\"chunk_id\"\":\"\"d\"\",\"\"grade\"\":0},{\"\"chunk_id\"\":\"\"e\"\",\"\"grade\"\":2}]\"," +
		",,,,,,,\"{\"\"team\"\":[\"\"x\"\"]}\",,,,false,after a day,,,\"[\"\"b\"\",\"\"c\"\",\"\"d\"\"]\"\n" +
		"q2,without negatives,,,,,,,,,,,,,true,,,,\n" +
		"q3,without a positive,\"[{\"\"chunk_id\"\":\"\"b\"\",\"\"grade\"\":0}]\",,,,,,,,,,,,false,,,,\"[\"\"b\"\"]\"\n"
	if diff := cmp.Diff(want, files[""]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]datasets.Lost{{Part: "judges", Cases: 2}, {Part: "provenance", Cases: 1}}, report.Lost); diff != "" {
		t.Error(diff)
	}
}

func TestExportRefusesWhatAFormatCannotHold(t *testing.T) {
	spaced := exportSet()
	spaced.Cases[1].Judgments[0].ChunkID = "my notes.md#0"
	for name, test := range map[string]struct {
		set  *datasets.Set
		view datasets.ExportView
		o    datasets.ExportOptions
		want string
	}{
		"format":   {exportSet(), nil, datasets.ExportOptions{Format: "xlsx"}, `format "xlsx": want hard-negatives, beir, trec, `},
		"p":        {exportSet(), nil, datasets.ExportOptions{Format: "trec", LeastP: 2}, "least p 2"},
		"source":   {exportSet(), nil, datasets.ExportOptions{Format: "trec", Source: "on"}, `source mode "on"`},
		"comment":  {named("#1", "a"), nil, datasets.ExportOptions{Format: "trec"}, `id "#1" begins with what`},
		"mark":     {named("q", "<top>"), nil, datasets.ExportOptions{Format: "trec"}, `id "<top>" begins with what`},
		"quoted":   {named(`"q`, "a"), texts(), datasets.ExportOptions{Format: "beir"}, `id "\"q" begins with what`},
		"no query": {blankQuery(), nil, datasets.ExportOptions{Format: "trec"}, "case q: the query is white space alone"},
		"spaces":   {spaced, nil, datasets.ExportOptions{Format: "trec"}, `set@v2: id "my notes.md#0" holds white space`},
		"no text":  {exportSet(), oneChunk("a", "b", "c", "e"), datasets.ExportOptions{Format: "hard-negatives"}, "case q1: chunk d is not in the snapshot"},
		"no cases": {&datasets.Set{}, nil, datasets.ExportOptions{Format: "jsonl"}, "nothing to export"},
		"no rows":  {&datasets.Set{}, texts(), datasets.ExportOptions{Format: "hard-negatives"}, "nothing to export: no case has both"},
		"unjudged": {&datasets.Set{}, nil, datasets.ExportOptions{Format: "trec"}, "nothing to export: no case has a known label"},
	} {
		t.Run(name, func(t *testing.T) {
			files, _, err := export(test.set, test.view, test.o)
			if err == nil || !strings.Contains(err.Error(), test.want) || len(files) > 0 {
				t.Errorf("%v, files %v", err, slices.Collect(maps.Keys(files)))
			}
			if strings.HasPrefix(test.want, "nothing") && !errors.Is(err, datasets.ErrNothingToExport) {
				t.Errorf("%v is not ErrNothingToExport", err)
			}
		})
	}
	if _, _, err := export(spaced, texts(), datasets.ExportOptions{Format: datasets.FormatBEIR}); err != nil {
		t.Errorf("beir splits at tabs only: %v", err)
	}
}

// What jsonl writes, Import reads: the same cases, whatever they hold.
func TestExportedCasesAreReadBack(t *testing.T) {
	want := exportSet().Cases[:3]
	files, _, err := export(&datasets.Set{Cases: want}, nil, datasets.ExportOptions{Format: datasets.FormatJSONL})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := datasets.Import(context.Background(), datasets.ImportOptions{Format: datasets.FormatJSONL, Queries: file(t, "cases.jsonl", files[""])}, texts())
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for _, mode := range []datasets.SourceMode{datasets.SourceIn, datasets.SourceJudged, datasets.SourceOut} {
			if diff := cmp.Diff(want[i].Labels(mode), got.Cases[i].Labels(mode), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, source %s: %s", want[i].ID, mode, diff)
			}
		}
		if diff := cmp.Diff(want[i].HardNegatives, append([]string(nil), got.Cases[i].HardNegatives...)); diff != "" {
			t.Errorf("%s: %s", want[i].ID, diff)
		}
	}
}

// Qrels that trec or beir write hold the labels that they were made of.
func TestExportedQrelsAreReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		grades := rapid.MapOfN(rapid.StringMatching(`[a-f]`), rapid.IntRange(0, 3), 1, 6).Draw(rt, "grades")
		c := datasets.Case{ID: "q", Query: rapid.StringMatching(`[a-z]+[ \t\n<>"]?[a-z]*`).Draw(rt, "query"), Status: datasets.Active}
		for _, id := range slices.Sorted(maps.Keys(grades)) {
			grade := grades[id]
			c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: id, DocID: id, Grade: &grade, By: datasets.ByHuman, Inclusion: 1})
		}
		for format, names := range map[string][2]string{
			datasets.FormatTREC: {datasets.ExportQueries, datasets.ExportQrels}, datasets.FormatBEIR: {datasets.ExportBEIRQueries, datasets.ExportBEIRQrels},
		} {
			files, _, err := export(&datasets.Set{Cases: []datasets.Case{c}}, texts(), datasets.ExportOptions{Format: format})
			if err != nil {
				rt.Fatal(err)
			}
			got, _, err := datasets.Import(context.Background(), datasets.ImportOptions{
				Format: format, Queries: file(t, "queries", files[names[0]]), Qrels: file(t, "qrels", files[names[1]]),
			}, texts())
			if err != nil {
				rt.Fatal(err)
			}
			back := map[string]int{}
			for _, j := range got.Cases[0].Judgments {
				back[j.ChunkID] = *j.Grade
			}
			if diff := cmp.Diff(grades, back); diff != "" {
				rt.Errorf("%s: %s", format, diff)
			}
			if strings.Join(strings.Fields(got.Cases[0].Query), " ") != strings.Join(strings.Fields(c.Query), " ") {
				rt.Errorf("%s: query %q became %q", format, c.Query, got.Cases[0].Query)
			}
		}
	})
}
