package review

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/clip"
)

// keep writes an event and takes it in. It is on disk on return.
func (s *Sitting) keep(ctx context.Context, e Event) error {
	e.At = s.now().UTC()
	if _, err := s.journal.Append(e); err != nil {
		return err
	}
	s.stand = StandOf(s.stand.Reviewer, s.journal.Events)
	if err := s.measure(context.WithoutCancel(ctx)); err != nil {
		s.interval = nil // what was said is kept all the same
	}
	return nil
}

// measure brings the interval up to the labels so far.
func (s *Sitting) measure(ctx context.Context) error {
	if s.from == nil {
		return nil
	}
	now, err := s.work.Interval(ctx, s.labelledCases())
	if err != nil || now == nil {
		return err
	}
	now.WidthAtStart = s.from.High - s.from.Low
	s.interval = now
	return nil
}

// labelledCases are the cases that the person changed, as they would be in the
// next version.
func (s *Sitting) labelledCases() []datasets.Case {
	outcome := Apply(s.set, []Stand{s.stand}, s.corpus)
	return outcome.Changed
}

// Label implements Desk. A skip leaves a label that was given as it is.
func (s *Sitting) Label(ctx context.Context, n int, said Said) (Labelled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, _, err := s.passage(n); err != nil {
		return Labelled{}, err
	}
	e, err := s.said(n, said)
	if err != nil {
		return Labelled{}, err
	}
	if before, ok := s.stand.Labels[e.pair()]; !e.Skip || !ok || before.Skip {
		if err := s.keep(ctx, e); err != nil {
			return Labelled{}, err
		}
	}
	return s.labelled(n)
}

// said is the event of a label.
func (s *Sitting) said(n int, said Said) (Event, error) {
	d := s.pairs[n]
	if s.rejected(n) {
		return Event{}, &Problem{Status: http.StatusConflict, Text: fmt.Sprintf("case %s was rejected", d.CaseID), Hint: "undo takes the rejection back"}
	}
	e := Event{
		Kind: KindLabel, CaseID: d.CaseID, ChunkID: d.ChunkID, Query: s.caseOf(n).Query,
		Sample: s.sample.Name, Inclusion: d.Inclusion, Added: n >= len(s.sample.Pairs),
	}
	if said.Skip {
		e.Skip = true
		return e, said.onlySkip()
	}
	return e, e.grade(said, s.set.Manifest.RelevantGrade)
}

// onlySkip refuses a skip that is a label too.
func (s *Said) onlySkip() error {
	switch {
	case s.Grade != nil:
		return badLabel("a skip with grade %d: want one of the two", *s.Grade)
	case s.Label != "":
		return badLabel("a skip with label %q: want one of the two", s.Label)
	}
	return nil
}

func badLabel(format string, args ...any) error {
	return &Problem{Status: http.StatusBadRequest, Text: fmt.Sprintf(format, args...), Hint: "a grade is 0, 1, 2 or 3; stale and out_of_scope go with none, and a skip with neither"}
}

// grade reads what was said into the event.
func (e *Event) grade(said Said, relevant int) error {
	if said.Label == datasets.LabelStale || said.Label == datasets.LabelOutOfScope {
		if said.Grade != nil && *said.Grade != 0 {
			return badLabel("a chunk that is %s has grade 0, not %d", said.Label, *said.Grade)
		}
		e.Grade, e.Label = new(int), said.Label
		return nil
	}
	switch {
	case said.Grade == nil:
		return badLabel("neither a grade nor a skip")
	case *said.Grade < 0 || *said.Grade > 3:
		return badLabel("grade %d is outside of 0 to 3", *said.Grade)
	case said.Label != "" && said.Label != datasets.LabelOf(*said.Grade, relevant):
		return badLabel("label %q does not go with grade %d", said.Label, *said.Grade)
	}
	e.Grade, e.Label = said.Grade, datasets.LabelOf(*said.Grade, relevant)
	return nil
}

func (s *Sitting) labelled(n int) (Labelled, error) {
	item, err := s.item(n)
	return Labelled{Item: item, Session: s.session(), Next: s.next(n)}, err
}

// Undo implements Desk. An added passage stays among the items, unlabelled.
func (s *Sitting) Undo(ctx context.Context) (Undone, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.stand.Last()
	if !ok {
		return Undone{}, &Problem{Status: http.StatusConflict, Text: "there is nothing to undo"}
	}
	if err := s.keep(ctx, Event{Kind: KindUndo, CaseID: last.CaseID, ChunkID: last.ChunkID, Undone: last.N}); err != nil {
		return Undone{}, err
	}
	return s.undone(last)
}

// undone shows the item that an event was about; one of another sample is added
// to the items.
func (s *Sitting) undone(e Event) (Undone, error) {
	n := s.firstOf(e.CaseID)
	if e.Kind == KindLabel && s.cases[e.CaseID] != nil {
		n = s.show(Drawn{e.pair(), e.Inclusion})
	}
	if n < 0 {
		n = 0
	}
	item, err := s.item(n)
	return Undone{Item: item, Session: s.session()}, err
}

// firstOf is a case's first item, -1 for none.
func (s *Sitting) firstOf(caseID string) int {
	for n := range s.pairs {
		if s.pairs[n].CaseID == caseID {
			return n
		}
	}
	return -1
}

