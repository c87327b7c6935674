package retrieve_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/retrieve"
)

var sameRun = cmp.Options{cmpopts.IgnoreUnexported(retrieve.Run{}), cmpopts.EquateEmpty()}

func TestReadTREC(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want retrieve.Run
	}{
		"ties by id descending, the rank column ignored": {
			text: "q1 Q0 d1 1 1.0 t\nq1 Q0 d2 2 1.0 t\nq1 Q0 d3 3 2 t\n",
			want: retrieve.Run{Tag: "t", Queries: []string{"q1"}, Rows: 3,
				Rankings: []retrieve.Ranking{{IDs: []string{"d3", "d2", "d1"}, Scores: []float64{2, 1, 1}}}},
		},
		"comments, blank lines, tabs, returns, further fields": {
			text: "# a comment\n\n  \t\n q2\tQ0\td#1\t1\t-.5e1\trun more words\r\n  # another\nq1 0 x 1 3 other",
			want: retrieve.Run{Tag: "run", Queries: []string{"q2", "q1"}, Rows: 2,
				Rankings: []retrieve.Ranking{{IDs: []string{"d#1"}, Scores: []float64{-5}}, {IDs: []string{"x"}, Scores: []float64{3}}}},
		},
		"queries interleaved, a repeated id counts where it ranks first": {
			text: "a Q0 x 1 1 t\nb Q0 y 1 9 t\na Q0 z 1 2 t\na Q0 x 1 3 t\nb Q0 y 2 8 t\n",
			want: retrieve.Run{Tag: "t", Queries: []string{"a", "b"}, Rows: 5, Duplicates: 2,
				Rankings: []retrieve.Ranking{{IDs: []string{"x", "z"}, Scores: []float64{3, 2}}, {IDs: []string{"y"}, Scores: []float64{9}}}},
		},
		"scores that only double precision tells apart": {
			text: "q Q0 b 1 1.00000000001 t\nq Q0 a 1 1.00000000002 t\n",
			want: retrieve.Run{Tag: "t", Queries: []string{"q"}, Rows: 2,
				Rankings: []retrieve.Ranking{{IDs: []string{"a", "b"}, Scores: []float64{1.00000000002, 1.00000000001}}}},
		},
		"a byte order mark": {
			text: "\ufeffq Q0 d 1 1 t\r\n",
			want: retrieve.Run{Tag: "t", Queries: []string{"q"}, Rows: 1, Rankings: []retrieve.Ranking{{IDs: []string{"d"}, Scores: []float64{1}}}},
		},
		"empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := retrieve.ReadTREC(strings.NewReader(tc.text), "x.run")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tc.want, got, sameRun); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadTRECErrors(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"five fields": {"q Q0 d 1 2 t\nq Q0 d 1 2\n", "x.run:2: 5 fields, a run's line has 6: query Q0 document rank score tag"},
		"an id with a space": {"q Q0 a b 1 2 t\n",
			`x.run:1: more than 6 fields: document "a" has rank "b" and tag "2"; ids cannot hold white space here (a Parquet run can)`},
		"an id that ends in a number": {"q\tQ0\tpage 7\t1\t0.5\tt\n",
			`x.run:1: more than 6 fields: document "page" has rank "7" and tag "0.5"; ids cannot hold white space here (a Parquet run can)`},
		"no number":    {"q Q0 d 1 high t\n", `x.run:1: score "high" is no number`},
		"underscore":   {"q Q0 d 1 1_0 t\n", `x.run:1: score "1_0" is no number`},
		"NaN":          {"# c\nq Q0 d 1 NaN t\n", "x.run:2: score NaN is not finite"},
		"infinity":     {"q Q0 d 1 -inf t\n", "x.run:1: score -Inf is not finite"},
		"too large":    {"q Q0 d 1 1e999 t\n", `x.run:1: score "1e999" is no number`},
		"endless line": {"q Q0 d 1 1 t\n" + strings.Repeat("x", 2<<20), "x.run:2: bufio.Scanner: token too long"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := retrieve.ReadTREC(strings.NewReader(tc.text), "x.run")
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// trec_eval prints num_ret of its test run as 1500 and orders 302's ties so.
func TestReadTRECOfTrecEval(t *testing.T) {
	f := sharedFile(t, "../../shared/data/trec_eval/results.test")
	run, err := retrieve.ReadTREC(f, "results.test")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"301", "302", "303"}, run.Queries); diff != "" {
		t.Error(diff)
	}
	if run.Rows != 1500 || run.Duplicates != 0 || run.Tag != "STANDARD" {
		t.Errorf("rows %d, duplicates %d, tag %q", run.Rows, run.Duplicates, run.Tag)
	}
	ties := 0
	for _, r := range run.Rankings {
		for i := 1; i < len(r.IDs); i++ {
			switch {
			case r.Scores[i] > r.Scores[i-1]:
				t.Fatalf("rank %d scores above the one before", i+1)
			case r.Scores[i] == r.Scores[i-1] && r.IDs[i] > r.IDs[i-1]:
				t.Fatalf("tie at rank %d: %s after %s", i+1, r.IDs[i], r.IDs[i-1])
			case r.Scores[i] == r.Scores[i-1]:
				ties++
			}
		}
	}
	if ties != 10 {
		t.Errorf("%d ties, want 10", ties)
	}
}

