package eval

import (
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// PlacedChunk is a chunk and the bytes of its document that it holds.
type PlacedChunk struct {
	ID         string
	Start, End int
}

// collect joins what f finds in every case, in the order of cases and ranks.
func collect[T any](in *Input, f func(*Input, *Case) []T) []T {
	var out []T
	for i := range in.Cases {
		out = append(out, f(in, &in.Cases[i])...)
	}
	return out
}

// findLeaks lists the leaks of every case, in the order of cases and ranks.
func findLeaks(in *Input) []Leak { return collect(in, leaksOf) }

// leaksOf lists the returned chunks that a case must not get.
func leaksOf(in *Input, c *Case) []Leak {
	about := c.about()
	if len(about.Forbidden) == 0 && in.Restricted == nil && in.Outdated == nil {
		return nil
	}
	var leaks []Leak
	in.eachShown(c, func(id string) bool { return in.leakKind(c, id) != "" }, func(id string, rank int) {
		leaks = append(leaks, Leak{Case: c.ID, Query: about.Query, Scope: about.Scope, Chunk: id, Rank: rank, Kind: in.leakKind(c, id)})
	})
	return leaks
}

// Unplaced counts the results of all cases that stand nowhere that is known, among
// which no leak can be seen.
func Unplaced(cases []Case) int {
	n := 0
	for i := range cases {
		n += cases[i].Unplaced
	}
	return n
}

// leakKind says why a chunk would be a leak; "" says that it is none.
func (in *Input) leakKind(c *Case, id string) string {
	switch {
	case slices.Contains(c.about().Forbidden, id):
		return LeakForbidden
	case in.Restricted != nil && in.Restricted(c, id):
		return LeakScope
	case in.Outdated != nil && in.Outdated(c, id):
		return LeakValidity
	}
	return ""
}

// filterErrorsOf lists the returned chunks that violate the case's filters.
func filterErrorsOf(in *Input, c *Case) []FilterError {
	about := c.about()
	if len(about.Filters) == 0 || in.Violated == nil {
		return nil
	}
	var out []FilterError
	in.eachShown(c, func(id string) bool { return in.Violated(c, id) != nil }, func(id string, rank int) {
		out = append(out, FilterError{Case: c.ID, Query: about.Query, Filter: *in.Violated(c, id), Chunk: id, Rank: rank})
	})
	return out
}

// eachShown calls f for each chunk that a case's results show and that is bad,
// with the rank that first shows it.
func (in *Input) eachShown(c *Case, bad func(id string) bool, f func(id string, rank int)) {
	var seen []string
	for n, id := range c.Ranking {
		shown := []string{id}
		if in.bySpan() {
			shown = in.shownBy(c, n, bad)
		}
		for _, id := range shown {
			if bad(id) && !slices.Contains(seen, id) {
				seen = append(seen, id)
				f(id, n+1)
			}
		}
	}
}

// shownBy lists the bad chunks of which a result that is a span shows bytes that stand in no
// good chunk as well: neighbouring chunks may overlap.
func (in *Input) shownBy(c *Case, n int, bad func(id string) bool) []string {
	if in.ChunksIn == nil {
		return nil
	}
	s := c.Spans[n]
	var good []stretch
	var all []PlacedChunk
	for _, p := range in.ChunksIn(c, n) {
		if bad(p.ID) {
			all = append(all, p)
		} else {
			good = append(good, stretch{s.Doc, p.Start, p.End})
		}
	}
	var out []string
	allowed := merge(good)
	for _, p := range all {
		part := region{{s.Doc, max(p.Start, s.Start), min(p.End, s.End)}}
		if part.shared(allowed) < part.size() {
			out = append(out, p.ID)
		}
	}
	return out
}

// FirstViolated returns the first filter that a chunk does not satisfy, or nil.
func FirstViolated(filters []corpus.Filter, chunk *corpus.Chunk) *corpus.Filter {
	for i := range filters {
		if !filters[i].Holds(chunk) {
			return &filters[i]
		}
	}
	return nil
}
