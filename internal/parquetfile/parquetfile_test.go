package parquetfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

type item struct {
	Name  string   `parquet:"name"`
	Parts []string `parquet:"parts,list"`
	Count int64    `parquet:"count"`
}

// items are enough for several batches, so that rows of one must not be
// overwritten by the next.
func items() []item {
	var rows []item
	for i := range 1000 {
		rows = append(rows, item{fmt.Sprint("item ", i), []string{fmt.Sprint(i), "x"}, int64(i)})
	}
	return rows
}

func encoded[T any](t *testing.T, rows []T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquetfile.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func saved(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRoundTrip(t *testing.T) {
	data := encoded(t, items())
	if !bytes.Equal(data, encoded(t, items())) {
		t.Error("equal rows gave different bytes")
	}
	got, err := parquetfile.ReadFile[item](saved(t, data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(items(), got); diff != "" {
		t.Error(diff)
	}
}

func TestNoRows(t *testing.T) {
	got, err := parquetfile.ReadFile[item](saved(t, encoded(t, []item{})))
	if err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestStopEarly(t *testing.T) {
	n := 0
	for _, err := range parquetfile.Rows[item](saved(t, encoded(t, items()))) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d rows", n)
	}
}

func TestOtherSchema(t *testing.T) {
	type missing struct {
		Name  string `parquet:"name"`
		Count int64  `parquet:"count"`
	}
	type types struct {
		Name  string  `parquet:"name"`
		Parts []int64 `parquet:"parts,list"`
		Count string  `parquet:"count"`
	}
	type nesting struct {
		Name  *string  `parquet:"name,optional"`
		Parts []string `parquet:"parts,list,optional"`
		Count int64    `parquet:"count"`
	}
	tests := map[string]struct {
		data []byte
		want []string
	}{
		"missing column": {encoded(t, []missing{{}}), []string{`column "parts" is missing`}},
		"other types":    {encoded(t, []types{{}}), []string{`column "parts" has type INT`, `column "count" has type STRING`}},
		"other nesting":  {encoded(t, []nesting{{}}), []string{`column "name" is nested or optional`, `column "parts" is nested or optional`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := saved(t, tt.data)
			_, err := parquetfile.ReadFile[item](path)
			if err == nil {
				t.Fatal("was read")
			}
			for _, want := range append(tt.want, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// What was added to a row type reads as zero from a file that lacks it, in groups
// too; what else is missing stays an error.
func TestColumnsThatWereAdded(t *testing.T) {
	type inner struct {
		Old string `parquet:"old"`
		New string `parquet:"new"`
	}
	type today struct {
		Name string  `parquet:"name"`
		In   inner   `parquet:"in"`
		List []inner `parquet:"list,list"`
		At   *int64  `parquet:"at,optional"`
	}
	type innerThen struct {
		Old string `parquet:"old"`
	}
	type then struct {
		Name string    `parquet:"name"`
		In   innerThen `parquet:"in"`
	}
	path := saved(t, encoded(t, []then{{"a", innerThen{"b"}}}))
	got, err := parquetfile.ReadFile[today](path, "in.new", "list", "at")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Name != "a" || got[0].In != (inner{Old: "b"}) || len(got[0].List) != 0 || got[0].At != nil {
		t.Errorf("read %+v", got)
	}
	_, err = parquetfile.ReadFile[today](path, "in.new", "at")
	if err == nil || !strings.Contains(err.Error(), `column "list.old" is missing`) || strings.Contains(err.Error(), "in.new") {
		t.Errorf("error %v", err)
	}
}

// Every truncation is an error, and no change of a byte is a panic: changes
// that pass unseen are what file digests are for.
func TestDamage(t *testing.T) {
	data := encoded(t, items()[:20])
	path := saved(t, data)
	for n := 0; n < len(data); n += 7 {
		if err := os.WriteFile(path, data[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := parquetfile.ReadFile[item](path); err == nil || !strings.Contains(err.Error(), path) {
			t.Fatalf("cut at %d of %d: error %v", n, len(data), err)
		}
	}
	failed := 0
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0xff
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := parquetfile.ReadFile[item](path); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}
