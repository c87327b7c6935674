package pipeline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
)

// TestKeptResultScoresTheSame holds that a folder keeps all that scoring needs:
// scored again it gives every number, slice, leak and row.
func TestKeptResultScoresTheSame(t *testing.T) {
	for name, change := range map[string]func(*datasets.Draft){
		"certain labels":   nil,
		"uncertain labels": uncertainLabels,
		"all of a case":    everyField,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, change)
			spec := b.run(t, "mine", func(i int) int { return i % 6 })
			first := b.score(t, spec, pipeline.EvalOptions{
				SliceBy: []string{"query_type", "tag", "scope"}, Measures: "recall@5,ndcg@3,mrr,judged@5,map,rbp", Source: "out",
			})
			kept := read(t, first.Path)
			again, err := eval.Evaluate(kept.Input)
			if err != nil {
				t.Fatal(err)
			}
			again.Notes = append(again.Notes, kept.Scoring.Notes...)
			again.BySource = kept.Result.BySource // of labels that the folder does not keep
			if diff := cmp.Diff(asJSON(t, first.Result), asJSON(t, again)); diff != "" {
				t.Errorf("scored again (-first +again):\n%s", diff)
			}
			if diff := cmp.Diff(rows(first.Result), rows(again)); diff != "" {
				t.Errorf("rows (-first +again):\n%s", diff)
			}
		})
	}
}

func uncertainLabels(d *datasets.Draft) {
	for i := range d.Cases {
		for j := range d.Cases[i].Judgments {
			p := float64(1+(i+j)%4) / 5
			judgment := &d.Cases[i].Judgments[j]
			judgment.Grade, judgment.P, judgment.By, judgment.Label = nil, &p, datasets.ByLabelModel, ""
			for t := range 20 { // every second version of the model thinks better of one chunk and worse of the next
				judgment.PDraws = append(judgment.PDraws, p+float64(t%2*2-1)*float64(j%2*2-1)/6)
			}
		}
	}
}

// everyField gives cases all that a golden set can know of one.
func everyField(d *datasets.Draft) {
	asOf := time.Date(2026, 3, 1, 8, 30, 0, 0, time.UTC)
	for i := range d.Cases {
		c := &d.Cases[i]
		c.Tags = []string{"critical", "tab\tand\x00nul"}[:i%3]
		c.Filters = []corpus.Filter{{Field: "lang", Op: "in", Values: []string{"en", "de"}}}[:i%2]
		c.ExpectedAbstention = i == 5
		switch i {
		case 0:
			c.Scope, c.AsOf, c.ExpectedSource = corpus.Scope{"team": {"legal", "sales"}, "user": {"u1"}}, &asOf, "memory_record"
		case 1:
			c.Forbidden = []string{document(2)}
		case 2:
			c.Source = []string{document(2)}
			three := 3
			c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: document(2), DocID: document(2), Grade: &three, Label: datasets.LabelRelevant, By: datasets.BySynthetic, Inclusion: 1})
			c.Evidence = []datasets.Evidence{{DocID: document(2), ChunkID: document(2), Start: 0, End: 6, Quote: "Record"}}
		case 3:
			c.Judgments[1].Label = datasets.LabelStale
		case 4:
			c.Judgments[0].Grade = nil
		}
	}
}

// TestScopeLeaksAreKept holds that what leaked is known without the corpus.
func TestScopeLeaksAreKept(t *testing.T) {
	b := newBench(t, nil)
	write(t, filepath.Join(b.Dir, "leaky.txt"), "q00 Q0 d00 1 2.0 leaky\nq00 Q0 d37 2 1.0 leaky\n")
	e := b.score(t, "run:"+filepath.Join(b.Dir, "leaky.txt"), pipeline.EvalOptions{})
	want := []eval.Leak{{Case: "q00", Query: "procedure number 0", Chunk: "d37", Rank: 2, Kind: "scope"}}
	again, err := eval.Evaluate(read(t, e.Path).Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range [][]eval.Leak{e.Result.Leaks, again.Leaks} {
		if diff := cmp.Diff(want, got, cmp.Transformer("scope", func(s corpus.Scope) int { return len(s) })); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDamagedResults holds that a folder that was cut short or changed is
// never read as if it were whole.
func TestDamagedResults(t *testing.T) {
	for name, tt := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"cases cut short":  {func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, "cases.parquet")) }, "cut short or changed"},
		"cases missing":    {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "cases.parquet")) }, "cases.parquet is missing"},
		"result cut short": {func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, "result.json")) }, "unexpected end of JSON"},
		"result missing":   {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "result.json")) }, "result.json is missing"},
		"result empty":     {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "result.json"), "{}") }, "format 0, this version reads 1 to 2"},
		"newer format":     {func(t *testing.T, dir string) { edit(t, dir, "format", 9) }, "format 9, this version reads 1 to 2"},
		"rows missing":     {func(t *testing.T, dir string) { edit(t, dir, "cases", 25) }, "24 cases where result.json says 25"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			e := b.score(t, b.run(t, "mine", func(int) int { return 1 }), pipeline.EvalOptions{})
			tt.damage(t, e.Path)
			stored, err := pipeline.ReadResult(e.Path)
			if err == nil {
				_, err = stored.Read()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestResultsChangedByAByte holds that whatever byte of a result.json changes
// (every 13th is tried), the folder is refused or reads as it was written.
func TestResultsChangedByAByte(t *testing.T) {
	b := newBench(t, nil)
	e := b.score(t, b.run(t, "mine", func(int) int { return 1 }), pipeline.EvalOptions{})
	path := filepath.Join(e.Path, "result.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := pipeline.ReadResult(e.Path)
	if err != nil {
		t.Fatal(err)
	}
	const stride = 13
	refused := 0
	for i := 0; i < len(data); i += stride {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		write(t, path, string(changed))
		got, err := pipeline.ReadResult(e.Path)
		if err != nil {
			refused++
			continue
		}
		if diff := cmp.Diff(encoded(t, whole), encoded(t, got)); diff != "" {
			t.Fatalf("byte %d, %q: %s", i, data[max(0, i-20):i+20], diff)
		}
	}
	if refused < len(data)/stride/2 {
		t.Errorf("%d of %d changes were refused", refused, len(data)/stride)
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestFormatOneIsReadable holds that numbers of old results can be read, and
// that they say what they lack.
func TestFormatOneIsReadable(t *testing.T) {
	stored, err := pipeline.ReadResult(filepath.Join("testdata", "result-format-1"))
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := stored.Result.Metrics.Get("recall@5"); !ok || m.N != 3 || *m.Mean != 1 {
		t.Errorf("recall@5 is %+v", m)
	}
	_, err = stored.Read()
	var hint *pipeline.HintedError
	if !errors.As(err, &hint) || !strings.Contains(err.Error(), "format 1 keeps no labels") {
		t.Errorf("error %v, want one that says what format 1 lacks, with a hint", err)
	}
}

func read(t *testing.T, dir string) *pipeline.Kept {
	t.Helper()
	stored, err := pipeline.ReadResult(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := stored.Read()
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// asJSON is a result as --json prints it.
func asJSON(t *testing.T, r *eval.Result) map[string]any {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func rows(r *eval.Result) (out []eval.CaseRow) {
	for row := range r.Rows() {
		out = append(out, row)
	}
	return out
}

func truncate(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()/2)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// edit sets one key of a folder's result.json.
func edit(t *testing.T, dir, key string, value any) {
	t.Helper()
	path := filepath.Join(dir, "result.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	doc[key] = value
	delete(doc, "digest") // as if it had been written so
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	write(t, path, string(data))
}
