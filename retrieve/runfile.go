package retrieve

import (
	"errors"
	"io"
)

// ReadRun reads a run file: Parquet if its name ends in .parquet, else TREC.
// Errors name the file and the line or row.
func ReadRun(path string) (*Run, error) { return nil, errors.New("not built yet") }

// ReadTREC reads a TREC run, lines of "query Q0 document rank score tag". name
// stands for the reader in errors.
func ReadTREC(r io.Reader, name string) (*Run, error) { return nil, errors.New("not built yet") }

// WriteTREC writes a run as TREC lines.
func WriteTREC(w io.Writer, run *Run) error { return errors.New("not built yet") }

// WriteParquet writes a run with the columns case_id, rank, chunk_id, score.
func WriteParquet(w io.Writer, run *Run) error { return errors.New("not built yet") }
