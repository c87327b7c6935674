package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/goldgen/goldgen/internal/packed"
)

// Strings calls f with every value of a top-level column of text. The strings
// share the memory of their page, or of its dictionary.
//
// Strings, Texts, Ints and Floats are for long tables, where rows of structs
// cost too much. They expect that the column exists with its type, and that the
// call is inside Guard. A null is an error, and so are fewer values than the
// footer promises; errors name the column and not the file.
func Strings(file *parquet.File, column string, f func(string)) error {
	var text string
	var offsets []uint32
	return eachPage(file, column, func(p page) int {
		if p.fresh {
			var data []byte
			data, offsets = p.values.ByteArray()
			text = textOf(data, p.plain)
		}
		if !p.plain {
			for _, i := range p.indexes {
				f(text[offsets[i]:offsets[i+1]])
			}
			return len(p.indexes)
		}
		for i := 1; i < len(offsets); i++ {
			f(text[offsets[i-1]:offsets[i]])
		}
		return max(0, len(offsets)-1)
	})
}

// Texts appends a column of text to to, and the number there of each row's
// value to numbers: Strings for what is to be kept, at 8 bytes a row and what a
// dictionary does not share.
func Texts(file *parquet.File, column string, to *packed.Strings, numbers []uint32) ([]uint32, error) {
	var first uint32
	var offsets []uint32
	err := eachPage(file, column, func(p page) int {
		if p.fresh {
			first, offsets = addPage(to, p)
		}
		if !p.plain {
			for _, i := range p.indexes {
				_ = offsets[i+1] // what a damaged index refers to
				numbers = append(numbers, first+uint32(i))
			}
			return len(p.indexes)
		}
		n := max(0, len(offsets)-1)
		for i := range n {
			numbers = append(numbers, first+uint32(i))
		}
		return n
	})
	return numbers, err
}

// addPage appends the texts of a page or dictionary and returns the number of
// the first, and where each begins.
func addPage(to *packed.Strings, p page) (first uint32, offsets []uint32) {
	data, offsets := p.values.ByteArray()
	text := textOf(data, p.plain)
	if p.plain {
		offsets = slices.Clone(offsets)
	}
	for i := 1; i < len(offsets); i++ {
		_ = text[offsets[i-1]:offsets[i]] // what a damaged page refers to
	}
	return to.AddBlock(text, offsets), offsets
}

// textOf is the text of a page, copied, or of a dictionary, which the library
// allocates for one column chunk, never changes and leaves to the collector: a
// copy of the ids of a long run would be most of the memory.
func textOf(data []byte, plain bool) string {
	if plain || len(data) == 0 {
		return string(data)
	}
	return unsafe.String(unsafe.SliceData(data), len(data))
}

// Ints is Strings for integers of 32 or 64 bits.
func Ints(file *parquet.File, column string, f func(int64)) error {
	return numbers(file, column, f, func(dst []int64, values encoding.Values) []int64 {
		if values.Kind() == encoding.Int64 {
			return append(dst, values.Int64()...)
		}
		narrow := values.Int32()
		dst = slices.Grow(dst, len(narrow))
		for _, x := range narrow {
			dst = append(dst, int64(x))
		}
		return dst
	})
}

// Floats is Strings for floating-point numbers of 32 or 64 bits.
func Floats(file *parquet.File, column string, f func(float64)) error {
	return numbers(file, column, f, func(dst []float64, values encoding.Values) []float64 {
		if values.Kind() == encoding.Double {
			return append(dst, values.Double()...)
		}
		narrow := values.Float()
		dst = slices.Grow(dst, len(narrow))
		for _, x := range narrow {
			dst = append(dst, float64(x))
		}
		return dst
	})
}

func numbers[T any](file *parquet.File, column string, f func(T), decode func([]T, encoding.Values) []T) error {
	var values []T
	return eachPage(file, column, func(p page) int {
		if p.fresh {
			values = decode(values[:0], p.values)
		}
		if !p.plain {
			for _, i := range p.indexes {
				f(values[i])
			}
			return len(p.indexes)
		}
		for _, v := range values {
			f(v)
		}
		return len(values)
	})
}

// page is what one page of a column holds.
type page struct {
	values  encoding.Values // the page's own, or its dictionary's
	plain   bool
	indexes []int32 // into the dictionary's values where the page is not plain
	fresh   bool    // values are not those of the page before
}

// eachPage calls f with each page of a column, row group after row group. f
// returns how many values there were.
func eachPage(file *parquet.File, column string, f func(page) int) error {
	leaf, ok := file.Schema().Lookup(column)
	if !ok {
		return fmt.Errorf("column %s is missing", column)
	}
	rows := int64(0)
	for _, group := range file.RowGroups() {
		n, err := eachPageOf(group.ColumnChunks()[leaf.ColumnIndex], rows, f)
		if err != nil {
			return fmt.Errorf("column %s: %w", column, err)
		}
		rows += n
	}
	if rows != file.NumRows() {
		return fmt.Errorf("column %s is damaged: %d rows where the footer says %d", column, rows, file.NumRows())
	}
	return nil
}

// eachPageOf is eachPage for one row group, which begins after so many rows. It
// returns how many there are.
func eachPageOf(chunk parquet.ColumnChunk, from int64, f func(page) int) (rows int64, err error) {
	pages := chunk.Pages()
	defer pages.Close()
	var before parquet.Dictionary
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if n := p.NumNulls(); n > 0 {
			return rows, fmt.Errorf("has %d nulls in one page, the first in row %d", n, from+rows+firstNull(p.DefinitionLevels())+1)
		}
		dictionary := p.Dictionary()
		if dictionary == nil {
			rows += int64(f(page{values: p.Data(), plain: true, fresh: true}))
		} else {
			indexes := p.Data()
			rows += int64(f(page{values: dictionary.Page().Data(), indexes: indexes.Int32(), fresh: before != dictionary}))
		}
		before = dictionary
		parquet.Release(p)
	}
}

// firstNull is the index of the first value that is not there. What is there
// has the highest level, 1 for a top-level column.
func firstNull(levels []byte) int64 {
	for i, level := range levels {
		if level == 0 {
			return int64(i)
		}
	}
	return 0
}
