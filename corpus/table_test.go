package corpus_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/corpus"
)

func file(t testing.TB, name string, lines ...string) string {
	t.Helper()
	return filepath.Join(writeFiles(t, map[string]string{name: strings.Join(lines, "\n") + "\n"}), name)
}

// summary is what of a chunk depends on its place.
type summary struct {
	ID, DocID, Text string
	Ordinal         int
	Start, End      int
}

func summaries(chunks []corpus.Chunk) (out []summary) {
	for _, c := range chunks {
		out = append(out, summary{c.ID, c.DocID, c.Text, c.Ordinal, c.Start, c.End})
	}
	return out
}

func TestChunkTable(t *testing.T) {
	for name, c := range map[string]struct {
		lines  []string
		source []string
		docs   map[string]string
		chunks []summary
	}{
		"joined by lines, rows of documents mixed": {
			lines: []string{
				`{"chunk_id":"c2","doc_id":"d1","text":"One"}`,
				`{"chunk_id":"x","doc_id":"d2","text":"Other"}`,
				`{"chunk_id":"c1","doc_id":"d1","text":"zwei ü"}`,
			},
			docs: map[string]string{"d1": "One\nzwei ü", "d2": "Other"},
			chunks: []summary{
				{"c2", "d1", "One", 0, 0, 3}, {"c1", "d1", "zwei ü", 1, 4, 11}, {"x", "d2", "Other", 0, 0, 5},
			},
		},
		"offsets, gaps and overlap": {
			lines: []string{
				`{"chunk_id":"b","doc_id":"d","text":"cdef","start":2,"end":6}`,
				`{"chunk_id":"a","doc_id":"d","text":"abcd","start":0,"end":4}`,
				`{"chunk_id":"z","doc_id":"d","text":"z","start":8,"end":9}`,
			},
			docs:   map[string]string{"d": "abcdef  z"},
			chunks: []summary{{"b", "d", "cdef", 0, 2, 6}, {"a", "d", "abcd", 1, 0, 4}, {"z", "d", "z", 2, 8, 9}},
		},
		"texts from a source": {
			lines: []string{
				`{"chunk_id":"a","doc_id":"d","text":"again"}`,
				`{"chunk_id":"b","doc_id":"d","text":"again"}`,
				`{"chunk_id":"c","doc_id":"d","text":"Title","start":0,"end":5}`,
			},
			source: []string{`{"id":"d","text":"Title again and again."}`, `{"id":"e","text":"Without chunks."}`},
			docs:   map[string]string{"d": "Title again and again.", "e": "Without chunks."},
			chunks: []summary{{"a", "d", "again", 0, 6, 11}, {"b", "d", "again", 1, 16, 21}, {"c", "d", "Title", 2, 0, 5}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := corpus.Source{Chunks: file(t, "c.jsonl", c.lines...)}
			if c.source != nil {
				src.Documents = file(t, "d.jsonl", c.source...)
			}
			s := build(t, src, corpus.Chunking{})
			docs, chunks, err := s.Load()
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{}
			for _, d := range docs {
				texts[d.ID] = d.Text
			}
			if diff := cmp.Diff(c.docs, texts); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.chunks, summaries(chunks)); diff != "" {
				t.Error(diff)
			}
			if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
				t.Error(problems, err)
			}
			if got := s.Manifest().Chunking.Method; got != "none" {
				t.Errorf("chunking method %q", got)
			}
		})
	}
}

