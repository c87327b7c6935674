package pipeline

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/goldgen/goldgen/datasets"
)

// Kinds of stage file.
const (
	KindPlan       = "plan"
	KindCandidates = "candidates"
)

// StageFormat is the version of the stage files' format.
const StageFormat = 1

// Header begins a stage file or pipe. It carries what the next stage must know
// of the whole: the pins so far and the shortfalls so far.
type Header struct {
	Kind       string               `json:"goldgen"`
	Format     int                  `json:"format"`
	Pins       datasets.Pins        `json:"pins"`
	Name       string               `json:"name"`
	Cases      int                  `json:"cases"` // asked for
	Coverage   json.RawMessage      `json:"coverage,omitempty"`
	Difficulty []datasets.BandShare `json:"difficulty,omitempty"` // by band, where shares are declared
	Shortfall  []datasets.Shortfall `json:"shortfall,omitempty"`
}

type trailer struct {
	End     bool   `json:"end"`
	Records int    `json:"records"`
	Digest  string `json:"digest"`
}

// ErrCutOff says that a stage file ended before its trailer.
var ErrCutOff = errors.New("cut off before its trailer")

// WriteStage writes header, records and trailer as JSON lines.
func WriteStage[T any](w io.Writer, h Header, records []T) error {
	h.Format = StageFormat
	bw := bufio.NewWriter(w)
	if _, err := writeLine(bw, h); err != nil {
		return err
	}
	sum := sha256.New()
	for i := range records {
		line, err := writeLine(bw, records[i])
		if err != nil {
			return err
		}
		sum.Write(line)
	}
	t := trailer{End: true, Records: len(records), Digest: digestText(sum)}
	if _, err := writeLine(bw, t); err != nil {
		return err
	}
	return bw.Flush()
}

// digestLines is the digest that a stage file of these records has.
func digestLines[T any](records []T) (string, error) {
	sum := sha256.New()
	for i := range records {
		if _, err := writeLine(sum, records[i]); err != nil {
			return "", err
		}
	}
	return digestText(sum), nil
}

func digestText(sum hash.Hash) string {
	return datasets.DigestPrefix + hex.EncodeToString(sum.Sum(nil))
}

// writeLine writes v as one line of JSON and returns the line's bytes.
func writeLine(w io.Writer, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	_, err := w.Write(b.Bytes())
	return b.Bytes(), err
}

// ReadStage reads a stage file of the given kind from r; name is how errors
// call it. A file without its trailer gives ErrCutOff, one whose records do
// not have the trailer's digest or count an error that says so.
func ReadStage[T any](r io.Reader, name, kind string) (Header, []T, error) {
	s := &stageReader{r: bufio.NewReaderSize(r, 1<<16), name: name}
	h, err := s.header(kind)
	if err != nil {
		return h, nil, err
	}
	var records []T
	sum := sha256.New()
	for {
		line, err := s.next()
		if err != nil {
			return h, nil, s.cutOff(len(records), err)
		}
		if t, ok := asTrailer(line); ok {
			return h, records, s.check(t, len(records), digestText(sum))
		}
		var rec T
		if err := strictUnmarshal(line, &rec); err != nil {
			if s.last {
				return h, nil, s.cutOff(len(records), io.ErrUnexpectedEOF)
			}
			return h, nil, fmt.Errorf("%s:%d: %w", name, s.line, err)
		}
		sum.Write(line)
		records = append(records, rec)
	}
}

type stageReader struct {
	r    *bufio.Reader
	name string
	line int
	last bool // the line just read had no newline
}

func (s *stageReader) next() ([]byte, error) {
	line, err := s.r.ReadBytes('\n')
	s.line++
	s.last = err != nil
	if len(bytes.TrimSpace(line)) == 0 {
		if err == nil {
			return s.next()
		}
		return nil, err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return line, nil
}

func (s *stageReader) cutOff(n int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w after %d records", s.name, ErrCutOff, n)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

func (s *stageReader) header(kind string) (Header, error) {
	var h Header
	line, err := s.next()
	if errors.Is(err, io.EOF) {
		return h, fmt.Errorf("%s: empty: want a %s file, which begins with {\"goldgen\":%q,...}", s.name, kind, kind)
	}
	if err != nil {
		return h, fmt.Errorf("%s: %w", s.name, err)
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Kind == "" {
		return h, fmt.Errorf("%s:1: no %s file: the first line must be {\"goldgen\":%q,...}", s.name, kind, kind)
	}
	return h, h.check(s.name, kind)
}

func (h Header) check(name, kind string) error {
	if h.Kind != kind {
		return fmt.Errorf("%s: a %s file, want %s", name, h.Kind, kind)
	}
	if h.Format != StageFormat {
		return fmt.Errorf("%s: format %d, this version reads %d", name, h.Format, StageFormat)
	}
	return nil
}

func (s *stageReader) check(t trailer, records int, digest string) error {
	if t.Records != records {
		return fmt.Errorf("%s: trailer says %d records, read %d", s.name, t.Records, records)
	}
	if t.Digest != digest {
		return fmt.Errorf("%s: records were altered: their digest is not the trailer's", s.name)
	}
	if rest, err := s.next(); err == nil {
		return fmt.Errorf("%s:%d: text after the trailer: %.40q", s.name, s.line, rest)
	}
	return nil
}

func asTrailer(line []byte) (trailer, bool) {
	if !bytes.HasPrefix(line, []byte(`{"end":`)) {
		return trailer{}, false
	}
	var t trailer
	err := json.Unmarshal(line, &t)
	return t, err == nil && t.End
}

func strictUnmarshal(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