// open finds a case that can be worked on, and its first item.
func (s *Sitting) open(caseID string) (*datasets.Case, int, error) {
	n := s.firstOf(caseID)
	if n < 0 {
		return nil, 0, &Problem{Status: http.StatusNotFound, Text: fmt.Sprintf("case %q: not in this sample", caseID)}
	}
	if s.rejected(n) {
		return nil, 0, &Problem{Status: http.StatusConflict, Text: fmt.Sprintf("case %s was rejected", caseID), Hint: "undo takes the rejection back"}
	}
	return s.caseNow(caseID), n, nil
}

// maxQuery is how many bytes a query may have.
const maxQuery = 2000

// Rewrite implements Desk. Labels that were given for the old wording count no
// more; undo brings them back with it.
func (s *Sitting) Rewrite(ctx context.Context, caseID, query string) (Rewritten, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, n, err := s.open(caseID)
	if err != nil {
		return Rewritten{}, err
	}
	query = strings.TrimSpace(query)
	if err := checkWording(c, query); err != nil {
		return Rewritten{}, err
	}
	if s.work.Check == nil {
		return Rewritten{}, cannot("a query be edited")
	}
	out := Rewritten{}
	out.Checks, out.Kept = s.work.Check(c, query)
	if out.Kept {
		err := s.keep(ctx, Event{Kind: KindQuery, CaseID: caseID, Query: c.Query, Wording: query, Checks: out.Checks})
		if err != nil {
			return Rewritten{}, err
		}
	}
	out.Item, err = s.item(n)
	return out, err
}

func checkWording(c *datasets.Case, query string) error {
	bad := func(text string) error { return &Problem{Status: http.StatusBadRequest, Text: text} }
	switch {
	case query == "":
		return bad("a query needs words")
	case len(query) > maxQuery:
		return bad(fmt.Sprintf("a query has at most %d bytes", maxQuery))
	case !utf8.ValidString(query):
		return bad("the query is not UTF-8")
	case query == c.Query:
		return bad("this is the wording that it has")
	}
	return nil
}

func cannot(what string) error {
	return &Problem{Status: http.StatusNotImplemented, Text: "here " + what + " cannot be done"}
}

// Reject implements Desk.
func (s *Sitting) Reject(ctx context.Context, caseID, reason string) (Labelled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, n, err := s.open(caseID)
	if err != nil {
		return Labelled{}, err
	}
	if reason = strings.TrimSpace(reason); reason == "" || len(reason) > maxQuery || !utf8.ValidString(reason) {
		return Labelled{}, &Problem{Status: http.StatusBadRequest, Text: fmt.Sprintf("a rejection needs a reason of at most %d bytes", maxQuery)}
	}
	if err := s.keep(ctx, Event{Kind: KindReject, CaseID: caseID, Query: c.Query, Reason: reason}); err != nil {
		return Labelled{}, err
	}
	return s.labelled(n)
}

// How many chunks a search shows, and how many bytes of each.
const (
	foundChunks = 20
	foundText   = 400
)

// Search implements Desk.
func (s *Sitting) Search(ctx context.Context, caseID, query string) ([]Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, err := s.open(caseID)
	if err != nil {
		return nil, err
	}
	out := []Found{}
	if s.work.Search == nil || strings.TrimSpace(query) == "" || len(query) > maxQuery {
		return out, nil
	}
	ids, err := s.work.Search(ctx, c, query, foundChunks)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if chunk, ok := s.corpus.Chunk(id); ok {
			found := Found{DocID: chunk.DocID, ChunkID: id, Text: clip.Bytes(chunk.Text, foundText), InPool: inPool(c, id)}
			if doc, ok := s.corpus.Document(chunk.DocID); ok {
				found.Title = doc.Title
			}
			out = append(out, found)
		}
	}
	return out, nil
}

func inPool(c *datasets.Case, chunkID string) bool {
	for _, j := range c.Judgments {
		if j.ChunkID == chunkID {
			return true
		}
	}
	return false
}

// Add implements Desk. A chunk that is among the items already is labelled
// there.
func (s *Sitting) Add(ctx context.Context, caseID string, added Added) (Undone, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, _, err := s.open(caseID); err != nil {
		return Undone{}, err
	}
	if _, ok := s.corpus.Chunk(added.ChunkID); !ok {
		return Undone{}, &Problem{Status: http.StatusNotFound, Text: fmt.Sprintf("chunk %q: not in the snapshot", added.ChunkID)}
	}
	probe := Event{}
	if err := probe.grade(Said{Grade: added.Grade}, s.set.Manifest.RelevantGrade); err != nil {
		return Undone{}, err
	}
	before := len(s.pairs)
	e, err := s.said(s.show(Drawn{Pair{caseID, added.ChunkID}, 1}), Said{Grade: added.Grade})
	if err == nil {
		err = s.keep(ctx, e)
	}
	if err != nil {
		s.hideFrom(before)
		return Undone{}, err
	}
	return s.undone(e)
}

// Finish implements Desk.
func (s *Sitting) Finish(ctx context.Context) (Finished, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work.Finish == nil {
		return Finished{}, cannot("a version be written")
	}
	if len(s.stand.live) == 0 {
		return Finished{}, &Problem{Status: http.StatusConflict, Text: "nothing was labelled yet"}
	}
	return s.work.Finish(ctx)
}
