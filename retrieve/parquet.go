package retrieve

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// ReadParquet reads a run of columns case_id, rank, chunk_id and score (strings,
// an integer, a floating-point number, none null); further ones do not count.
// Results are ordered by score descending, then rank, then id. name stands for
// the file in errors.
func ReadParquet(r io.ReaderAt, size int64, name string) (*Run, error) {
	read, err := readRunTable(r, size)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	return read.run(byScoreRankID), nil
}

// readRunTable reads the four columns side by side: decoding is most of the
// time.
func readRunTable(r io.ReaderAt, size int64) (*rows, error) {
	file, err := parquetfile.OpenReader(r, size, parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	t := runTable{file: file, hint: int(min(file.NumRows(), 1<<21))}
	if err := parquetfile.Guard(t.check); err != nil {
		return nil, err
	}
	var workers errgroup.Group
	for _, column := range []func() error{t.readIDs, t.readScores, t.readRanks, t.readQueries} {
		workers.Go(func() error { return parquetfile.Guard(column) })
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return t.finish()
}

// runTable is a run in Parquet while it is read.
type runTable struct {
	file    *parquet.File
	hint    int
	columns [4]int // case_id, rank, chunk_id, score
	rows    rows
	names   *namer
}

// check finds the columns and compares their types: the library would read a
// missing one as zero.
func (t *runTable) check() error {
	var errs []error
	for i, want := range [...]struct {
		name  string
		kinds []parquet.Kind
		what  string
	}{
		{"case_id", []parquet.Kind{parquet.ByteArray}, "a string"},
		{"rank", []parquet.Kind{parquet.Int32, parquet.Int64}, "an integer"},
		{"chunk_id", []parquet.Kind{parquet.ByteArray}, "a string"},
		{"score", []parquet.Kind{parquet.Double, parquet.Float}, "a floating-point number"},
	} {
		leaf, ok := t.file.Schema().Lookup(want.name)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("column %s is missing", want.name))
		case leaf.MaxRepetitionLevel > 0 || !slices.Contains(want.kinds, leaf.Node.Type().Kind()):
			errs = append(errs, fmt.Errorf("column %s is %s, not %s", want.name, leaf.Node.Type(), want.what))
		default:
			t.columns[i] = leaf.ColumnIndex
		}
	}
	return errors.Join(errs...)
}

// page is what one page of a column holds: values, or indexes into the
// dictionary's.
type page struct {
	values     encoding.Values
	dictionary parquet.Dictionary // nil where values are plain
}

// indexes are the page's values where it has a dictionary.
func (p *page) indexes() []int32 { return p.values.Int32() }

// eachPage calls f with each page of a column, row group after row group, and
// with a change of row group for dictionaries kept between pages.
func (t *runTable) eachPage(column int, name string, f func(p page, group int) error) error {
	for group, g := range t.file.RowGroups() {
		if err := eachPageOf(g.ColumnChunks()[column], func(p page) error { return f(p, group) }); err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
	}
	return nil
}

func eachPageOf(chunk parquet.ColumnChunk, f func(page) error) error {
	pages := chunk.Pages()
	defer pages.Close()
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n := p.NumNulls(); n > 0 {
			return fmt.Errorf("has %d nulls in one page", n)
		}
		err = f(page{p.Data(), p.Dictionary()})
		parquet.Release(p)
		if err != nil {
			return err
		}
	}
}

func (t *runTable) readScores() error {
	t.rows.scores = make([]float64, 0, t.hint)
	return t.eachPage(t.columns[3], "score", func(p page, _ int) error {
		from := len(t.rows.scores)
		t.rows.scores = appendScores(t.rows.scores, &p)
		for i, score := range t.rows.scores[from:] {
			if err := finite(score); err != nil {
				return fmt.Errorf("row %d: %w", from+i+1, err)
			}
		}
		return nil
	})
}

func appendScores(dst []float64, p *page) []float64 {
	if p.dictionary == nil {
		return appendFloats(dst, p.values)
	}
	dictionary := appendFloats(nil, p.dictionary.Page().Data())
	for _, i := range p.indexes() {
		dst = append(dst, dictionary[i])
	}
	return dst
}

func appendFloats(dst []float64, values encoding.Values) []float64 {
	if values.Kind() == encoding.Double {
		return append(dst, values.Double()...)
	}
	for _, x := range values.Float() {
		dst = append(dst, float64(x))
	}
	return dst
}

