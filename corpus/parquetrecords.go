package corpus

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// parquetRecords yields the rows of any Parquet file as records, once its
// schema is known to have the needed columns.
func parquetRecords(path string, m mapping, need columns) iter.Seq2[TableRow, error] {
	return func(yield func(TableRow, error) bool) {
		f, pf, err := parquetfile.Open(path)
		if err != nil {
			yield(TableRow{}, err)
			return
		}
		defer f.Close()
		if err := checkColumns(path, pf.Schema(), m, need); err != nil {
			yield(TableRow{}, err)
			return
		}
		reader := parquet.NewGenericReader[any](pf)
		defer reader.Close()
		rows := make([]any, 64)
		for base := 0; ; {
			var n int
			err := parquetfile.Guard(func() (err error) { n, err = reader.Read(rows); return err })
			for i := range rows[:n] {
				fields, _ := plainGroup(pf.Schema(), rows[i]).(map[string]any)
				if !yield(TableRow{fmt.Sprintf("%s row %d", path, base+i), fields}, nil) {
					return
				}
				rows[i] = nil
			}
			base += n
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(TableRow{}, fmt.Errorf("%s row %d: %w", path, base, err))
				return
			}
		}
	}
}

// checkColumns names a column that is missing or of a type that cannot hold
// what is needed: the reader itself would deliver zeros.
func checkColumns(path string, schema *parquet.Schema, m mapping, need columns) error {
	for _, names := range need {
		field, ok := findColumn(schema, m, names)
		if !ok {
			return fmt.Errorf("%s: no column %q (it has %s)", path, m.name(names[0]), strings.Join(columnNames(schema), ", "))
		}
		if !field.Leaf() || field.Repeated() || field.Type().Kind() != parquet.ByteArray && names[0] == "text" {
			return fmt.Errorf("%s: column %q: want strings, not %s", path, m.name(names[0]), field.Type())
		}
	}
	return nil
}

func findColumn(schema *parquet.Schema, m mapping, names []string) (parquet.Node, bool) {
	if theirs, ok := m[names[0]]; ok {
		names = []string{theirs}
	}
	for _, name := range names {
		if leaf, ok := schema.Lookup(name); ok {
			return leaf.Node, true
		}
		if leaf, ok := schema.Lookup(strings.Split(name, ".")...); ok {
			return leaf.Node, true
		}
	}
	return nil, false
}

func columnNames(schema *parquet.Schema) []string {
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, f.Name())
	}
	return names
}

// plainGroup turns what the reader delivers for a group into maps, lists,
// strings, numbers and times, with the help of the schema.
func plainGroup(node parquet.Node, v any) any {
	group, ok := v.(map[string]any)
	if !ok {
		return plain(v)
	}
	for name, inner := range group {
		i := slices.IndexFunc(node.Fields(), func(f parquet.Field) bool { return f.Name() == name })
		if i < 0 {
			group[name] = plain(inner)
			continue
		}
		group[name] = plainField(node.Fields()[i], inner)
	}
	return group
}

func plainField(field parquet.Node, v any) any {
	if !field.Leaf() {
		return plainGroup(field, v)
	}
	if logical := field.Type().LogicalType(); logical != nil {
		switch kind := logical.Value.(type) {
		case *format.TimestampType:
			if n, ok := v.(int64); ok {
				return inUnit(kind.Unit, n)
			}
		case *format.DateType:
			if n, ok := v.(int32); ok {
				return time.Unix(int64(n)*86400, 0).UTC()
			}
		}
	}
	return plain(v)
}

func inUnit(unit format.TimeUnit, n int64) time.Time {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(n).UTC()
	case *format.MicroSeconds:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

// plain turns byte strings into strings, at any depth.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case [][]byte:
		list := make([]any, len(v))
		for i, b := range v {
			list[i] = string(b)
		}
		return list
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return v
}
