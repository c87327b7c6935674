package parquetfile_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/internal/packed"
	"github.com/goldgen/goldgen/internal/parquetfile"
)

type wide struct {
	Name  string  `parquet:"name"`
	Count int64   `parquet:"count"`
	Score float64 `parquet:"score"`
}

// narrow is wide as others may write it.
type narrow struct {
	Name  *string  `parquet:"name,optional,dict"`
	Count *int32   `parquet:"count,optional,dict"`
	Score *float32 `parquet:"score,optional"`
}

// columnsOf reads a table of several pages and row groups.
func columnsOf[T any](t *testing.T, rows []T) ([]wide, error) {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.MaxRowsPerRowGroup(400), parquet.PageBufferSize(512))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, file, err := parquetfile.Open(saved(t, b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []wide
	if err := parquetfile.CheckTypes(file.Schema(), parquet.SchemaOf(rows[0])); err != nil {
		t.Error(err)
	}
	if err := parquetfile.Strings(file, "name", func(s string) { got = append(got, wide{Name: s}) }); err != nil {
		return nil, err
	}
	var texts packed.Strings
	numbers, err := parquetfile.Texts(file, "name", &texts, nil)
	if err != nil || len(numbers) != len(got) {
		t.Errorf("%d numbers of texts for %d rows: %v", len(numbers), len(got), err)
	}
	for i, number := range numbers {
		if texts.At(number) != got[i].Name {
			t.Errorf("row %d is %q as packed, else %q", i, texts.At(number), got[i].Name)
		}
	}
	i, j := 0, 0
	if err := parquetfile.Ints(file, "count", func(n int64) { got[i].Count = n; i++ }); err != nil {
		return nil, err
	}
	return got, parquetfile.Floats(file, "score", func(x float64) { got[j].Score = x; j++ })
}

func TestColumns(t *testing.T) {
	var want []wide
	var others []narrow
	for i := range 1000 {
		name, count, score := fmt.Sprint("name ", i/7), int32(i/3), float32(i)/2
		want = append(want, wide{name, int64(count), float64(score)})
		others = append(others, narrow{&name, &count, &score})
	}
	got, err := columnsOf(t, want)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	got, err = columnsOf(t, others)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	others[700].Count = nil
	_, err = columnsOf(t, others)
	if err == nil || !strings.Contains(err.Error(), "column count: has 1 nulls in one page, the first in row 701") {
		t.Errorf("a null: %v", err)
	}
}
