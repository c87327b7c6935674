// Package parquetfile writes and reads Parquet files of one row type, and
// guards against what the library lets pass: a missing column that reads as
// zero, a type that is converted silently, and panics on damaged files.
//
// The row type is a struct with parquet tags; its schema is the file's.
package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// batch is how many rows are read at once.
const batch = 256

// Write encodes rows to w, compressed with zstd, in one row group. Equal rows
// give equal bytes: the footer's writer is a fixed text and not the library's
// version.
func Write[T any](w io.Writer, rows []T) error {
	pw := parquet.NewGenericWriter[T](w,
		parquet.CreatedBy("goldgen", "1", "0"),
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(int64(max(len(rows), 1))))
	if _, err := pw.Write(rows); err != nil {
		return err
	}
	return pw.Close()
}

// ReadFile reads every row of the file. added are columns of T, or groups of them,
// that files of an older time lack: there they read as zero. Errors name the file.
func ReadFile[T any](path string, added ...string) ([]T, error) {
	var rows []T
	for row, err := range Rows[T](path, added...) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Rows streams the file's rows after checking its schema against T's; added is as
// for ReadFile. An error is the last thing that it yields, and names the file.
func Rows[T any](path string, added ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		if err := each(path, added, func(row T) bool { return yield(row, nil) }); err != nil {
			yield(zero, fmt.Errorf("%s: %w", path, err))
		}
	}
}

// Open opens a file to read it by other means than Rows; close the returned
// os.File when done. Calls of the library on it belong into Guard. Errors name
// the file.
func Open(path string) (*os.File, *parquet.File, error) {
	f, file, err := open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, file, nil
}

// OpenReader is Open for what is open already, size bytes long. Its errors name
// no file.
func OpenReader(r io.ReaderAt, size int64, options ...parquet.FileOption) (*parquet.File, error) {
	file, err := guarded(func() (*parquet.File, error) {
		if err := checkFooter(r, size); err != nil {
			return nil, err
		}
		return parquet.OpenFile(r, size, append(options, parquet.SkipBloomFilters(true))...)
	})
	if err != nil {
		return nil, fmt.Errorf("truncated or no Parquet file: %w", err)
	}
	return file, nil
}

// Guard calls do and turns a panic of the library, which damaged files can
// cause, into an error.
func Guard(do func() error) error {
	_, err := guarded(func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func each[T any](path string, added []string, yield func(T) bool) error {
	f, file, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := checkSchema(file.Schema(), parquet.SchemaOf(new(T)), added); err != nil {
		return err
	}
	reader, err := guarded(func() (*parquet.GenericReader[T], error) {
		return parquet.NewGenericReader[T](file), nil
	})
	if err != nil {
		return err
	}
	defer reader.Close()
	return readAll(reader, file.NumRows(), yield)
}

// readAll hands on the rows until yield declines. Fewer rows than the footer
// promises are an error.
func readAll[T any](reader *parquet.GenericReader[T], want int64, yield func(T) bool) error {
	var got int64
	for {
		rows := make([]T, batch) // fresh, as rows may share memory with the batch
		n, err := guarded(func() (int, error) { return reader.Read(rows) })
		for _, row := range rows[:n] {
			if !yield(row) {
				return nil
			}
		}
		got += int64(n)
		switch {
		case errors.Is(err, io.EOF) && got != want:
			return fmt.Errorf("%d rows where the footer says %d", got, want)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("row %d: %w", got, err)
		case n == 0:
			return fmt.Errorf("row %d: no progress", got)
		}
	}
}

func open(path string) (*os.File, *parquet.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, errors.Unwrap(err) // callers name the path
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("is a folder, not a Parquet file")
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	file, err := OpenReader(f, info.Size())
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, file, nil
}

// footerSize is that of the footer's length, 4 bytes little-endian, and the
// closing magic number.
const footerSize = 8

// checkFooter looks at the end of the file: the library allocates as much as
// the length there says, up to 4 GB, before it finds that it is wrong.
func checkFooter(f io.ReaderAt, size int64) error {
	var tail [footerSize]byte
	if size < 2*footerSize {
		return errors.New("too short")
	}
	if _, err := f.ReadAt(tail[:], size-footerSize); err != nil {
		return err
	}
	if string(tail[4:]) != "PAR1" {
		return errors.New("it does not end as one")
	}
	if n := binary.LittleEndian.Uint32(tail[:4]); int64(n) > size-footerSize {
		return fmt.Errorf("footer of %d bytes in a file of %d", n, size)
	}
	return nil
}

// guarded is Guard for a call with a result.
func guarded[T any](do func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged Parquet: %v", r)
		}
	}()
	return do()
}

// CheckSchema reports the columns of want that got lacks or holds with another
// type or nesting. Further columns are no error.
func CheckSchema(got, want *parquet.Schema) error { return checkSchema(got, want, nil) }

func checkSchema(got, want *parquet.Schema, added []string) error {
	return eachColumn(got, want, added, func(g, w parquet.LeafColumn) error {
		if g.MaxDefinitionLevel != w.MaxDefinitionLevel || g.MaxRepetitionLevel != w.MaxRepetitionLevel {
			return errors.New("is nested or optional in another way")
		}
		return sameType(g, w)
	})
}

// CheckTypes is CheckSchema for files that others wrote: without optionality,
// and by physical type, since writers differ in what they add to it (text may
// be plain bytes, INT64 a signed one).
func CheckTypes(got, want *parquet.Schema) error {
	return eachColumn(got, want, nil, func(g, w parquet.LeafColumn) error {
		if g.MaxRepetitionLevel != w.MaxRepetitionLevel {
			return errors.New("is nested in another way")
		}
		if got, want := g.Node.Type().Kind(), w.Node.Type().Kind(); got != want {
			return fmt.Errorf("has type %s, want %s", got, want)
		}
		return nil
	})
}

func sameType(g, w parquet.LeafColumn) error {
	if got, want := g.Node.Type().String(), w.Node.Type().String(); got != want {
		return fmt.Errorf("has type %s, want %s", got, want)
	}
	return nil
}

// eachColumn runs check on every column of want, and joins what is wrong. That got
// lacks what was added is not.
func eachColumn(got, want *parquet.Schema, added []string, check func(g, w parquet.LeafColumn) error) error {
	var problems []error
	for _, path := range want.Columns() {
		w, _ := want.Lookup(path...)
		g, ok := got.Lookup(path...)
		if !ok && within(columnName(path), added) {
			continue
		} else if !ok {
			problems = append(problems, fmt.Errorf("column %q is missing", columnName(path)))
		} else if err := check(g, w); err != nil {
			problems = append(problems, fmt.Errorf("column %q %w", columnName(path), err))
		}
	}
	return errors.Join(problems...)
}

// within reports whether a column is one of those named, or in one of their groups.
func within(column string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return column == name || strings.HasPrefix(column, name+".") })
}

// columnName is the path as one says it, without the format's list.element.
func columnName(path []string) string {
	name := path[0]
	for i := 1; i < len(path); i++ {
		if path[i] == "list" && i+1 < len(path) && path[i+1] == "element" {
			i++
			continue
		}
		name += "." + path[i]
	}
	return name
}
