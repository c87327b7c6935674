package retrieve

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// ReadParquet reads a run of columns case_id, rank, chunk_id and score (strings,
// an integer, a floating-point number, none null); further ones do not count.
// Results are ordered by score descending, then rank, then id. name stands for
// the file in errors.
func ReadParquet(r io.ReaderAt, size int64, name string) (*Run, error) {
	t, err := readParquet(r, size, name)
	if err != nil {
		return nil, err
	}
	return t.Run(), nil
}

func readParquet(r io.ReaderAt, size int64, name string) (*Table, error) {
	read, err := readRunTable(r, size)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	return read.table(byScoreRankID), nil
}

// readRunTable reads the four columns side by side: decoding is most of the
// time.
func readRunTable(r io.ReaderAt, size int64) (*rows, error) {
	file, err := parquetfile.OpenReader(r, size, parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	if err := parquetfile.Guard(func() error { return checkColumns(file.Schema()) }); err != nil {
		return nil, err
	}
	t := runTable{file, int(min(file.NumRows(), 1<<21))}
	var read rows
	var workers errgroup.Group
	for _, column := range []func(*rows) error{t.readIDs, t.readScores, t.readRanks, t.readQueries} {
		workers.Go(func() error { return parquetfile.Guard(func() error { return column(&read) }) })
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return &read, nil
}

// checkColumns looks for the columns and compares their types: the library
// would read a missing one as zero.
func checkColumns(schema *parquet.Schema) error {
	var errs []error
	for _, want := range [...]struct {
		name  string
		kinds []parquet.Kind
		what  string
	}{
		{"case_id", []parquet.Kind{parquet.ByteArray}, "a string"},
		{"rank", []parquet.Kind{parquet.Int32, parquet.Int64}, "an integer"},
		{"chunk_id", []parquet.Kind{parquet.ByteArray}, "a string"},
		{"score", []parquet.Kind{parquet.Double, parquet.Float}, "a floating-point number"},
	} {
		leaf, ok := schema.Lookup(want.name)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("column %s is missing", want.name))
		case leaf.MaxRepetitionLevel > 0 || !slices.Contains(want.kinds, leaf.Node.Type().Kind()):
			errs = append(errs, fmt.Errorf("column %s is %s, not %s", want.name, leaf.Node.Type(), want.what))
		}
	}
	return errors.Join(errs...)
}

// runTable is a run in Parquet while it is read.
type runTable struct {
	file *parquet.File
	size int // how many rows to make room for
}

func (t *runTable) readIDs(to *rows) (err error) {
	to.id, err = parquetfile.Texts(t.file, "chunk_id", &to.ids, make([]uint32, 0, t.size))
	return err
}

func (t *runTable) readScores(to *rows) error {
	to.scores = make([]float64, 0, t.size)
	if err := parquetfile.Floats(t.file, "score", func(x float64) { to.scores = append(to.scores, x) }); err != nil {
		return err
	}
	for i, score := range to.scores {
		if err := finite(score); err != nil {
			return fmt.Errorf("column score: row %d: %w", i+1, err)
		}
	}
	return nil
}

func (t *runTable) readRanks(to *rows) error {
	to.ranks = make([]int32, 0, t.size)
	var wide error
	err := parquetfile.Ints(t.file, "rank", func(n int64) {
		to.ranks = append(to.ranks, int32(n))
		if int64(int32(n)) != n && wide == nil {
			wide = fmt.Errorf("column rank: row %d: %d is out of range", len(to.ranks), n)
		}
	})
	return cmp.Or(err, wide)
}

func (t *runTable) readQueries(to *rows) error {
	return parquetfile.Strings(t.file, "case_id", func(name string) { to.of(to.names.Add(name)) })
}

// runRow is a row of a run in Parquet.
type runRow struct {
	CaseID  string  `parquet:"case_id,dict"`
	Rank    int32   `parquet:"rank"`
	ChunkID string  `parquet:"chunk_id,dict"`
	Score   float64 `parquet:"score"`
}

// dictionaryBytes is how large a dictionary of ids may become, as other writers
// have it: one of a million ids saves no space and takes a reader's memory.
const dictionaryBytes = 1 << 20

// WriteParquet writes a run with the columns case_id, rank, chunk_id, score.
// Ranks count from 1.
func WriteParquet(w io.Writer, run *Run) error {
	out := parquet.NewGenericWriter[runRow](w, parquet.CreatedBy("goldgen", "", ""), parquet.Compression(&parquet.Snappy),
		parquet.DictionaryMaxBytes(dictionaryBytes))
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
