package generate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

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
	Progress    func(Progress) // may be nil; called by one goroutine at a time
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
	return nil
}

// Fetch returns the unit of a row. It may be called concurrently; an error ends
// the run.
type Fetch func(ctx context.Context, row sample.Row) (Unit, error)

// Run writes the queries of a plan and returns the records in plan order. What
// it returns does not depend on Concurrency. Rows about one chunk follow each
// other in one worker, since servers keep what they last read. An error of
// fetch or of the writer ends the run, as does ctx: then the error is ctx's
// cause.
func Run(ctx context.Context, rows []sample.Row, fetch Fetch, writer Writer, o Options) ([]Record, Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, Summary{}, err
	}
	r := &runner{rows: rows, fetch: fetch, writer: writer, options: o}
	s := NewSelection(rows, o.Spare)
	for {
		asked := s.Next()
		if len(asked) == 0 {
			return s.Records(), s.Summary(), nil
		}
		outcomes, err := r.round(ctx, asked)
		if err != nil {
			return nil, Summary{}, err
		}
		if err := s.Settle(outcomes); err != nil {
			return nil, Summary{}, err
		}
	}
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
	for _, batch := range r.byChunk(asked) {
		group.Go(func() error {
			for _, n := range batch {
				if err := gctx.Err(); err != nil {
					return err
				}
				o, err := r.write(gctx, r.rows[asked[n]])
				if err != nil {
					return err
				}
				outcomes[n] = o
			}
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return outcomes, err
}

// byChunk groups positions of asked by the row's first chunk, in plan order of
// each group's first row.
func (r *runner) byChunk(asked []int) [][]int {
	var batches [][]int
	at := map[string]int{}
	for n, i := range asked {
		key := r.rows[i].CaseID
		if len(r.rows[i].ChunkIDs) > 0 {
			key = r.rows[i].ChunkIDs[0]
		}
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

func (r *runner) write(ctx context.Context, row sample.Row) (Outcome, error) {
	u, err := r.fetch(ctx, row)
	if err != nil {
		return Outcome{}, fmt.Errorf("case %s: %w", row.CaseID, err)
	}
	o, err := r.writer.Write(ctx, u)
	if err != nil {
		return Outcome{}, err
	}
	if o.Case == nil && o.Reject == nil {
		return Outcome{}, errors.New("case " + row.CaseID + ": the writer gave neither a case nor a reject")
	}
	r.report(func(p *Progress) {
		p.Done++
		p.Calls += o.Calls
		if o.Case != nil {
			p.Accepted++
		} else {
			p.Rejected++
		}
	})
	return o, nil
}

func (r *runner) report(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
}
