package retrieve_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/retrieve"
)

// A table has what a run has, and repeated ids besides.
func TestReadTable(t *testing.T) {
	dir := t.TempDir()
	text := "q2 Q0 x 1 1 tag\nq1 Q0 a 1 5 tag\nq2 Q0 y 2 3 tag\nq1 Q0 b 2 5 tag\nq1 Q0 a 3 7 tag\n"
	table := parquetFile(t, []parquetRow{{"q2", 1, "x", 1}, {"q1", 2, "a", 5}, {"q2", 2, "y", 3}, {"q1", 1, "b", 5}, {"q1", 3, "a", 7}})
	for name, test := range map[string]struct {
		data []byte
		tag  string
	}{"run.txt": {[]byte(text), "tag"}, "run.parquet": {table, ""}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, test.data, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := retrieve.ReadTable(path)
			if err != nil {
				t.Fatal(err)
			}
			rankings := map[string]retrieve.Ranking{}
			for i, query := range got.Queries() {
				if at, ok := got.Index(query, i-1); !ok || at != i {
					t.Errorf("%s is query %d, %v; want %d", query, at, ok, i)
				}
				rankings[query] = retrieve.Ranking{IDs: got.IDs(i, nil), Scores: got.Scores(i)}
			}
			want := map[string]retrieve.Ranking{
				"q2": {IDs: []string{"y", "x"}, Scores: []float64{3, 1}},
				"q1": {IDs: []string{"a", "b", "a"}, Scores: []float64{7, 5, 5}},
			}
			if diff := cmp.Diff(want, rankings); diff != "" || got.Rows() != 5 || got.Tag != test.tag {
				t.Error(got.Rows(), got.Tag, diff)
			}
			run := got.Run()
			if _, ok := run.Ranking("q3"); ok || run.Duplicates != 1 || run.Rows != 5 {
				t.Errorf("run of %d rows, %d dropped, q3 there: %v", run.Rows, run.Duplicates, ok)
			}
		})
	}
}
