package review

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/clip"
)

// Corpus is what a sitting looks up: the snapshot that the set is pinned to.
// Both may be called at once.
type Corpus interface {
	// Chunk and Document find a row by its id.
	Chunk(id string) (*corpus.Chunk, bool)
	Document(id string) (*corpus.Document, bool)
}

// Work is what a sitting leaves to others. Each may be nil: then the page says
// that it cannot be done here.
type Work struct {
	// Search lists the ids of chunks that the case's asker may see and that
	// answer the query best.
	Search func(ctx context.Context, c *datasets.Case, query string, k int) ([]string, error)
	// Check looks at another wording of a case; kept is false where a gate
	// refuses it.
	Check func(c *datasets.Case, wording string) (checks []datasets.Check, kept bool)
	// Interval is the interval of the comparison at hand, with these cases in
	// the place of the set's.
	Interval func(ctx context.Context, labelled []datasets.Case) (*Interval, error)
	// Finish writes what the journals of the set's version hold as the next one.
	Finish func(ctx context.Context) (Finished, error)
}

// Sitting is one person at work on a sample: the Desk of the real thing.
type Sitting struct {
	set    *datasets.Set
	corpus Corpus
	work   Work
	sample Sample
	blind  bool
	now    func() time.Time
	cases  map[string]*datasets.Case

	mu       sync.Mutex // over what follows
	journal  *Journal
	stand    Stand
	pairs    []Drawn
	at       map[Pair]int
	interval *Interval
	from     *Interval // at the start
}

var _ Desk = (*Sitting)(nil)

// Setting is what a sitting is about.
type Setting struct {
	Set     *datasets.Set
	Corpus  Corpus
	Journal *Journal // the person's, which the sitting closes
	Head    Head     // of the journal
	Sample  Sample
	Blind   bool
	Now     func() time.Time
	Work    Work
}

// Sit goes on where the journal ends. What the person added by searching stands
// behind the sample.
func Sit(ctx context.Context, o Setting) (*Sitting, error) {
	s := &Sitting{
		set: o.Set, corpus: o.Corpus, work: o.Work, sample: o.Sample, blind: o.Blind, now: o.Now,
		cases: map[string]*datasets.Case{}, journal: o.Journal, at: map[Pair]int{},
	}
	for i := range o.Set.Cases {
		s.cases[o.Set.Cases[i].ID] = &o.Set.Cases[i]
	}
	for _, d := range o.Sample.Pairs {
		s.show(d)
	}
	s.stand = StandOf(o.Head.Reviewer, o.Journal.Events)
	for _, e := range s.stand.live {
		if e.Kind == KindLabel && e.Added && s.cases[e.CaseID] != nil {
			s.show(Drawn{e.pair(), 1})
		}
	}
	if o.Work.Interval == nil {
		return s, nil
	}
	var err error
	if s.from, err = o.Work.Interval(ctx, nil); err != nil {
		return nil, err
	}
	return s, s.measure(ctx)
}

// Close ends the sitting and gives the journal free.
func (s *Sitting) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.Close()
}

// show puts a pair at the end of the items, unless it is among them.
func (s *Sitting) show(d Drawn) int {
	if n, ok := s.at[d.Pair]; ok {
		return n
	}
	s.at[d.Pair] = len(s.pairs)
	s.pairs = append(s.pairs, d)
	return len(s.pairs) - 1
}

// hideFrom takes the items from number n on out again.
func (s *Sitting) hideFrom(n int) {
	for _, d := range s.pairs[n:] {
		delete(s.at, d.Pair)
	}
	s.pairs = s.pairs[:n]
}

// Session implements Desk.
func (s *Sitting) Session() Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session()
}

func (s *Sitting) session() Session {
	out := Session{
		Set: s.set.Ref().String(), Reviewer: s.stand.Reviewer, Sample: s.sample.Name, Blind: s.blind,
		Total: len(s.pairs), Next: s.next(-1), Interval: s.interval, Grades: grades(),
	}
	for n := range s.pairs {
		switch e, ok := s.stand.Labels[s.pairs[n].Pair]; {
		case s.rejected(n) || ok && !e.Skip:
			out.Labelled++
		case ok:
			out.Skipped++
		}
	}
	return out
}

// rejected reports whether the item's case was taken out.
func (s *Sitting) rejected(n int) bool {
	_, ok := s.stand.Rejects[s.pairs[n].CaseID]
	return ok
}

// next is the first item after n, round the end, that waits for a label.
func (s *Sitting) next(n int) int {
	for step := 1; step <= len(s.pairs); step++ {
		at := (n + step) % len(s.pairs)
		if _, said := s.stand.Labels[s.pairs[at].Pair]; !said && !s.rejected(at) {
			return at
		}
	}
	return -1
}

