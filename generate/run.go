package generate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// Progress of a run, for display.
type Progress struct {
	Done     int // outcomes so far
	Asked    int // rows handed out so far
	Accepted int // near duplicates not yet taken off
	Rejected int
	Calls    int
}

// Options of a run.
type Options struct {
	Concurrency int            // chunks in work at once; at least 1
	Spare       float64        // share of spare cases per stratum; 0 when nothing judges
	SpareTypes  []string       // only of these query types are spares wanted; nil: of all
	Difficulty  *Difficulty    // nil: as it comes
	Progress    func(Progress) // may be nil; called by one goroutine at a time

	Beside []datasets.Case // cases that are kept already: no query may repeat one of theirs
}

// DefaultSpare is the share of spare cases where a judge follows.
const DefaultSpare = .2

// Validate names the option that cannot be.
func (o Options) Validate() error {
	switch {
	case o.Concurrency < 1:
		return fmt.Errorf("generate: concurrency: %d is less than 1", o.Concurrency)
	case o.Spare < 0 || o.Spare > 1:
		return fmt.Errorf("generate: spare: %g is not in [0, 1]", o.Spare)
	}
	return o.Difficulty.Validate()
}

// Fetch returns the unit of a row. It may be called concurrently; an error ends
// the run.
type Fetch func(ctx context.Context, row sample.Row) (Unit, error)

// Run writes the queries of a plan and returns the records in plan order. What
// it returns does not depend on Concurrency. Rows about one chunk follow each
// other in one worker, since servers keep what they last read. An error of
// fetch or of the writer ends the run, and so does a first round whose calls all
// fail; so does ctx: then the error is ctx's cause.
func Run(ctx context.Context, rows []sample.Row, fetch Fetch, writer Writer, o Options) ([]Record, Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, Summary{}, err
	}
	r := &runner{rows: rows, fetch: fetch, writer: writer, options: o}
	s := NewSelection(rows, o.Spare)
	if o.SpareTypes != nil {
		s.SpareOf(o.SpareTypes, o.Spare)
	}
	s.Beside(o.Beside)
	if o.Difficulty != nil {
		s.Steer(o.Difficulty.Shares)
	}
	first := true
	for {
		asked := s.Next()
		if len(asked) == 0 {
			return s.Records(), s.Summary(), nil
		}
		outcomes, err := r.round(ctx, asked)
		if err != nil {
			return nil, Summary{}, err
		}
		if err := nothingAnswered(outcomes); err != nil && first {
			return nil, Summary{}, err
		}
		first = false
		if err := s.Settle(outcomes); err != nil {
			return nil, Summary{}, err
		}
	}
}

// nothingAnswered is an error where no call gave a complete reply: that is the
// server's state and says nothing about the plan.
func nothingAnswered(outcomes []Outcome) error {
	for _, o := range outcomes {
		if o.Reject == nil || o.Reject.Reason != ReasonCallFailed {
			return nil
		}
	}
	r := outcomes[0].Reject
	return fmt.Errorf("generate: every call failed; case %s: %s", r.CaseID, r.Detail)
}

type runner struct {
	rows    []sample.Row
	fetch   Fetch
	writer  Writer
	options Options

	mu       sync.Mutex
	progress Progress
}

// round gets the outcomes of the rows asked, in their order.
func (r *runner) round(ctx context.Context, asked []int) ([]Outcome, error) {
	r.report(func(p *Progress) { p.Asked += len(asked) })
	outcomes := make([]Outcome, len(asked))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(r.options.Concurrency)
	for _, batch := range longestFirst(r.byChunk(asked)) {
		group.Go(func() error { return r.batch(gctx, asked, batch, outcomes) })
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil && r.options.Difficulty != nil { // apart from the calls: a server may have room for one model
		err = r.options.Difficulty.measure(ctx, outcomes, r.options.Concurrency)
	}
	return outcomes, err
}

// byChunk groups positions of asked by the row's first chunk, in plan order of
// each group's first row.
func (r *runner) byChunk(asked []int) [][]int {
	var batches [][]int
	at := map[string]int{}
	for n, i := range asked {
		key := cmp.Or(firstChunk(r.rows[i]), r.rows[i].CaseID)
		b, ok := at[key]
		if !ok {
			b = len(batches)
			at[key] = b
			batches = append(batches, nil)
		}
		batches[b] = append(batches[b], n)
	}
	return batches
}

// longestFirst puts batches of more rows before shorter ones, so that no long one
// is left alone at the end while the other workers have nothing to do.
func longestFirst(batches [][]int) [][]int {
	slices.SortStableFunc(batches, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return batches
}

// batch writes the rows of one chunk and puts their outcomes in their places.
func (r *runner) batch(ctx context.Context, asked, batch []int, outcomes []Outcome) error {
	units := make([]Unit, len(batch))
	for k, n := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := r.rows[asked[n]]
		u, err := r.fetch(ctx, row)
		if err != nil {
			return fmt.Errorf("case %s: %w", row.CaseID, err)
		}
		units[k] = u
	}
	written, err := r.writeAll(ctx, units)
	if err != nil {
		return err
	}
	if len(written) != len(units) {
		return fmt.Errorf("case %s: %d outcomes for %d units", units[0].Row.CaseID, len(written), len(units))
	}
	for k, n := range batch {
		outcomes[n] = written[k]
	}
	return nil
}

func (r *runner) writeAll(ctx context.Context, units []Unit) ([]Outcome, error) {
	if w, ok := r.writer.(BatchWriter); ok {
		written, err := w.WriteAll(ctx, units)
		if err == nil {
			r.count(written...)
		}
		return written, err
	}
	var written []Outcome
	for _, u := range units {
		o, err := r.writer.Write(ctx, u)
		if err != nil {
			return nil, err
		}
		r.count(o)
		written = append(written, o)
	}
	return written, nil
}

func (r *runner) count(written ...Outcome) {
	r.report(func(p *Progress) {
		for _, o := range written {
			p.Done++
			p.Calls += o.Calls
			if o.Case != nil {
				p.Accepted++
			} else {
				p.Rejected++
			}
		}
	})
}

func (r *runner) report(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
}
