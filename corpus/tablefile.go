package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// Bounds of what is held before it is written.
const (
	batchRows     = 256
	groupRows     = 50_000
	groupBytes    = 64 << 20 // of text in a row group
	pageBytes     = 128 << 10
	createdByName = "goldgen"
)

// tableWriter writes rows of one type to a Parquet file in row groups of
// bounded size, and hashes the file on the way.
type tableWriter[T any] struct {
	file  *os.File
	hash  hash.Hash
	out   *parquet.GenericWriter[T]
	batch []T
	rows  int
	bytes int
}

func newTableWriter[T any](path string) (*tableWriter[T], error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	out := parquet.NewGenericWriter[T](io.MultiWriter(f, h),
		parquet.CreatedBy(createdByName, "1", "parquet"),
		parquet.Compression(&parquet.Snappy), parquet.PageBufferSize(pageBytes), parquet.DataPageStatistics(false),
		parquet.SkipPageBounds("text"), parquet.SkipPageBounds("text_digest"))
	return &tableWriter[T]{file: f, hash: h, out: out, batch: make([]T, 0, batchRows)}, nil
}

// add writes a row; size is about how many bytes it holds.
func (w *tableWriter[T]) add(row T, size int) error {
	w.batch = append(w.batch, row)
	w.rows++
	w.bytes += size
	full := w.rows >= groupRows || w.bytes >= groupBytes
	if len(w.batch) < batchRows && !full {
		return nil
	}
	if err := w.writeBatch(); err != nil || !full {
		return err
	}
	w.rows, w.bytes = 0, 0
	return w.named(w.out.Flush())
}

func (w *tableWriter[T]) writeBatch() error {
	_, err := w.out.Write(w.batch)
	clear(w.batch)
	w.batch = w.batch[:0]
	return w.named(err)
}

func (w *tableWriter[T]) named(err error) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name(), err)
	}
	return nil
}

// close ends the file, flushes it to disk and says what it is.
func (w *tableWriter[T]) close() (FileInfo, error) {
	err := w.writeBatch()
	if err == nil {
		err = w.named(w.out.Close())
	}
	if err == nil {
		err = w.named(w.file.Sync())
	}
	st, statErr := w.file.Stat()
	if err = errors.Join(err, statErr, w.file.Close()); err != nil {
		return FileInfo{}, err
	}
	name := filepath.Base(w.file.Name())
	return FileInfo{Name: name, Size: st.Size(), SHA256: hex.EncodeToString(w.hash.Sum(nil))}, nil
}

// abort closes a file that will not be used; after close it does nothing.
func (w *tableWriter[T]) abort() { w.file.Close() }

// tableRows yields the rows of a file that tableWriter wrote. A row is valid
// until the next one is asked for; its strings stay.
func tableRows[T any](path string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		f, pf, err := openTable[T](path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		reader := parquet.NewGenericReader[T](pf)
		defer reader.Close()
		rows := make([]T, batchRows)
		left := pf.NumRows()
		for left > 0 {
			clear(rows)
			var n int
			err := parquetfile.Guard(func() (err error) { n, err = reader.Read(rows); return err })
			if err != nil && !errors.Is(err, io.EOF) || n == 0 {
				yield(nil, fmt.Errorf("%s: damaged: %d rows missing: %w", path, left, orShort(err)))
				return
			}
			for i := range rows[:n] {
				if !yield(&rows[i], nil) {
					return
				}
			}
			left -= int64(n)
		}
	}
}

func orShort(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// openTable opens a Parquet file whose columns must be those of T: a missing
// column would read as zeros.
func openTable[T any](path string) (*os.File, *parquet.File, error) {
	f, pf, err := parquetfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if want := parquet.SchemaOf(new(T)); !parquet.EqualNodes(want, pf.Schema()) {
		f.Close()
		return nil, nil, fmt.Errorf("%s: its columns are not those of format %d", path, SnapshotFormat)
	}
	return f, pf, nil
}
