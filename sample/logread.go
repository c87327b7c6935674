package sample

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/plaintext"
)

// Search is one record of a query log.
type Search struct {
	Query   string
	Count   int        // how often it was asked; 1 where the log does not say
	At      *time.Time // nil where it does not
	Clicked []string   // chunk or document ids that were opened or cited
}

// BadRecord is a record of a query log that cannot be read. The log goes on
// after it.
type BadRecord struct {
	Where string // file and line or row
	Why   string
}

func (e *BadRecord) Error() string { return e.Where + ": " + e.Why }

// Fields of a query log that may be mapped to names of its own.
const (
	FieldQuery   = "query"
	FieldCount   = "count"
	FieldTime    = "time"
	FieldClicked = "clicked"
)

const (
	// maxRecord is the longest record that is read, in bytes: whoever searches
	// types less.
	maxRecord = 1 << 20
	// maxQuoted is how far a quoted field of a CSV file may run over lines
	// before its first line counts as broken.
	maxQuoted = 1 << 16
)

// ReadLog yields the records of a query log: JSON lines, CSV with a header, or
// Parquet, by the file's name. fields maps query, count, time and clicked to the
// log's own names. A *BadRecord error is one record; any other ends the log. Of
// the file, only one record at a time is in memory.
func ReadLog(path string, fields map[string]string) iter.Seq2[Search, error] {
	return func(yield func(Search, error) bool) {
		for row, err := range logRows(path, fields) {
			var s Search
			if err == nil {
				if s, err = readSearch(row, fields); err != nil {
					err = &BadRecord{row.Where, err.Error()}
				}
			}
			_, bad := errors.AsType[*BadRecord](err)
			if !yield(s, err) || err != nil && !bad {
				return
			}
		}
	}
}

func logRows(path string, fields map[string]string) iter.Seq2[corpus.TableRow, error] {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl", ".ndjson":
		return jsonRows(path)
	case ".csv":
		return csvRows(path, fields)
	case ".parquet":
		return corpus.ParquetRows(path, fields, queryNames...)
	}
	return func(yield func(corpus.TableRow, error) bool) {
		yield(corpus.TableRow{}, fmt.Errorf("%s: a query log is a .jsonl, .csv or .parquet file", path))
	}
}

var queryNames = []string{FieldQuery, "q", "text"}

func readSearch(row corpus.TableRow, fields map[string]string) (s Search, err error) {
	if s.Query, err = row.Text(fields, queryNames...); err != nil {
		return s, err
	}
	if strings.IndexByte(s.Query, 0) >= 0 {
		return s, fmt.Errorf("field %q: it has a NUL byte", FieldQuery)
	}
	count, err := row.Text(fields, FieldCount, "n")
	if err != nil {
		return s, err
	}
	if s.Count, err = searchCount(count); err != nil {
		return s, err
	}
	if s.At, err = row.Time(fields, FieldTime); err != nil {
		return s, err
	}
	s.Clicked = splitIDs(row.List(fields, FieldClicked, "cited"))
	return s, nil
}

func searchCount(text string) (int, error) {
	if strings.TrimSpace(text) == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("field %q: want a whole number from 1, not %q", FieldCount, text)
	}
	return n, nil
}

// splitIDs takes apart the ids that a CSV field joins by ; or |.
func splitIDs(list []string) []string {
	var ids []string
	for _, joined := range list {
		for _, id := range strings.FieldsFunc(joined, func(r rune) bool { return r == ';' || r == '|' }) {
			if id = strings.TrimSpace(id); id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func jsonRows(path string) iter.Seq2[corpus.TableRow, error] {
	return func(yield func(corpus.TableRow, error) bool) {
		for line, err := range logLines(path) {
			if err == nil && len(bytes.TrimSpace(line.text)) == 0 {
				continue
			}
			var row corpus.TableRow
			if err == nil {
				if row, err = corpus.ParseRow(line.where(path), line.text); err != nil {
					err = &BadRecord{line.where(path), strings.TrimPrefix(err.Error(), line.where(path)+": ")}
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// logLine is a physical line of a log. Its text is valid until the next one.
type logLine struct {
	number int
	text   []byte
}

func (l logLine) where(path string) string { return fmt.Sprintf("%s:%d", path, l.number) }

// logLines yields a file's lines without their ends. One that is longer than
// maxRecord is a bad record, and passed over without being held.
func logLines(path string) iter.Seq2[logLine, error] {
	return func(yield func(logLine, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(logLine{}, err)
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, maxRecord)
		if err := checkEncoding(path, r); err != nil {
			yield(logLine{}, err)
			return
		}
		for n := 1; ; n++ {
			text, err := r.ReadSlice('\n')
			size := len(text)
			for errors.Is(err, bufio.ErrBufferFull) {
				text, err = r.ReadSlice('\n')
				size += len(text)
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(logLine{}, fmt.Errorf("%s:%d: %w", path, n, err))
				return
			}
			line := logLine{n, bytes.TrimRight(text, "\r\n")}
			var bad error
			if size > maxRecord {
				bad = &BadRecord{line.where(path), fmt.Sprintf("a line of %d bytes, more than %d", size, maxRecord)}
			}
			if size > 0 && !yield(line, bad) || err != nil {
				return
			}
		}
	}
}

// checkEncoding takes off a UTF-8 mark and refuses a file that begins as one of
// another encoding does.
func checkEncoding(path string, r *bufio.Reader) error {
	head, _ := r.Peek(1 << 10) // of a shorter file, all of it
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, err := r.Discard(3)
		return err
	}
	if other := plaintext.Encoding(head); other != "" {
		return fmt.Errorf("%s: %s", path, other)
	}
	return nil
}
