package generate

import (
	"context"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// Record is one line of a candidates file: a case, or the reject of its row.
// Spare marks accepted cases beyond the plan's size, which the judge draws on.
type Record struct {
	Case   *datasets.Case   `json:"case,omitempty"`
	Spare  bool             `json:"spare,omitempty"`
	Reject *datasets.Reject `json:"reject,omitempty"`
}

// Summary is the funnel of a run.
type Summary struct {
	Asked     int                  `json:"asked"`    // rows tried
	Accepted  int                  `json:"accepted"` // spares included
	Spare     int                  `json:"spare"`
	Rejected  int                  `json:"rejected"`
	Calls     int                  `json:"calls"` // cached ones included
	Rounds    int                  `json:"rounds"`
	Reasons   map[string]int       `json:"reasons"` // reject reason -> count
	ByType    map[string]TypeTally `json:"by_type"`
	Shortfall []datasets.Shortfall `json:"shortfall"`
}

// TypeTally is the funnel of one query type.
type TypeTally struct {
	Asked    int     `json:"asked"`
	Accepted int     `json:"accepted"`
	Calls    int     `json:"calls"`
	KeepRate float64 `json:"keep_rate"` // accepted / asked, 4 decimals
}

// Progress of a run, for display.
type Progress struct {
	Done     int // outcomes so far
	Asked    int // rows handed out so far
	Accepted int
	Rejected int
	Calls    int
}

// Options of a run.
type Options struct {
	Concurrency int            // chunks in work at once; at least 1
	Spare       float64        // share of spare cases per stratum; 0 when nothing judges
	Progress    func(Progress) // may be nil; called by one goroutine at a time
}

// Fetch returns the unit of a row. An error ends the run.
type Fetch func(ctx context.Context, row sample.Row) (Unit, error)
