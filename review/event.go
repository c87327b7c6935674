package review

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
)

// Kinds of events.
const (
	KindLabel  = "label"  // a grade, or a skip
	KindQuery  = "query"  // another wording of a case
	KindReject = "reject" // a case taken out
	KindAudit  = "audit"  // a yes or no of an audit
	KindUndo   = "undo"   // an earlier event withdrawn
)

// Event is one thing that a person did: a line of their journal. Events are
// never changed: what is undone or said again stands in a later one.
type Event struct {
	N       int       `json:"n"` // from 1
	Kind    string    `json:"kind"`
	At      time.Time `json:"at"`
	CaseID  string    `json:"case_id,omitempty"`
	Query   string    `json:"query,omitempty"` // the wording that the person had before them
	ChunkID string    `json:"chunk_id,omitempty"`
	Grade   *int      `json:"grade,omitempty"`
	Label   string    `json:"label,omitempty"`
	Skip    bool      `json:"skip,omitempty"`
	Added   bool      `json:"added,omitempty"` // the person found the chunk by searching

	Sample    string  `json:"sample,omitempty"`
	Inclusion float64 `json:"inclusion,omitempty"` // probability that the sample held the pair

	Wording string           `json:"wording,omitempty"` // of query: the new one
	Checks  []datasets.Check `json:"checks,omitempty"`  // of query: what the gates said
	Reason  string           `json:"reason,omitempty"`  // of reject
	Undone  int              `json:"undone,omitempty"`  // of undo: the number of what is withdrawn

	Key      string `json:"key,omitempty"`      // of audit: the digest of what was asked about
	Question string `json:"question,omitempty"` // of audit
	Yes      *bool  `json:"yes,omitempty"`      // of audit
}

// Pair is a query and a chunk.
type Pair struct{ CaseID, ChunkID string }

func (e *Event) pair() Pair { return Pair{e.CaseID, e.ChunkID} }

// Stand is what one person's events come to: the last word on each pair and
// case, withdrawn ones left out.
type Stand struct {
	Reviewer string
	Labels   map[Pair]Event // skips among them; given for the case's present wording
	Queries  map[string]Event
	Rejects  map[string]Event
	Replaced int     // labels that a later one for the same pair took the place of
	Stale    []Event // labels given for a wording that the person has changed since

	live []Event
}

// StandOf reads events in the order of their numbers.
func StandOf(reviewer string, events []Event) Stand {
	s := Stand{Reviewer: reviewer, Labels: map[Pair]Event{}, Queries: map[string]Event{}, Rejects: map[string]Event{}}
	withdrawn := map[int]bool{}
	for _, e := range events {
		if e.Kind == KindUndo {
			withdrawn[e.Undone] = true
		}
	}
	for _, e := range events {
		if e.Kind == KindUndo || withdrawn[e.N] {
			continue
		}
		s.live = append(s.live, e)
		switch e.Kind {
		case KindQuery:
			s.Queries[e.CaseID] = e
		case KindReject:
			s.Rejects[e.CaseID] = e
		}
	}
	s.readLabels()
	return s
}

func (s *Stand) readLabels() {
	for _, e := range s.live {
		if e.Kind != KindLabel {
			continue
		}
		if q, reworded := s.Queries[e.CaseID]; reworded && q.Wording != e.Query {
			s.Stale = append(s.Stale, e)
			continue
		}
		if before, again := s.Labels[e.pair()]; again && !before.Skip {
			s.Replaced++
		}
		s.Labels[e.pair()] = e
	}
}

// Audited lists what was said in audits and not withdrawn, in its order.
func (s *Stand) Audited() []Event {
	return slices.DeleteFunc(slices.Clone(s.live), func(e Event) bool { return e.Kind != KindAudit })
}

// Last is the last event that can be withdrawn.
func (s *Stand) Last() (Event, bool) {
	if len(s.live) == 0 {
		return Event{}, false
	}
	return s.live[len(s.live)-1], true
}

// Given lists the labels that are no skips, in the order of their pairs.
func (s *Stand) Given() []Event {
	var out []Event
	for _, e := range s.Labels {
		if !e.Skip {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b Event) int {
		return cmp.Or(strings.Compare(a.CaseID, b.CaseID), strings.Compare(a.ChunkID, b.ChunkID))
	})
	return out
}
