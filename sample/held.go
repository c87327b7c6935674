package sample

import (
	"maps"
	"slices"
)

// Held is what a case of a set says of the corpus: where it counts, and which
// documents and topics its chunks are of.
type Held struct {
	Stratum   string
	QueryType string
	Logged    bool // of a query log: it is of no type of the mix
	Documents []string
	Topics    []int
}

// Of says of a set that is held against a plan what the plan's coverage says of its
// own main rows: Planned of a stratum, of a band and of all, the mix, and what is
// reached are those of its cases. What was wanted stays the plan's. The cases of a
// stratum that the plan does not have count in all alone.
func (c Coverage) Of(cases []Held) Coverage {
	byStratum, docs, topics := map[string]int{}, map[string]bool{}, map[int]bool{}
	out := c
	out.Planned, out.Mix = len(cases), map[string]int{}
	for queryType := range c.MixWanted {
		out.Mix[queryType] = 0
	}
	for _, h := range cases {
		byStratum[h.Stratum]++
		if h.Logged {
			continue // its documents were not drawn
		}
		out.Mix[h.QueryType]++
		for _, d := range h.Documents {
			docs[d] = true
		}
		for _, t := range h.Topics {
			topics[t] = true
		}
	}
	strata := 0
	out.Strata = slices.Clone(c.Strata)
	for i := range out.Strata {
		s := &out.Strata[i]
		if s.Planned = byStratum[s.Name]; s.Planned > 0 {
			strata++
		}
		if s.Planned >= s.Wanted {
			s.Why = ""
		}
	}
	reached := func(n int, of Share) Share { return share(min(n, of.Total), of.Total) }
	out.Reached = Reached{Strata: reached(strata, c.Reached.Strata), Documents: reached(len(docs), c.Reached.Documents)}
	if c.Reached.Topics != nil {
		t := reached(len(topics), *c.Reached.Topics)
		out.Reached.Topics = &t
	}
	out.Log = c.Log.of(byStratum)
	return out
}

// of is the summary with what a set has of each band.
func (s *LogSummary) of(byStratum map[string]int) *LogSummary {
	if s == nil {
		return nil
	}
	out := *s
	out.Personal, out.Dropped, out.Bands = maps.Clone(s.Personal), maps.Clone(s.Dropped), slices.Clone(s.Bands)
	for i := range out.Bands {
		out.Bands[i].Planned = byStratum[stratumOfBand(out.Bands[i].Name)]
	}
	return &out
}

// stratumOfBand is the stratum of a log's queries of a band.
func stratumOfBand(band string) string { return LogStratum + band }