func (t *runTable) readRanks() error {
	t.rows.ranks = make([]int64, 0, t.hint)
	return t.eachPage(t.columns[1], "rank", func(p page, _ int) error {
		if p.dictionary == nil {
			t.rows.ranks = appendInts(t.rows.ranks, p.values)
			return nil
		}
		dictionary := appendInts(nil, p.dictionary.Page().Data())
		for _, i := range p.indexes() {
			t.rows.ranks = append(t.rows.ranks, dictionary[i])
		}
		return nil
	})
}

func appendInts(dst []int64, values encoding.Values) []int64 {
	if values.Kind() == encoding.Int64 {
		return append(dst, values.Int64()...)
	}
	for _, x := range values.Int32() {
		dst = append(dst, int64(x))
	}
	return dst
}

// readIDs shares one string for each entry of a dictionary, and one large one
// for each plain page.
func (t *runTable) readIDs() error {
	t.rows.ids = make([]string, 0, t.hint)
	var dictionary []string
	of := -1
	return t.eachPage(t.columns[2], "chunk_id", func(p page, group int) error {
		if p.dictionary == nil {
			t.rows.ids = appendStrings(t.rows.ids, p.values)
			return nil
		}
		if of != group {
			dictionary, of = appendStrings(nil, p.dictionary.Page().Data()), group
		}
		for _, i := range p.indexes() {
			t.rows.ids = append(t.rows.ids, dictionary[i])
		}
		return nil
	})
}

func appendStrings(dst []string, values encoding.Values) []string {
	data, offsets := values.ByteArray()
	if len(offsets) == 0 {
		return dst
	}
	base := offsets[0]
	text := string(data[base:offsets[len(offsets)-1]])
	for i := 1; i < len(offsets); i++ {
		dst = append(dst, text[offsets[i-1]-base:offsets[i]-base])
	}
	return dst
}

func (t *runTable) readQueries() error {
	t.names = newNamer()
	t.rows.query = make([]int32, 0, t.hint)
	var dictionary []int32 // query of an entry, -1 not met yet
	of := -1
	return t.eachPage(t.columns[0], "case_id", func(p page, group int) error {
		if p.dictionary == nil {
			t.appendPlainQueries(p.values)
			return nil
		}
		values := p.dictionary.Page().Data()
		data, offsets := values.ByteArray()
		if of != group {
			dictionary, of = unmet(len(offsets)-1), group
		}
		for _, i := range p.indexes() {
			if dictionary[i] < 0 {
				dictionary[i] = t.names.of(data[offsets[i]:offsets[i+1]])
			}
			t.rows.query = append(t.rows.query, dictionary[i])
		}
		return nil
	})
}

func (t *runTable) appendPlainQueries(values encoding.Values) {
	data, offsets := values.ByteArray()
	for i := 1; i < len(offsets); i++ {
		t.rows.query = append(t.rows.query, t.names.of(data[offsets[i-1]:offsets[i]]))
	}
}

func unmet(n int) []int32 { return slices.Repeat([]int32{-1}, n) }

// finish checks that the columns are of one length.
func (t *runTable) finish() (*rows, error) {
	t.rows.names = t.names.names
	n := len(t.rows.ids)
	if len(t.rows.scores) != n || len(t.rows.ranks) != n || len(t.rows.query) != n || int64(n) != t.file.NumRows() {
		return nil, fmt.Errorf("is damaged: its columns have %d, %d, %d and %d rows, the footer says %d",
			len(t.rows.query), len(t.rows.ranks), n, len(t.rows.scores), t.file.NumRows())
	}
	return &t.rows, nil
}

// runRow is a row of a run in Parquet.
type runRow struct {
	CaseID  string  `parquet:"case_id,dict"`
	Rank    int32   `parquet:"rank"`
	ChunkID string  `parquet:"chunk_id,dict"`
	Score   float64 `parquet:"score"`
}

// WriteParquet writes a run with the columns case_id, rank, chunk_id, score.
// Ranks count from 1.
func WriteParquet(w io.Writer, run *Run) error {
	out := parquet.NewGenericWriter[runRow](w, parquet.CreatedBy("goldgen", "", ""), parquet.Compression(&parquet.Snappy))
	buffer := make([]runRow, 0, 1024)
	for i, query := range run.Queries {
		ranking := run.Rankings[i]
		for j, id := range ranking.IDs {
			buffer = append(buffer, runRow{query, int32(j + 1), id, ranking.Scores[j]})
			if len(buffer) == cap(buffer) {
				if _, err := out.Write(buffer); err != nil {
					return err
				}
				buffer = buffer[:0]
			}
		}
	}
	if _, err := out.Write(buffer); err != nil {
		return err
	}
	return out.Close()
}
