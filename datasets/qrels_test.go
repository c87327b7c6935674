package datasets_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/datasets"
)

func TestTopicForms(t *testing.T) {
	tests := map[string]struct {
		text string
		want []datasets.Topic
	}{
		"tsv": {"7\tone two\n8\tthree\tfour\n", []datasets.Topic{{ID: "7", Text: "one two", Line: 1}, {ID: "8", Text: "three four", Line: 2}}},
		"classic TREC": {
			"<top>\n\n<num> Number: 301 \n<title> International Organized Crime \n\n<desc> Description: \nIdentify organizations\n</top>\n<top>\n<num> Number: 302\n<title> Topic: Polio\n</top>",
			[]datasets.Topic{{ID: "301", Text: "International Organized Crime", Line: 1}, {ID: "302", Text: "Polio", Line: 9}},
		},
		"xml with entities": {
			"<?xml version='1.0'?>\n<xml>\n<top>\n<num> 1</num>\n<title>\nR&amp;D &lt; cost\n</title>\n</top></xml>",
			[]datasets.Topic{{ID: "1", Text: "R&D < cost", Line: 3}},
		},
		"documents":       {"<DOC>\n<DOCNO> 5 </DOCNO>\n a < b\n\n</DOC>\n", []datasets.Topic{{ID: "5", Text: "a < b", Line: 1}}},
		"byte order mark": {"\ufeff1\tq", []datasets.Topic{{ID: "1", Text: "q", Line: 1}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := datasets.ReadTopics(file(t, "topics", tt.text), false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQrelsForms(t *testing.T) {
	want := &datasets.Qrels{
		Topics: []datasets.TopicQrels{
			{ID: "q2", Rows: []datasets.Qrel{{ChunkID: "a", Grade: 1, Line: 3}, {ChunkID: "b#1", Grade: -1, Line: 1}}},
			{ID: "q1", Rows: []datasets.Qrel{{ChunkID: "a", Grade: 4, Line: 2}}},
		},
		Rows: 4, Folded: 1,
	}
	tsv := "q2 0 b#1 -1\nq1\tQ0\ta  4\r\nq2 0 a 1\nq2 0 a 1\n"
	parquetPath := filepath.Join(t.TempDir(), "qrels.parquet")
	type row struct {
		Extra   string `parquet:"extra"`
		QueryID string `parquet:"query_id"`
		ChunkID string `parquet:"chunk_id"`
		Grade   int32  `parquet:"grade"`
	}
	rows := []row{{"", "q2", "b#1", -1}, {"", "q1", "a", 4}, {"", "q2", "a", 1}, {"", "q2", "a", 1}}
	if err := parquet.WriteFile(parquetPath, rows); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"text": file(t, "qrels", tsv), "parquet": parquetPath} {
		t.Run(name, func(t *testing.T) {
			got, err := datasets.ReadQrels(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if grade, ok := got.Topics[0].Grade("b#1"); grade != -1 || !ok {
				t.Errorf("grade %d, %v", grade, ok)
			}
			if _, ok := got.Topics[0].Grade("c"); ok {
				t.Error("c was not judged")
			}
		})
	}
}

// trec_eval reads a # in a document's id as part of it.
func TestQrelsComments(t *testing.T) {
	got, err := datasets.ReadQrels(shared(t, "trec_eval/qrels.test.with-comments"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := datasets.ReadQrels(shared(t, "trec_eval/qrels.test"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != plain.Rows || got.Rows != 3681 {
		t.Errorf("%d rows with comments, %d without", got.Rows, plain.Rows)
	}
	if _, ok := got.Topics[0].Grade("CR#93E-1860"); !ok {
		t.Error("the id with # is missing")
	}
}

func TestBadParquetQrels(t *testing.T) {
	type null struct {
		QueryID *string `parquet:"query_id,optional"`
		ChunkID string  `parquet:"chunk_id"`
		Grade   int64   `parquet:"grade"`
	}
	type text struct {
		QueryID string `parquet:"query_id"`
		Grade   string `parquet:"grade"`
	}
	type wide struct {
		QueryID string `parquet:"query_id"`
		ChunkID string `parquet:"chunk_id"`
		Grade   int64  `parquet:"grade"`
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name+".parquet") }
	for _, err := range []error{
		parquet.WriteFile(path("null"), []null{{ChunkID: "a"}}),
		parquet.WriteFile(path("wide"), []wide{{"q", "a", 1}, {"q", "b", 1 << 40}}),
		parquet.WriteFile(path("twice"), []wide{{"q", "a", 1}, {"r", "a", 2}, {"q", "a", 2}}),
		parquet.WriteFile(path("text"), []text{{"q", "1"}}),
		os.WriteFile(path("garbage"), []byte("PAR1 this is none PAR1"), 0o644),
		os.WriteFile(path("empty"), nil, 0o644),
		os.Mkdir(path("folder"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"null":    {"row 1", "null"},
		"text":    {`column "chunk_id" is missing`, `column "grade" has type BYTE_ARRAY`},
		"wide":    {"row 2: grade 1099511627776 is out of range"},
		"twice":   {`line 3: topic "q", id "a" has grade 2, but 1 on line 1`},
		"garbage": {"truncated or no Parquet file"},
		"empty":   {"truncated or no Parquet file"},
		"folder":  {"is a folder"},
		"missing": {"no such file"},
	} {
		_, err := datasets.ReadQrels(path(name))
		if err == nil {
			t.Errorf("%s was read", name)
			continue
		}
		for _, text := range append(want, path(name)) {
			checkError(t, err, text)
		}
	}
}

func FuzzReadQrels(f *testing.F) {
	f.Add("1 0 a 1\n")
	f.Add("query-id\tcorpus-id\tscore\n1\ta\t1\n")
	f.Add("# x\n\n1\v0 a\u00a0b -9\r\n1 0 a 99999999999")
	f.Fuzz(func(t *testing.T, text string) {
		path := file(t, "qrels", text)
		qrels, err := datasets.ReadQrels(path)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("error does not name the file: %v", err)
			}
			return
		}
		rows := 0
		for _, topic := range qrels.Topics {
			for _, q := range topic.Rows {
				if grade, ok := topic.Grade(q.ChunkID); !ok || grade != int(q.Grade) {
					t.Errorf("topic %q: %q cannot be looked up", topic.ID, q.ChunkID)
				}
				rows++
			}
		}
		if rows+qrels.Folded != qrels.Rows {
			t.Errorf("%d rows and %d folded of %d", rows, qrels.Folded, qrels.Rows)
		}
	})
}

func FuzzReadTopics(f *testing.F) {
	f.Add("1\tq")
	f.Add("<top><num> Number: 1\n<title> x\n<desc> y")
	f.Add("<DOC>\n<DOCNO>1</DOCNO>x</DOC>")
	f.Fuzz(func(t *testing.T, text string) {
		path := file(t, "topics", text)
		topics, err := datasets.ReadTopics(path, false)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("error does not name the file: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, topic := range topics {
			if topic.ID == "" || topic.Text == "" || seen[topic.ID] {
				t.Errorf("topic %+v", topic)
			}
			seen[topic.ID] = true
		}
	})
}

func BenchmarkReadQrels(b *testing.B) {
	var text strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "%d 0 document-%07d %d\n", i/100, i*7919%1_000_000, i%4)
	}
	path := filepath.Join(b.TempDir(), "qrels")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := datasets.ReadQrels(path); err != nil {
			b.Fatal(err)
		}
	}
}
