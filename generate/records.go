package generate

import (
	"github.com/goldgen/goldgen/datasets"
)

// Record is one line of a candidates file: a case, or the reject of its row.
// Spare marks accepted cases beyond the plan's size, which the judge draws on.
type Record struct {
	Case  *datasets.Case `json:"case,omitempty"`
	Spare bool           `json:"spare,omitempty"`
	// Clicked are the chunk or document ids that a query log knows to have been
	// opened or cited: candidates for the pool, no labels.
	Clicked []string         `json:"clicked,omitempty"`
	Reject  *datasets.Reject `json:"reject,omitempty"`
}

// Summary is the funnel of a run. Asked = Accepted + Rejected + Pending.
type Summary struct {
	Asked        int                  `json:"asked"`    // rows tried
	Accepted     int                  `json:"accepted"` // spares included
	Spare        int                  `json:"spare"`
	SpareWanted  int                  `json:"spare_wanted"`
	Rejected     int                  `json:"rejected"`
	Pending      int                  `json:"pending,omitempty"` // of a dry run: not in the cache
	Calls        int                  `json:"calls"`             // cached ones included
	CallsPerCase float64              `json:"calls_per_case"`    // calls / accepted, 4 decimals
	Rounds       int                  `json:"rounds"`
	Reasons      map[string]int       `json:"reasons"` // reject reason -> count
	ByType       map[string]TypeTally `json:"by_type"`
	Difficulty   []datasets.BandShare `json:"difficulty,omitempty"` // by band, where shares are declared
	Shortfall    []datasets.Shortfall `json:"shortfall"`
}

// TypeTally is the funnel of one query type.
type TypeTally struct {
	Asked    int     `json:"asked"`
	Accepted int     `json:"accepted"`
	Calls    int     `json:"calls"`
	KeepRate float64 `json:"keep_rate"` // accepted / asked, 4 decimals
}

func (s *Summary) add(queryType string, o Outcome) {
	t := s.ByType[queryType]
	s.Asked++
	t.Asked++
	s.Calls += o.Calls
	t.Calls += o.Calls
	switch {
	case o.Case != nil:
		s.Accepted++
		t.Accepted++
	case o.Reject.Reason == ReasonDryRun:
		s.Pending++
	default:
		s.Rejected++
		s.Reasons[o.Reject.Reason]++
	}
	s.ByType[queryType] = t
}

func (s *Summary) rates() {
	for name, t := range s.ByType {
		t.KeepRate = datasets.Round(float64(t.Accepted) / float64(t.Asked))
		s.ByType[name] = t
	}
	if s.Accepted > 0 {
		s.CallsPerCase = datasets.Round(float64(s.Calls) / float64(s.Accepted))
	}
}