func TestChunkTableRefused(t *testing.T) {
	for name, c := range map[string]struct {
		lines  []string
		source string
		want   string
	}{
		"length": {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","start":0,"end":4}`}, want: "chunk a: offsets 0 to 4, but its text is 3 bytes long"},
		"disagree": {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","start":0,"end":3}`, `{"chunk_id":"b","doc_id":"d","text":"xd","start":2,"end":4}`},
			want: "chunk b: disagrees with another chunk of document d at byte 2"},
		"spaces disagree": {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"a  b","start":0,"end":4}`, `{"chunk_id":"b","doc_id":"d","text":"xy","start":1,"end":3}`},
			want: "chunk b: disagrees"},
		"mixed": {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc"}`, `{"chunk_id":"b","doc_id":"d","text":"x","start":0,"end":1}`},
			want: "chunk b: document d has chunks with offsets and chunks without"},
		"one offset":    {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","start":0}`}, want: "chunk a: one of start and end is missing"},
		"negative":      {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","start":-1,"end":2}`}, want: `field "start": want an offset in bytes, not -1`},
		"duplicate":     {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc"}`, `{"chunk_id":"a","doc_id":"e","text":"x"}`}, want: `duplicate chunk id "a"`},
		"far away":      {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","start":9000000000000,"end":9000000000003}`}, want: "document d: offsets up to 9000000000003"},
		"outside":       {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","start":8,"end":11}`}, source: `{"id":"d","text":"0123456789"}`, want: "offsets 8 to 11 are outside document d of 10 bytes"},
		"another text":  {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","start":0,"end":3}`}, source: `{"id":"d","text":"abd"}`, want: "chunk a: its text is not what document d has at 0 to 3"},
		"not in it":     {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc"}`}, source: `{"id":"d","text":"abd"}`, want: "chunk a: its text is not in document d"},
		"no document":   {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc"}`}, source: `{"id":"e","text":"abc"}`, want: `document "d" of the chunk table is not in`},
		"no doc id":     {lines: []string{`{"chunk_id":"a","text":"abc"}`}, want: "document id is empty"},
		"unit":          {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","unit":"page"}`}, want: `unit "page"`},
		"embedding":     {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","embedding":[0,0]}`}, want: "chunk a: vector is zero"},
		"dimensions":    {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","embedding":[1,0]}`, `{"chunk_id":"b","doc_id":"d","text":"x","embedding":[1]}`}, want: "chunk b: vector has 1 dimensions, want 2"},
		"some embedded": {lines: []string{`{"chunk_id":"a","doc_id":"d","text":"abc","embedding":[1,0]}`, `{"chunk_id":"b","doc_id":"d","text":"x"}`}, want: "chunk b: no embedding"},
	} {
		t.Run(name, func(t *testing.T) {
			src := corpus.Source{Chunks: file(t, "c.jsonl", c.lines...)}
			if c.source != "" {
				src.Documents = file(t, "d.jsonl", c.source)
			}
			_, _, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: src}, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestChunkTableFieldsWinOverTheDocuments(t *testing.T) {
	src := corpus.Source{
		Chunks:    file(t, "c.jsonl", `{"chunk_id":"a","doc_id":"d","text":"First","category":"own","scope":{"team":"x"},"unit":"memory_record"}`, `{"chunk_id":"b","doc_id":"d","text":"second"}`),
		Documents: file(t, "d.jsonl", `{"id":"d","text":"First second","category":"doc","language":"en","metadata":{"k":"v"},"scope":{"team":"y"}}`),
	}
	_, chunks, err := build(t, src, corpus.Chunking{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	type got struct {
		Category, Language, Unit string
		Scope                    corpus.Scope
		Metadata                 map[string]string
	}
	want := []got{
		{"own", "en", corpus.UnitMemoryRecord, corpus.Scope{"team": {"x"}}, map[string]string{"k": "v"}},
		{"doc", "en", corpus.UnitChunk, corpus.Scope{"team": {"y"}}, map[string]string{"k": "v"}},
	}
	for i, c := range chunks {
		if diff := cmp.Diff(want[i], got{c.Category, c.Language, c.Unit, c.Scope, c.Metadata}); diff != "" {
			t.Error(diff)
		}
	}
}

func TestParquetChunkTableWithVectors(t *testing.T) {
	type row struct {
		ID        string    `parquet:"chunk_id"`
		Doc       string    `parquet:"doc_id"`
		Text      string    `parquet:"text"`
		Start     int64     `parquet:"start"`
		End       int64     `parquet:"end"`
		Embedding []float32 `parquet:"embedding,list"`
	}
	path := filepath.Join(t.TempDir(), "c.parquet")
	if err := parquet.WriteFile(path, []row{{"a", "d", "abc", 0, 3, []float32{3, 4}}, {"b", "d", "x", 3, 4, []float32{0, -2}}}); err != nil {
		t.Fatal(err)
	}
	s := build(t, corpus.Source{Chunks: path}, corpus.Chunking{})
	sets := s.Manifest().Vectors
	if len(sets) != 1 {
		t.Fatalf("vectors: %v", sets)
	}
	var got []corpus.Vector
	for v, err := range s.Vectors(sets[0].Key) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if diff := cmp.Diff([]corpus.Vector{{ChunkID: "a", Values: []float32{.6, .8}}, {ChunkID: "b", Values: []float32{0, -1}}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestOffsetTableRoundTrips cuts documents, gives the chunks as a table and
// expects the same places again.
func TestOffsetTableRoundTrips(t *testing.T) {
	chunker, err := corpus.NewChunker(corpus.Chunking{Method: "fixed", Unit: "characters", Size: 20, Overlap: 5})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID    string `parquet:"chunk_id"`
		Doc   string `parquet:"doc_id"`
		Text  string `parquet:"text"`
		Start int64  `parquet:"start"`
		End   int64  `parquet:"end"`
	}
	texts, rows := map[string]string{}, []row{}
	var want []summary
	for seed := range 200 {
		id := fmt.Sprint("d", seed)
		texts[id] = "x" + markdownText().Example(seed)
		chunks, err := chunker.Chunks(t.Context(), corpus.Document{ID: id, Text: texts[id]})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, summaries(chunks)...)
		for _, c := range chunks {
			rows = append(rows, row{c.ID, id, c.Text, int64(c.Start), int64(c.End)})
		}
	}
	path := filepath.Join(t.TempDir(), "c.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	docs, got, err := build(t, corpus.Source{Chunks: path}, corpus.Chunking{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if diff := cmp.Diff(texts[d.ID], d.Text); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(want, summaries(got)); diff != "" {
		t.Error(diff)
	}
}
