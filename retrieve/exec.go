package retrieve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/clip"
)

// ExecConfig is which command is run and how: Timeout is for one query, Dir its
// working directory ("" the current one).
type ExecConfig struct {
	Command string        `yaml:"command"`
	Timeout time.Duration `yaml:"timeout"`
	Dir     string        `yaml:"-"`
}

// DefaultExec waits a minute for an answer: a command's first one loads its
// index.
func DefaultExec() ExecConfig { return ExecConfig{Timeout: time.Minute} }

// Validate names the field out of range and its value.
func (c ExecConfig) Validate() error {
	if strings.TrimSpace(c.Command) == "" {
		return errors.New("command: empty")
	}
	return checkTimeout(c.Timeout)
}

func checkTimeout(timeout time.Duration) error {
	if timeout <= 0 {
		return fmt.Errorf("timeout: %v is not above 0", timeout)
	}
	return nil
}

func (ExecConfig) argument() string { return "COMMAND" }

func (c *ExecConfig) take(arg string) error { c.Command = arg; return nil }

func (c ExecConfig) command() string { return c.Command }

func (c ExecConfig) settings() map[string]string {
	return map[string]string{"command": c.Command, "timeout": c.Timeout.String()}
}

func (c ExecConfig) build(_ context.Context, b *Builder) (Retriever, error) {
	if err := b.mayStart(c.Command); err != nil {
		return nil, err
	}
	c.Dir = b.deps.Dir
	return NewExec(c.Command, c)
}

// Exec asks a program that reads one JSON object a line and answers with one:
// in {"id","query","k","scope","filters"}, out {"id","hits":[{"chunk_id",
// "score"}, or {"doc_id","start","end","score"}]} or {"id","error"}. It is
// started once and asked in order, until Close.
//
// A line that is no answer fails the query that waited for it, and the run goes
// on: a later answer to a query that failed is dropped when it comes.
type Exec struct {
	process *process
	timeout time.Duration
	turn    chan struct{}   // holds one token: whose turn it is
	asked   map[string]bool // queries sent; true once answered
	silent  int             // queries in a row without an answer in time
}

// maxSilent is how many queries in a row may go without an answer; a program
// that hangs would else take the timeout for each of the rest.
const maxSilent = 3

// errTimeout is the cause of a query's own deadline.
var errTimeout = errors.New("no answer in time")

// NewExec starts a command. It is split into words as a shell does (quotes,
// backslashes, $VARIABLES), but no shell runs it.
func NewExec(command string, config ExecConfig) (*Exec, error) {
	if err := checkTimeout(config.Timeout); err != nil {
		return nil, wrong("exec: %w", err)
	}
	words, err := shell.Fields(command, nil)
	if err == nil && len(words) == 0 {
		err = errors.New("no command")
	}
	if err != nil {
		return nil, wrong("exec: %q: %w", command, err)
	}
	p, err := startProcess(words, config.Dir)
	if err != nil {
		return nil, fmt.Errorf("exec %s: %w", words[0], err)
	}
	e := &Exec{process: p, timeout: config.Timeout, turn: make(chan struct{}, 1), asked: map[string]bool{}}
	e.turn <- struct{}{}
	return e, nil
}

// Close ends the program's input, gives it a moment, and ends it with whatever
// it started.
func (e *Exec) Close() error { return e.process.close() }

