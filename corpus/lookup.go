package corpus

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// ChunksAt reads the chunks at the given rows (ChunkInfo.Row), in the order
// asked, without reading the others.
func (s *Snapshot) ChunksAt(rows []int64) ([]Chunk, error) {
	found := map[int64]Chunk{}
	err := rowsAt(filepath.Join(s.dir, chunksFile), rows, func(i int64, r *chunkRow) { found[i] = r.chunk() })
	if err != nil {
		return nil, err
	}
	chunks := make([]Chunk, len(rows))
	for i, row := range rows {
		chunks[i] = found[row]
	}
	return chunks, nil
}

// ChunksByID reads the chunks with the given ids; an id that is not there is
// missing from the map. The column of ids is scanned once, the rest is read for
// what was asked alone.
func (s *Snapshot) ChunksByID(ids []string) (map[string]Chunk, error) {
	path := filepath.Join(s.dir, chunksFile)
	rows, err := findRows[chunkRow](path, "chunk_id", ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]Chunk, len(rows))
	err = rowsAt(path, rows, func(_ int64, r *chunkRow) { found[r.ChunkID] = r.chunk() })
	return found, err
}

// DocumentsByID reads the documents with the given ids; an id that is not there
// is missing from the map.
func (s *Snapshot) DocumentsByID(ids []string) (map[string]Document, error) {
	path := filepath.Join(s.dir, documentsFile)
	rows, err := findRows[documentRow](path, "doc_id", ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]Document, len(rows))
	err = rowsAt(path, rows, func(_ int64, r *documentRow) { found[r.DocID] = r.document() })
	return found, err
}

// ChunksOfDocuments reads the chunks of the given documents, in order, by
// document id.
func (s *Snapshot) ChunksOfDocuments(ids []string) (map[string][]Chunk, error) {
	path := filepath.Join(s.dir, chunksFile)
	rows, err := findRows[chunkRow](path, "doc_id", ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]Chunk, len(ids))
	err = rowsAt(path, rows, func(_ int64, r *chunkRow) { found[r.DocID] = append(found[r.DocID], r.chunk()) })
	return found, err
}

// findRows scans one column for the given values and returns their rows in order.
func findRows[T any](path, column string, ids []string) ([]int64, error) {
	f, pf, err := openTable[T](path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	wanted := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		wanted[id] = struct{}{}
	}
	var rows []int64
	for hits, err := range ordered(context.Background(), rowGroups(pf), func(g rowGroup) (hits []int64, err error) {
		err = parquetfile.Guard(func() error {
			c := &columnReader{group: g}
			c.each(column, func(i int, v parquet.Value) {
				if _, ok := wanted[string(v.ByteArray())]; ok {
					hits = append(hits, g.first+int64(i))
				}
			})
			return c.err
		})
		return hits, err
	}) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		rows = append(rows, hits...)
	}
	return rows, nil
}

// rowsAt reads single rows of a file in ascending order, each once.
func rowsAt[T any](path string, rows []int64, f func(row int64, r *T)) error {
	file, pf, err := openTable[T](path)
	if err != nil {
		return err
	}
	defer file.Close()
	rows = slices.Clone(rows)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	if n := len(rows); n > 0 && (rows[0] < 0 || rows[n-1] >= pf.NumRows()) {
		return fmt.Errorf("%s: rows %d to %d asked of %d", path, rows[0], rows[n-1], pf.NumRows())
	}
	reader := parquet.NewGenericReader[T](pf)
	defer reader.Close()
	next := int64(0)
	for _, row := range rows {
		one := make([]T, 1)
		err := parquetfile.Guard(func() error {
			if row != next {
				if err := reader.SeekToRow(row); err != nil {
					return err
				}
			}
			if n, err := reader.Read(one); n != 1 {
				return orShort(err)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", path, row, err)
		}
		next = row + 1
		f(row, &one[0])
	}
	return nil
}
