package pipeline

import (
	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// seen says again what the snapshot hid when a result was made: what leaked,
// and which filters were violated, is kept with each case.
type seen struct {
	leaks   map[caseChunk]string // kind
	filters map[caseChunk]*corpus.Filter
	shown   map[caseRank][]string // chunks that leaked or violated a filter
}

type caseChunk struct{ caseID, chunkID string }

type caseRank struct {
	caseID string
	rank   int32
}

func newSeen() *seen {
	return &seen{map[caseChunk]string{}, map[caseChunk]*corpus.Filter{}, map[caseRank][]string{}}
}

func (s *seen) add(row *caseRow) {
	for _, l := range row.Leaks {
		s.leaks[caseChunk{row.CaseID, l.ChunkID}] = l.Kind
		s.show(row.CaseID, l.Rank, l.ChunkID)
	}
	for i := range row.FilterErrors {
		e := &row.FilterErrors[i]
		s.filters[caseChunk{row.CaseID, e.ChunkID}] = &e.Filter
		s.show(row.CaseID, e.Rank, e.ChunkID)
	}
}

func (s *seen) show(caseID string, rank int32, chunkID string) {
	at := caseRank{caseID, rank}
	s.shown[at] = append(s.shown[at], chunkID)
}

// tell answers an input's questions about chunks.
func (s *seen) tell(in *eval.Input) {
	leaked := func(kind string) func(*eval.Case, string) bool {
		return func(c *eval.Case, chunkID string) bool { return s.leaks[caseChunk{c.ID, chunkID}] == kind }
	}
	in.Restricted, in.Outdated = leaked(eval.LeakScope), leaked(eval.LeakValidity)
	in.Violated = func(c *eval.Case, chunkID string) *corpus.Filter { return s.filters[caseChunk{c.ID, chunkID}] }
	in.ChunksIn = func(c *eval.Case, n int) []eval.PlacedChunk {
		var out []eval.PlacedChunk
		for _, id := range s.shown[caseRank{c.ID, int32(n + 1)}] {
			out = append(out, eval.PlacedChunk{ID: id, Start: c.Spans[n].Start, End: c.Spans[n].End})
		}
		return out
	}
}
