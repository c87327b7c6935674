package retrieve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadRun reads a run file: Parquet if its name ends in .parquet, else TREC.
// Errors name the file and the line or row.
func ReadRun(path string) (*Run, error) {
	t, err := ReadTable(path)
	if err != nil {
		return nil, err
	}
	return t.Run(), nil
}

// ReadTable is ReadRun for who needs the run compact.
func ReadTable(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("run %s: is a folder", path)
	}
	read := func() (*Table, error) { return readTREC(f, path) }
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		read = func() (*Table, error) { return readParquet(f, info.Size(), path) }
	}
	t, err := read()
	if err == nil && t.Rows() == 0 {
		return nil, fmt.Errorf("run %s: holds no result", path)
	}
	return t, err
}

// maxLine bounds a line of a TREC run, in bytes.
const maxLine = 1 << 20

// ReadTREC reads a TREC run, lines of "query Q0 document rank score tag" in any
// order; a byte order mark, what follows the tag, blank lines and lines that
// begin with # do not count. A line that an id with a space has moved is an
// error. Results are ordered as trec_eval 10 does: score (double precision)
// descending, then id descending by bytes; the rank column is not read. name
// stands for the reader in errors.
func ReadTREC(r io.Reader, name string) (*Run, error) {
	t, err := readTREC(r, name)
	if err != nil {
		return nil, err
	}
	return t.Run(), nil
}

func readTREC(r io.Reader, name string) (*Table, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	var read rows
	tag := ""
	line := 1
	for ; lines.Scan(); line++ {
		text := lines.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		row, err := parseTREC(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if row.query == nil {
			continue
		}
		if tag == "" {
			tag = string(row.tag)
		}
		read.of(read.names.AddBytes(row.query))
		read.id = append(read.id, read.ids.Add(row.id))
		read.scores = append(read.scores, row.score)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	t := read.table(byScoreDescID)
	t.Tag = tag
	return t, nil
}

// trecRow is a line's fields; query is nil for a line without any.
type trecRow struct {
	query, id, tag []byte
	score          float64
}

func parseTREC(line []byte) (trecRow, error) {
	var fields [6][]byte
	n, more := cutFields(line, &fields)
	if n == 0 || fields[0][0] == '#' {
		return trecRow{}, nil
	}
	if n < len(fields) {
		return trecRow{}, fmt.Errorf("%d fields, a run's line has 6: query Q0 document rank score tag", n)
	}
	if more && (!isNumber(fields[3]) || isNumber(fields[5])) {
		return trecRow{}, fmt.Errorf("more than 6 fields: document %q has rank %q and tag %q; ids cannot hold white space here (a Parquet run can)",
			fields[2], fields[3], fields[5])
	}
	score, err := strconv.ParseFloat(string(fields[4]), 64)
	if err != nil || bytes.IndexByte(fields[4], '_') >= 0 { // which Go's numbers may have
		return trecRow{}, fmt.Errorf("score %q is no number", fields[4])
	}
	if err := finite(score); err != nil {
		return trecRow{}, err
	}
	return trecRow{query: fields[0], id: fields[2], tag: fields[5], score: score}, nil
}

func isNumber(field []byte) bool {
	_, err := strconv.ParseFloat(string(field), 64)
	return err == nil
}

// cutFields splits a line at white space and returns how many fields it found,
// and whether more follow the last one.
func cutFields(line []byte, fields *[6][]byte) (n int, more bool) {
	i := 0
	for ; n < len(fields); n++ {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !isSpace(line[i]) {
			i++
		}
		if i == start {
			break
		}
		fields[n] = line[start:i]
	}
	return n, len(bytes.TrimSpace(line[i:])) > 0
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

func finite(score float64) error {
	if math.IsNaN(score) || math.IsInf(score, 0) {
		return fmt.Errorf("score %v is not finite", score)
	}
	return nil
}

// WriteTREC writes a run as TREC lines, in its order. Since readers order TREC
// runs by score and then id descending, ties may be read back in another order
// than a run from elsewhere has. An id with white space cannot be written.
func WriteTREC(w io.Writer, run *Run) error {
	out := bufio.NewWriter(w)
	tag := run.Tag
	if tag == "" {
		tag = "goldgen"
	}
	for i, query := range run.Queries {
		ranking := run.Rankings[i]
		for j, id := range ranking.IDs {
			if err := errors.Join(trecWord(query), trecWord(id), trecWord(tag)); err != nil {
				return err
			}
			score := strconv.FormatFloat(ranking.Scores[j], 'g', -1, 64)
			if _, err := fmt.Fprintf(out, "%s Q0 %s %d %s %s\n", query, id, j+1, score, tag); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func trecWord(s string) error {
	if s == "" || s[0] == '#' || strings.ContainsAny(s, " \t\r\n\v\f") {
		return fmt.Errorf("%q cannot stand in a TREC run: it is empty, begins with # or has white space", s)
	}
	return nil
}
