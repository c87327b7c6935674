package corpus

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// ChunkInfo is what sampling needs of a chunk, without its text.
//
// Its strings share memory with those of neighbouring rows: clone what is kept
// of a large snapshot.
type ChunkInfo struct {
	Row        int64 // ordinal in the snapshot, from 0
	ChunkID    string
	DocID      string
	Category   string
	Language   string
	Source     string // the document's source, for a folder its slash path
	Tokens     int
	Flags      []string // shared: do not change
	ExactGroup string
	NearGroup  string
	TextDigest string
}

// ChunkInfos yields what sampling needs of each chunk, in snapshot order. Only
// those columns are read, several row groups at once.
func (s *Snapshot) ChunkInfos() iter.Seq2[ChunkInfo, error] {
	return func(yield func(ChunkInfo, error) bool) {
		path := filepath.Join(s.dir, chunksFile)
		f, pf, err := openTable[chunkRow](path)
		if err != nil {
			yield(ChunkInfo{}, err)
			return
		}
		defer f.Close()
		var done sync.Pool // of *[]ChunkInfo, to be filled again
		for infos, err := range ordered(context.Background(), rowGroups(pf), func(g rowGroup) ([]ChunkInfo, error) {
			var spent []ChunkInfo
			if p, ok := done.Get().(*[]ChunkInfo); ok {
				spent = *p
			}
			return decodeInfos(path, g, spent)
		}) {
			if err != nil {
				yield(ChunkInfo{}, err)
				return
			}
			for i := range infos {
				if !yield(infos[i], nil) {
					return
				}
			}
			done.Put(&infos)
		}
	}
}

// rowGroup is a row group and the ordinal of its first row.
type rowGroup struct {
	parquet.RowGroup
	first int64
}

func rowGroups(pf *parquet.File) iter.Seq2[rowGroup, error] {
	return func(yield func(rowGroup, error) bool) {
		first := int64(0)
		for _, g := range pf.RowGroups() {
			if !yield(rowGroup{g, first}, nil) {
				return
			}
			first += g.NumRows()
		}
	}
}

// decodeInfos reads a row group, into spent where that is large enough.
func decodeInfos(path string, g rowGroup, spent []ChunkInfo) ([]ChunkInfo, error) {
	infos := slices.Grow(spent[:0], int(g.NumRows()))[:g.NumRows()]
	for i := range infos {
		infos[i].Row = g.first + int64(i)
	}
	if err := parquetfile.Guard(func() error { return decodeColumns(g, infos) }); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return infos, nil
}

func decodeColumns(g rowGroup, infos []ChunkInfo) error {
	c := &columnReader{group: g}
	c.strings("chunk_id", func(i int) *string { return &infos[i].ChunkID })
	c.repeats("doc_id", func(i int) *string { return &infos[i].DocID })
	c.repeats("category", func(i int) *string { return &infos[i].Category })
	c.repeats("language", func(i int) *string { return &infos[i].Language })
	c.repeats("source", func(i int) *string { return &infos[i].Source })
	c.hexes("exact_group", func(i int) *string { return &infos[i].ExactGroup })
	c.hexes("near_group", func(i int) *string { return &infos[i].NearGroup })
	c.hexes("text_digest", func(i int) *string { return &infos[i].TextDigest })
	c.each("tokens", func(i int, v parquet.Value) { infos[i].Tokens = int(v.Int32()) })
	flags := map[string][]string{"": nil}
	c.each("flags", func(i int, v parquet.Value) {
		list, known := flags[string(v.ByteArray())]
		if !known {
			joined := string(v.ByteArray())
			list = strings.Split(joined, ",")
			flags[joined] = list
		}
		infos[i].Flags = list
	})
	return c.err
}

// columnReader reads flat, required columns of a row group; the first error stays.
type columnReader struct {
	group rowGroup
	err   error
}

// each calls f with every value of a column. The value is valid until f returns.
func (c *columnReader) each(column string, f func(i int, v parquet.Value)) {
	c.pages(column, func(base int, values []parquet.Value) {
		for i, v := range values {
			f(base+i, v)
		}
	})
}

// pages calls f with the values of a column, some at a time.
func (c *columnReader) pages(column string, f func(base int, values []parquet.Value)) {
	if c.err != nil {
		return
	}
	leaf, ok := c.group.Schema().Lookup(column)
	if !ok {
		c.err = fmt.Errorf("no column %q", column)
		return
	}
	pages := c.group.ColumnChunks()[leaf.ColumnIndex].Pages()
	defer pages.Close()
	base, buf := 0, make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if err == nil {
			base, err = readPage(page, base, int(c.group.NumRows()), buf, f)
		}
		if errors.Is(err, io.EOF) && base == int(c.group.NumRows()) {
			return
		}
		if err != nil {
			c.err = fmt.Errorf("column %q: damaged at row %d: %w", column, c.group.first+int64(base), err)
			return
		}
	}
}

func readPage(page parquet.Page, base, limit int, buf []parquet.Value, f func(base int, values []parquet.Value)) (int, error) {
	defer parquet.Release(page)
	reader := page.Values()
	for {
		n, err := reader.ReadValues(buf)
		if base+n > limit {
			return base, errors.New("more values than rows")
		}
		f(base, buf[:n])
		base += n
		if errors.Is(err, io.EOF) {
			return base, nil
		}
		if err != nil || n == 0 {
			return base, orShort(err)
		}
	}
}

// strings reads a column of distinct strings; those read together share memory.
func (c *columnReader) strings(column string, to func(i int) *string) {
	var arena []byte
	c.pages(column, func(base int, values []parquet.Value) {
		arena = arena[:0]
		for _, v := range values {
			arena = append(arena, v.ByteArray()...)
		}
		all := string(arena)
		for i, v := range values {
			n := len(v.ByteArray())
			*to(base + i), all = all[:n], all[n:]
		}
	})
}

// repeats reads a column of few distinct strings, each kept once.
func (c *columnReader) repeats(column string, to func(i int) *string) {
	known := map[string]string{}
	last := ""
	c.each(column, func(i int, v parquet.Value) {
		if b := v.ByteArray(); string(b) != last {
			s, ok := known[string(b)]
			if !ok {
				s = string(b)
				known[s] = s
			}
			last = s
		}
		*to(i) = last
	})
}

// hexes reads a column of numbers or byte strings as hex digits.
func (c *columnReader) hexes(column string, to func(i int) *string) {
	var arena []byte
	var number [8]byte
	c.pages(column, func(base int, values []parquet.Value) {
		arena = arena[:0]
		for _, v := range values {
			if v.Kind() == parquet.Int64 {
				arena = hex.AppendEncode(arena, bigEndian(&number, v.Uint64()))
				continue
			}
			arena = hex.AppendEncode(arena, v.ByteArray())
		}
		all, n := string(arena), len(arena)/max(1, len(values))
		for i := range values {
			*to(base + i) = all[i*n : (i+1)*n]
		}
	})
}

func bigEndian(b *[8]byte, v uint64) []byte {
	for i := range b {
		b[i] = byte(v >> (56 - 8*i))
	}
	return b[:]
}
