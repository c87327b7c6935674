package sample

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/plaintext"
)

// csvRows reads a CSV file with a header, of columns divided by commas,
// semicolons or tabs. A quoted field may hold line ends; one that does not end
// leaves its first line behind as a bad record.
func csvRows(path string, fields map[string]string) iter.Seq2[corpus.TableRow, error] {
	return func(yield func(corpus.TableRow, error) bool) {
		next, stop := iter.Pull2(logLines(path))
		defer stop()
		c := csvReader{path: path, pull: next}
		err := c.readHeader(fields)
		for err == nil {
			var row corpus.TableRow
			var bad error
			if row, bad, err = c.row(); err == nil && !yield(row, bad) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(corpus.TableRow{}, err)
		}
	}
}

// csvReader joins lines to records.
type csvReader struct {
	path   string
	pull   func() (logLine, error, bool)
	ahead  []csvLine // read, and of no record yet
	header []string
	comma  rune
}

type csvLine struct {
	logLine
	bad error
}

// line gives the n-th line ahead; io.EOF behind the last.
func (c *csvReader) line(n int) (csvLine, error) {
	for len(c.ahead) <= n {
		line, err, ok := c.pull()
		if !ok {
			return csvLine{}, io.EOF
		}
		if _, bad := errors.AsType[*BadRecord](err); err != nil && !bad {
			return csvLine{}, err
		}
		line.text = bytes.Clone(line.text)
		c.ahead = append(c.ahead, csvLine{line, err})
	}
	return c.ahead[n], nil
}

// record gives the next record's lines, joined. bad is about its first line,
// which alone is passed over then.
func (c *csvReader) record() (record logLine, bad, err error) {
	first, err := c.line(0)
	if err != nil {
		return logLine{}, nil, err
	}
	record, n := first.logLine, 1
	open := oddQuotes(first.text)
	for bad = first.bad; bad == nil && open; n++ {
		more, err := c.line(n)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return logLine{}, nil, err
		case err != nil, more.bad != nil, len(record.text)+len(more.text) > maxQuoted:
			bad = &BadRecord{first.where(c.path), fmt.Sprintf("a quoted field does not end within %d bytes", maxQuoted)}
		default:
			record.text = append(append(record.text, '\n'), more.text...) // behind the first line, which stays as it is
			open = open != oddQuotes(more.text)
		}
	}
	if bad != nil {
		n = 1
	}
	if n < len(c.ahead) {
		c.ahead = c.ahead[n:]
	} else {
		c.ahead = c.ahead[:0] // its memory is for the next line
	}
	return record, bad, nil
}

func oddQuotes(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 == 1 }

// readHeader reads the names of the columns, and which character divides them.
func (c *csvReader) readHeader(fields map[string]string) error {
	record, bad, err := c.record()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: it is empty", c.path)
	case err != nil:
		return err
	case bad != nil:
		return bad
	}
	want := queryNames
	if theirs, ok := fields[FieldQuery]; ok {
		want = []string{theirs}
	}
	c.comma = plaintext.Delimiter(string(record.text), func(column string) bool { return slices.Contains(want, column) })
	if c.header, err = c.split(record.text); err != nil {
		return fmt.Errorf("%s: %w", record.where(c.path), err)
	}
	for i := range c.header {
		c.header[i] = strings.TrimSpace(c.header[i])
	}
	if !slices.ContainsFunc(want, func(name string) bool { return slices.Contains(c.header, name) }) {
		return fmt.Errorf("%s: no column %q (it has %s)", c.path, want[0], strings.Join(c.header, ", "))
	}
	return nil
}

func (c *csvReader) split(text []byte) ([]string, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	if !bytes.ContainsAny(text, "\"\r") { // most rows: a reader for each costs too much
		return strings.Split(string(text), string(c.comma)), nil
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord = c.comma, -1
	values, err := r.Read()
	if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
		return nil, syntax.Err
	}
	return values, err
}

// row gives the next row; blank lines are passed over.
func (c *csvReader) row() (row corpus.TableRow, bad, err error) {
	for {
		record, bad, err := c.record()
		if err != nil || bad != nil {
			return corpus.TableRow{}, bad, err
		}
		if len(bytes.TrimSpace(record.text)) == 0 {
			continue
		}
		values, why := c.split(record.text)
		if why == nil && len(values) != len(c.header) {
			why = fmt.Errorf("%d columns, the header has %d", len(values), len(c.header))
		}
		if why != nil {
			return corpus.TableRow{}, &BadRecord{record.where(c.path), why.Error()}, nil
		}
		row = corpus.TableRow{Where: record.where(c.path), Fields: map[string]any{}}
		for i, name := range c.header {
			row.Fields[name] = values[i]
		}
		return row, nil, nil
	}
}
