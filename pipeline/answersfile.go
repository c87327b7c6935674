package pipeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goldgen/goldgen/internal/plaintext"
)

// Bounds of an answers file.
const (
	maxAnswerLine   = 64 << 20 // bytes of one line
	answerErrorsMax = 10       // bad lines named
)

// answerLine is one line of an answers file.
type answerLine struct {
	CaseID    string          `json:"case_id"`
	Answer    *string         `json:"answer"`
	Contexts  []contextLine   `json:"contexts"`
	Citations []citationRef   `json:"citations"`
	Abstained *bool           `json:"abstained"`
	Metadata  json.RawMessage `json:"metadata"` // the system's own; not looked at

	line int
}

// contextLine is a passage that the system was given: a chunk, a span of a
// document, or its text. A text that is there is what counts.
type contextLine struct {
	ChunkID string `json:"chunk_id"`
	DocID   string `json:"doc_id"`
	Start   *int   `json:"start"`
	End     *int   `json:"end"`
	Text    string `json:"text"`
}

// citationRef is a chunk id, or a number as text or bare.
type citationRef string

// UnmarshalJSON reads either.
func (c *citationRef) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, (*string)(c))
	}
	var n int
	if err := json.Unmarshal(data, &n); err != nil {
		return errors.New("citations: want chunk ids or numbers")
	}
	*c = citationRef(fmt.Sprint(n))
	return nil
}

// readAnswers reads a whole answers file. The error names every line that
// cannot be read, up to ten: nothing is asked before all of them can.
func readAnswers(path string) ([]answerLine, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--answers: %w", err)
	}
	defer f.Close()
	return parseAnswers(f, path)
}

func parseAnswers(r io.Reader, path string) ([]answerLine, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxAnswerLine)
	var out []answerLine
	var bad problems
	first := map[string]int{}
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		a, err := parseAnswer(text)
		if at, twice := first[a.CaseID]; err == nil && twice {
			err = fmt.Errorf("case %q is answered twice, first on line %d", a.CaseID, at)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s:%d: %w", path, n, err))
			continue
		}
		a.line, first[a.CaseID] = n, n
		out = append(out, a)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		bad = append(bad, fmt.Errorf("%s:%d: a line of more than %d bytes", path, n+1, maxAnswerLine))
	} else if err != nil {
		bad = append(bad, fmt.Errorf("%s:%d: %w", path, n+1, err))
	}
	if len(out) == 0 && len(bad) == 0 {
		bad = append(bad, fmt.Errorf("%s: no answers", path))
	}
	return out, bad.limited(answerErrorsMax)
}

// limited is the first problems, with the number of the others; nil for none.
func (p problems) limited(most int) error {
	switch {
	case len(p) == 0:
		return nil
	case len(p) > most:
		return append(p[:most:most], fmt.Errorf("and %d more lines", len(p)-most))
	}
	return p
}

// parseAnswer reads and checks a line. An unknown key is an error: a misspelt
// one would leave the answer without its context.
func parseAnswer(text []byte) (answerLine, error) {
	var a answerLine
	if problem := plaintext.Problem(text); problem != "" {
		return a, errors.New(problem)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return answerLine{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return answerLine{}, errors.New("more than one value on the line")
	}
	return a, a.check()
}

func (a *answerLine) check() error {
	switch {
	case a.CaseID == "":
		return errors.New("no case_id")
	case a.Answer == nil && (a.Abstained == nil || !*a.Abstained):
		return fmt.Errorf("case %q: no answer; where the system gave none, answer is an empty text", a.CaseID)
	case a.Answer == nil:
		a.Answer = new(string)
	}
	for i, c := range a.Contexts {
		if err := c.check(); err != nil {
			return fmt.Errorf("case %q: contexts[%d]: %w", a.CaseID, i, err)
		}
	}
	return nil
}

func (c *contextLine) check() error {
	span := c.Start != nil || c.End != nil
	switch {
	case c.ChunkID == "" && c.Text == "" && !span:
		return errors.New("wants a chunk_id, a text, or doc_id with start and end")
	case span && (c.DocID == "" || c.Start == nil || c.End == nil):
		return errors.New("a span wants doc_id, start and end")
	case span && (*c.Start < 0 || *c.End < *c.Start):
		return fmt.Errorf("start %d and end %d are no span", *c.Start, *c.End)
	}
	return nil
}