// Retrieve implements Retriever. Concurrent calls wait for their turn; the time
// taken and the timeout count from a query's own turn.
func (e *Exec) Retrieve(ctx context.Context, q Query) (Result, error) {
	if err := q.Validate(); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	select {
	case <-e.turn:
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	defer func() { e.turn <- struct{}{} }()
	start := time.Now()
	hits, err := e.ask(ctx, q)
	if err = e.explain(err); err != nil {
		return Result{}, fmt.Errorf("query %s: exec: %w", q.ID, err)
	}
	result := Result{Took: time.Since(start)}
	result.Hits, result.Notices = tidy(hits, q.K)
	return result, nil
}

// explain counts timeouts in a row and adds to one what standard error says.
func (e *Exec) explain(err error) error {
	if errors.Is(err, errTimeout) {
		e.silent++
		return fmt.Errorf("%w (%v)%s", errTimeout, e.timeout, e.process.complaint())
	}
	if e.silent < maxSilent {
		e.silent = 0
	}
	return err
}

// ask sends a query and reads lines until its answer.
func (e *Exec) ask(ctx context.Context, q Query) ([]Hit, error) {
	if e.silent >= maxSilent {
		return nil, fmt.Errorf("not asked: the program let %d queries in a row go without an answer", e.silent)
	}
	line, err := queryLine(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout, errTimeout)
	defer cancel()
	e.asked[q.ID] = false
	if err := e.process.send(ctx, line); err != nil {
		return nil, err
	}
	for {
		line, err := e.process.receive(ctx)
		if err != nil {
			return nil, err
		}
		a, err := parseAnswer(line)
		if err != nil {
			return nil, err
		}
		if *a.ID == q.ID {
			e.asked[q.ID] = true
			return a.hits()
		}
		if err := e.stray(*a.ID); err != nil {
			return nil, err
		}
	}
}

// stray decides on an answer to another query: one that failed before is late
// and dropped, all else is an error.
func (e *Exec) stray(id string) error {
	answered, asked := e.asked[id]
	switch {
	case !asked:
		return fmt.Errorf("answered query %q, which was not asked", id)
	case answered:
		return fmt.Errorf("answered query %q a second time", id)
	}
	e.asked[id] = true
	return nil
}

// queryLine is the query as the program reads it, scope and filters never null.
func queryLine(q Query) ([]byte, error) {
	if q.Scope == nil {
		q.Scope = corpus.Scope{}
	}
	if q.Filters == nil {
		q.Filters = []corpus.Filter{}
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(q)
	return line.Bytes(), err
}

// answer is a line of the program.
type answer struct {
	ID    *string      `json:"id"`
	Hits  *[]answerHit `json:"hits"`
	Error *string      `json:"error"`
}

type answerHit struct {
	ChunkID string   `json:"chunk_id"`
	DocID   string   `json:"doc_id"`
	Start   int      `json:"start"`
	End     int      `json:"end"`
	Score   *float64 `json:"score"`
}

func parseAnswer(line []byte) (answer, error) {
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, fmt.Errorf("answer %s: %w", excerpt(line), err)
	}
	if a.ID == nil {
		return answer{}, fmt.Errorf("answer %s: has no id", excerpt(line))
	}
	return a, nil
}

func (a answer) hits() ([]Hit, error) {
	switch {
	case a.Error != nil:
		return nil, fmt.Errorf("the program says: %s", excerpt([]byte(*a.Error)))
	case a.Hits == nil:
		return nil, errors.New("answer has neither hits nor error")
	}
	hits := make([]Hit, len(*a.Hits))
	for i, h := range *a.Hits {
		if err := h.check(); err != nil {
			return nil, fmt.Errorf("hit %d: %w", i+1, err)
		}
		hits[i] = h.hit()
	}
	return hits, nil
}

// hit keeps beside a chunk's id the document and span that it was given with:
// where the snapshot lacks the id, they say what was returned.
func (h answerHit) hit() Hit {
	hit := Hit{ChunkID: h.ChunkID, DocID: h.DocID, Start: h.Start, End: h.End, Score: *h.Score}
	if h.ChunkID != "" && (h.Start < 0 || h.End <= h.Start) {
		hit.Start, hit.End = 0, 0
	}
	return hit
}

// maxID is how long an id of a hit may be, in bytes.
const maxID = 64 << 10

func (h answerHit) check() error {
	switch {
	case len(h.ChunkID) > maxID || len(h.DocID) > maxID:
		return fmt.Errorf("its id %s has more than %d bytes", excerpt([]byte(cmp.Or(h.ChunkID, h.DocID))), maxID)
	case h.Score == nil:
		return errors.New("has no score")
	case h.ChunkID != "":
		return nil
	case h.DocID == "":
		return errors.New("has neither chunk_id nor doc_id")
	case h.Start < 0 || h.End < h.Start || (h.Start == h.End && h.Start != 0):
		return fmt.Errorf("document %s: [%d, %d) is no span", h.DocID, h.Start, h.End)
	}
	return nil
}

// tidy drops repeated hits and those beyond k, and counts what it met. The
// order is the program's.
func tidy(hits []Hit, k int) ([]Hit, Notices) {
	var n Notices
	kept := make([]Hit, 0, len(hits))
	seen := map[Hit]bool{}
	for _, h := range hits {
		key := Hit{ChunkID: h.ChunkID}
		if h.ChunkID == "" {
			key = Hit{DocID: h.DocID, Start: h.Start, End: h.End}
		}
		switch {
		case seen[key]:
			n.Duplicates++
			continue
		case len(kept) == k:
			n.Cut++
			continue
		case len(kept) > 0 && h.Score > kept[len(kept)-1].Score:
			n.NonMonotone++
		}
		seen[key] = true
		kept = append(kept, h)
	}
	return kept, n
}

// maxExcerpt bounds how much of a foreign text an error shows, in bytes.
const maxExcerpt = 120

// excerpt shows the beginning of a foreign text, quoted.
func excerpt(text []byte) string {
	s := strings.TrimSpace(string(text))
	if len(s) > maxExcerpt {
		return fmt.Sprintf("%q...", clip.Bytes(s, maxExcerpt))
	}
	return fmt.Sprintf("%q", s)
}