// grades are those of a judge, in words for people.
func grades() []Grade {
	return []Grade{
		{0, "not relevant", "has nothing to do with what is asked"},
		{1, "related", "is about the subject, and does not answer"},
		{2, "relevant", "answers in part, or among much else"},
		{3, "perfect", "answers fully and is about nothing else"},
	}
}

// Item implements Desk.
func (s *Sitting) Item(n int) (Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.item(n)
}

func (s *Sitting) item(n int) (Item, error) {
	chunk, doc, err := s.passage(n)
	if err != nil {
		return Item{}, err
	}
	c, passage := s.caseOf(n), [2]int{chunk.Start, chunk.End}
	window := windowOf(doc, passage)
	out := Item{
		N: n, CaseID: c.ID, Query: c.Query, QueryType: c.QueryType, Scope: c.Scope, AsOf: c.AsOf, Status: c.Status,
		DocID: doc.ID, ChunkID: chunk.ID, Title: doc.Title, HeadingPath: append([]string{}, chunk.HeadingPath...),
		Text: window.Text, TextStart: window.TextStart, DocumentBytes: window.DocumentBytes,
		Passage: passage, Evidence: evidenceIn(c, doc.ID), ValidFrom: chunk.ValidFrom, ValidTo: chunk.ValidTo,
	}
	if e, said := s.stand.Labels[s.pairs[n].Pair]; said {
		out.Label = &Given{Grade: e.Grade, Label: e.Label, Skip: e.Skip, At: e.At}
	}
	if !s.blind || out.Label != nil && !out.Label.Skip {
		out.Revealed = machine(c, chunk.ID)
	}
	return out, nil
}

// passage finds an item's chunk and document.
func (s *Sitting) passage(n int) (*corpus.Chunk, *corpus.Document, error) {
	if n < 0 || n >= len(s.pairs) {
		return nil, nil, &Problem{Status: http.StatusNotFound, Text: fmt.Sprintf("item %d: there are %d", n, len(s.pairs))}
	}
	id := s.pairs[n].ChunkID
	chunk, ok := s.corpus.Chunk(id)
	if !ok {
		return nil, nil, &Problem{Status: http.StatusNotFound, Text: fmt.Sprintf("chunk %s: not in the snapshot", id)}
	}
	doc, ok := s.corpus.Document(chunk.DocID)
	if !ok {
		return nil, nil, &Problem{Status: http.StatusNotFound, Text: fmt.Sprintf("document %s: not in the snapshot", chunk.DocID)}
	}
	return chunk, doc, nil
}

// caseOf is an item's case as the person has made it so far.
func (s *Sitting) caseOf(n int) *datasets.Case { return s.caseNow(s.pairs[n].CaseID) }

func (s *Sitting) caseNow(id string) *datasets.Case {
	c := *s.cases[id]
	if q, ok := s.stand.Queries[id]; ok {
		c.Reword(q.Wording, q.Checks)
	}
	if r, ok := s.stand.Rejects[id]; ok {
		c.Status, c.Reason = datasets.Retired, r.Reason
	}
	return &c
}

// evidenceIn lists the spans of one document.
func evidenceIn(c *datasets.Case, docID string) [][2]int {
	out := [][2]int{}
	for _, e := range c.Evidence {
		if e.DocID == docID {
			out = append(out, [2]int{e.Start, e.End})
		}
	}
	slices.SortFunc(out, func(a, b [2]int) int { return a[0] - b[0] })
	return out
}

// machine is what the set says of a chunk without this person: a probability
// before a grade, and the query's source before nothing.
func machine(c *datasets.Case, chunkID string) *Revealed {
	var found *Revealed
	for _, by := range []string{datasets.BySynthetic, datasets.ByLLM, datasets.ByLabelModel, datasets.ByHuman} {
		for _, j := range c.Judgments {
			if j.ChunkID == chunkID && j.By == by && (j.Grade != nil || j.P != nil) {
				found = &Revealed{P: j.P, Grade: j.Grade, By: by}
			}
		}
	}
	return found
}

// Text implements Desk.
func (s *Sitting) Text(n, start, end int) (Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, doc, err := s.passage(n)
	if err != nil {
		return Text{}, err
	}
	return textOf(doc, start, end), nil
}

// rowQuery is how many bytes of a query a list shows.
const rowQuery = 120

// Items implements Desk.
func (s *Sitting) Items(from, limit int) ([]Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Row{}
	for n := max(from, 0); n < len(s.pairs) && len(out) < limit; n++ {
		c := s.caseOf(n)
		row := Row{N: n, CaseID: c.ID, Query: clip.Bytes(c.Query, rowQuery), ChunkID: s.pairs[n].ChunkID, Labelled: s.rejected(n)}
		if e, said := s.stand.Labels[s.pairs[n].Pair]; said {
			row.Labelled, row.Skipped, row.Grade = row.Labelled || !e.Skip, e.Skip, e.Grade
		}
		out = append(out, row)
	}
	return out, nil
}