type parquetRow struct {
	CaseID  string  `parquet:"case_id"`
	Rank    int64   `parquet:"rank"`
	ChunkID string  `parquet:"chunk_id"`
	Score   float64 `parquet:"score"`
}

func parquetFile[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[T](&buf, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func readParquet(data []byte) (*retrieve.Run, error) {
	return retrieve.ReadParquet(bytes.NewReader(data), int64(len(data)), "r.parquet")
}

func TestReadParquetOrder(t *testing.T) {
	rows := []parquetRow{
		{"q2", 1, "x", 1}, {"q1", 3, "c", 5}, {"q1", 2, "b", 5}, {"q1", 2, "a", 5},
		{"q1", 1, "d", 4}, {"q1", 9, "a", 1}, {"q2", 2, "y", 2},
	}
	want := &retrieve.Run{Queries: []string{"q2", "q1"}, Rows: 7, Duplicates: 1, Rankings: []retrieve.Ranking{
		{IDs: []string{"y", "x"}, Scores: []float64{2, 1}},
		{IDs: []string{"a", "b", "c", "d"}, Scores: []float64{5, 5, 5, 4}},
	}}
	type dictRow struct {
		CaseID  string  `parquet:"case_id,dict"`
		Rank    int32   `parquet:"rank,dict"`
		Extra   []int64 `parquet:"extra"`
		ChunkID string  `parquet:"chunk_id,dict"`
		Score   float32 `parquet:"score,dict"`
	}
	type optionalRow struct {
		CaseID  *string  `parquet:"case_id"`
		Rank    *int64   `parquet:"rank"`
		ChunkID *string  `parquet:"chunk_id,dict"`
		Score   *float64 `parquet:"score"`
	}
	var dict []dictRow
	var optional []optionalRow
	for _, r := range rows {
		dict = append(dict, dictRow{r.CaseID, int32(r.Rank), []int64{1, 2}, r.ChunkID, float32(r.Score)})
		optional = append(optional, optionalRow{&r.CaseID, &r.Rank, &r.ChunkID, &r.Score})
	}
	for name, data := range map[string][]byte{
		"plain":            parquetFile(t, rows),
		"dictionaries":     parquetFile(t, dict),
		"optional columns": parquetFile(t, optional),
		"many row groups":  parquetFile(t, dict, parquet.MaxRowsPerRowGroup(2)),
		"compressed":       parquetFile(t, rows, parquet.Compression(&parquet.Zstd)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readParquet(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, sameRun); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadParquetErrors(t *testing.T) {
	nan := 0.0
	nan = nan / nan
	type wrongTypes struct {
		CaseID int64  `parquet:"case_id"`
		Rank   string `parquet:"rank"`
		Score  string `parquet:"score"`
	}
	type nulls struct {
		CaseID  string   `parquet:"case_id"`
		Rank    int64    `parquet:"rank"`
		ChunkID string   `parquet:"chunk_id"`
		Score   *float64 `parquet:"score"`
	}
	good := parquetFile(t, []parquetRow{{"q", 1, "x", 1}})
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"NaN": {parquetFile(t, []parquetRow{{"q", 1, "x", 1}, {"q", 2, "y", nan}}),
			"run r.parquet: column score: row 2: score NaN is not finite"},
		"wrong and missing columns": {parquetFile(t, []wrongTypes{{}}),
			"run r.parquet: column case_id is INT(64,true), not a string\ncolumn rank is STRING, not an integer\n" +
				"column chunk_id is missing\ncolumn score is STRING, not a floating-point number"},
		"null":  {parquetFile(t, []nulls{{"q", 1, "x", nil}}), "run r.parquet: column score: has 1 nulls in one page"},
		"cut":   {good[:len(good)/2], "run r.parquet: "},
		"empty": {nil, "run r.parquet: "},
		"text":  {[]byte("q Q0 d 1 2 t\nq Q0 d 2 1 t\n"), "run r.parquet: "},
		"footer longer than the file": {[]byte("PAR1 no rows, and then\xff\xff\xff\x7fPAR1"),
			"run r.parquet: truncated or no Parquet file: footer of 2147483647 bytes in a file of 30"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readParquet(tc.data)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// A damaged file is an error or another table, never a panic.
func TestReadParquetDamaged(t *testing.T) {
	good := parquetFile(t, []parquetRow{{"q1", 1, "x", 3}, {"q1", 2, "y", 2}, {"q2", 1, "x", 1}})
	for i := range good {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			run, err := readParquet(bad)
			if (run == nil) == (err == nil) {
				t.Fatalf("byte %d: run %v, error %v", i, run, err)
			}
		}
	}
}

func TestRunsSurviveWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := drawRun(t)
		var table, text bytes.Buffer
		if err := errors.Join(retrieve.WriteParquet(&table, run), retrieve.WriteTREC(&text, run)); err != nil {
			t.Fatal(err)
		}
		got, err := readParquet(table.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want := *run
		want.Tag = "" // Parquet has no place for it
		if diff := cmp.Diff(&want, got, sameRun); diff != "" {
			t.Fatalf("parquet: %s", diff)
		}
		got, err = retrieve.ReadTREC(&text, "x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run, got, sameRun); diff != "" {
			t.Fatalf("trec: %s", diff)
		}
	})
}

// drawRun draws a run without ties: their order is the format's.
func drawRun(t *rapid.T) *retrieve.Run {
	run := &retrieve.Run{Tag: "t"}
	word := rapid.StringMatching(`[a-zé/.#]{0,3}[a-z0-9]{1,6}`).Filter(func(s string) bool { return s[0] != '#' })
	run.Queries = rapid.SliceOfNDistinct(word, 1, 5, rapid.ID).Draw(t, "queries")
	for range run.Queries {
		ids := rapid.SliceOfNDistinct(word, 1, 8, rapid.ID).Draw(t, "ids")
		r := retrieve.Ranking{IDs: ids}
		for i := range ids {
			r.Scores = append(r.Scores, float64(len(ids)-i)/7)
		}
		run.Rankings = append(run.Rankings, r)
		run.Rows += len(ids)
	}
	return run
}

func TestWriteTRECRefusesWhiteSpace(t *testing.T) {
	run, err := retrieve.NewRun("t", []string{"q"}, []retrieve.Result{{Hits: []retrieve.Hit{{ChunkID: "my notes.md#1", Score: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	err = retrieve.WriteTREC(&bytes.Buffer{}, run)
	want := `"my notes.md#1" cannot stand in a TREC run: it is empty, begins with # or has white space`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadRunByName(t *testing.T) {
	dir := t.TempDir()
	table, text := filepath.Join(dir, "r.parquet"), filepath.Join(dir, "r.txt")
	write := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(table, parquetFile(t, []parquetRow{{"q", 1, "x", 1}}))
	write(text, []byte("q Q0 x 1 1 t\n"))
	for _, path := range []string{table, text} {
		run, err := retrieve.ReadRun(path)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := run.Ranking("q")
		if diff := cmp.Diff(retrieve.Ranking{IDs: []string{"x"}, Scores: []float64{1}}, got); diff != "" || !ok {
			t.Error(diff)
		}
	}
	if _, err := retrieve.ReadRun(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := retrieve.ReadRun(dir); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

func TestRunRetriever(t *testing.T) {
	run, err := retrieve.ReadTREC(strings.NewReader("q Q0 a 1 3 t\nq Q0 b 1 2 t\nq Q0 c 1 1 t\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	r := retrieve.NewRunRetriever(run)
	got, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", K: 2})
	want := retrieve.Result{Hits: []retrieve.Hit{{ChunkID: "a", Score: 3}, {ChunkID: "b", Score: 2}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = r.Retrieve(t.Context(), retrieve.Query{ID: "another", K: 2})
	if diff := cmp.Diff(retrieve.Result{Hits: []retrieve.Hit{}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func FuzzReadTREC(f *testing.F) {
	f.Add([]byte("q Q0 d 1 1.5 t\n# c\n\nq Q0 e 2 1 t"))
	f.Add([]byte("q\x00 Q0 d 1 0x1p-2 t"))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := retrieve.ReadTREC(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		kept := run.Duplicates
		for _, r := range run.Rankings {
			kept += len(r.IDs)
		}
		if kept != run.Rows {
			t.Errorf("%d rows of %d", kept, run.Rows)
		}
	})
}

// millionRows is 10,000 queries of 100 results over 50,000 chunks.
func millionRows() []parquetRow {
	rows := make([]parquetRow, 0, 1_000_000)
	for q := range 10_000 {
		for r := range 100 {
			rows = append(rows, parquetRow{
				CaseID: fmt.Sprintf("%016x", uint64(q)*0x9e3779b97f4a7c15), Rank: int64(r + 1),
				ChunkID: fmt.Sprintf("handbook/chapter-%d.md#%d", (q*31+r*7919)%50_000/10, (q*31+r*7919)%10),
				Score:   30 - float64(r)/4 - float64(q%97)/1000,
			})
		}
	}
	return rows
}

func BenchmarkReadRunParquet(b *testing.B) {
	type dictRow struct {
		CaseID  string  `parquet:"case_id,dict"`
		Rank    int64   `parquet:"rank"`
		ChunkID string  `parquet:"chunk_id,dict"`
		Score   float64 `parquet:"score"`
	}
	rows := millionRows()
	dict := make([]dictRow, len(rows))
	for i, r := range rows {
		dict[i] = dictRow(r)
	}
	for name, data := range map[string][]byte{
		"plain": parquetFile(b, rows), "dict": parquetFile(b, dict, parquet.Compression(&parquet.Snappy)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := readParquet(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadRunTREC(b *testing.B) {
	var text bytes.Buffer
	for _, r := range millionRows() {
		fmt.Fprintf(&text, "%s Q0 %s %d %g t\n", r.CaseID, r.ChunkID, r.Rank, r.Score)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := retrieve.ReadTREC(bytes.NewReader(text.Bytes()), "x"); err != nil {
			b.Fatal(err)
		}
	}
}
