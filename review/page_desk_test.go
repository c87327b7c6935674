package review_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review"
)

// desk is a review.Desk in memory: n pairs over one document, half of them with
// evidence. A query that holds "refused" fails a gate.
type desk struct {
	mu       sync.Mutex
	items    []review.Item
	document string
	machine  []review.Revealed
	history  []int // items in the order of their labels
	finished int
	why      string // of the last rejection
	broken   error  // what Label answers in place of its work
}

// sentence is repeated to make a document, and is the evidence in it.
const sentence = "Remote work is limited to three days a week unless the team lead agrees in writing. "

func at() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

func newDesk(n int) *desk {
	document := "# Handbook\n\nWörking from home – who, when, how.\n\n" + strings.Repeat(sentence, 40) + "\n\nThe end."
	d := &desk{document: document}
	first := strings.Index(document, sentence)
	p := 0.73
	for i := range n {
		start := first + len(sentence)*(2+i%20)
		it := review.Item{
			N: i, CaseID: fmt.Sprintf("case%04d", i/3), Query: fmt.Sprintf("how many days can I work from home (%d)?", i), QueryType: "factual",
			Scope: corpus.Scope{"team": {"support", "sales"}}, Status: datasets.Active, DocID: "policies/remote.md", ChunkID: fmt.Sprintf("policies/remote.md#%d", i),
			Title: "Remote work", HeadingPath: []string{"Handbook", "Remote work"}, Text: document, DocumentBytes: len(document),
			Passage: [2]int{start, start + 3*len(sentence)},
		}
		when := at()
		if i%2 == 0 {
			it.Evidence = [][2]int{{start + len(sentence), start + 2*len(sentence)}}
			it.AsOf, it.ValidFrom = &when, &when
		}
		d.items = append(d.items, it)
		d.machine = append(d.machine, review.Revealed{P: &p, By: "label_model"})
	}
	return d
}

func (d *desk) Session() review.Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session()
}

func (d *desk) session() review.Session {
	s := review.Session{
		Set: "handbook@v1", Reviewer: "kim", Sample: "decisive", Blind: true, Total: len(d.items), Next: d.next(-1),
		Grades: []review.Grade{
			{Grade: 0, Name: "not relevant", Meaning: "has nothing to do with what is asked"},
			{Grade: 1, Name: "related", Meaning: "is about the subject, and does not answer"},
			{Grade: 2, Name: "relevant", Meaning: "answers in part, or among much else"},
			{Grade: 3, Name: "perfect", Meaning: "answers fully and is about nothing else"},
		},
	}
	for i := range d.items {
		switch l := d.items[i].Label; {
		case d.items[i].Status == datasets.Retired:
			s.Labelled++
		case l == nil:
		case l.Skip:
			s.Skipped++
		default:
			s.Labelled++
		}
	}
	width := 0.16 - 0.01*float64(s.Labelled)
	s.Interval = &review.Interval{What: "ndcg@10, lsa less bm25", Low: -0.02, High: -0.02 + width, WidthAtStart: 0.16, Width: width}
	return s
}

// next is the first item after n without a label, round the end.
func (d *desk) next(n int) int {
	for i := range d.items {
		if j := (n + 1 + i) % len(d.items); d.items[j].Label == nil && d.items[j].Status == datasets.Active {
			return j
		}
	}
	return -1
}

// shown is the item as the page may see it.
func (d *desk) shown(n int) review.Item {
	it := d.items[n]
	if it.Label != nil && !it.Label.Skip {
		it.Revealed = &d.machine[n]
	}
	return it
}

func (d *desk) at(n int) error {
	if n < 0 || n >= len(d.items) {
		return &review.Problem{Status: http.StatusNotFound, Text: fmt.Sprintf("there is no item %d", n), Hint: "items are counted from 0"}
	}
	return nil
}

func (d *desk) Item(n int) (review.Item, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.at(n); err != nil {
		return review.Item{}, err
	}
	return d.shown(n), nil
}

func (d *desk) Text(n, start, end int) (review.Text, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	start, end = max(start, 0), min(end, start+review.MaxWindow, len(d.document))
	return review.Text{Text: d.document[start:end], TextStart: start, DocumentBytes: len(d.document)}, d.at(n)
}

func (d *desk) Items(from, limit int) ([]review.Row, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows := []review.Row{}
	for i := from; i < min(from+limit, len(d.items)); i++ {
		row := review.Row{N: i, CaseID: d.items[i].CaseID, Query: d.items[i].Query, ChunkID: d.items[i].ChunkID}
		if l := d.items[i].Label; l != nil {
			row.Labelled, row.Skipped, row.Grade = !l.Skip, l.Skip, l.Grade
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (d *desk) Label(_ context.Context, n int, said review.Said) (review.Labelled, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return review.Labelled{}, d.broken
	}
	if err := d.at(n); err != nil {
		return review.Labelled{}, err
	}
	d.items[n].Label = &review.Given{Grade: said.Grade, Label: said.Label, Skip: said.Skip, At: at()}
	d.history = append(d.history, n)
	return review.Labelled{Item: d.shown(n), Session: d.session(), Next: d.next(n)}, nil
}

// breakWith makes Label answer an error, or work again.
func (d *desk) breakWith(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = err
}

func (d *desk) Undo(context.Context) (review.Undone, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.history) == 0 {
		return review.Undone{}, &review.Problem{Status: http.StatusConflict, Text: "there is nothing to undo"}
	}
	n := d.history[len(d.history)-1]
	d.history = d.history[:len(d.history)-1]
	d.items[n].Label = nil
	return review.Undone{Item: d.shown(n), Session: d.session()}, nil
}

// first is the first item of a case.
func (d *desk) first(caseID string) int {
	return slices.IndexFunc(d.items, func(it review.Item) bool { return it.CaseID == caseID })
}

func (d *desk) Rewrite(_ context.Context, caseID, query string) (review.Rewritten, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := !strings.Contains(query, "refused")
	if kept {
		for i := range d.items {
			if d.items[i].CaseID == caseID {
				d.items[i].Query = query
			}
		}
	}
	checks := []datasets.Check{{Name: "length", Passed: true, Value: float64(len(query))}, {Name: "copied_wording", Passed: kept, Value: 0.91}}
	return review.Rewritten{Kept: kept, Checks: checks, Item: d.shown(d.first(caseID))}, nil
}

func (d *desk) Reject(_ context.Context, caseID, reason string) (review.Labelled, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.why = reason
	for i := range d.items {
		if d.items[i].CaseID == caseID {
			d.items[i].Status = datasets.Retired
		}
	}
	first := d.first(caseID)
	return review.Labelled{Item: d.shown(first), Session: d.session(), Next: d.next(first)}, nil
}

func (d *desk) Search(_ context.Context, _, q string) ([]review.Found, error) {
	if strings.Contains(q, "nothing") {
		return []review.Found{}, nil
	}
	return []review.Found{
		{DocID: "policies/travel.md", ChunkID: "policies/travel.md#2", Title: "Travel", Text: "Trips of more than three days need the agreement of the team lead. " + q},
		{DocID: "policies/remote.md", ChunkID: "policies/remote.md#1", Title: "Remote work", Text: sentence, InPool: true},
	}, nil
}

func (d *desk) Add(_ context.Context, caseID string, added review.Added) (review.Undone, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	it := d.items[d.first(caseID)]
	it.N, it.ChunkID = len(d.items), added.ChunkID
	it.Label = &review.Given{Grade: added.Grade, At: at()}
	d.items = append(d.items, it)
	d.machine = append(d.machine, review.Revealed{By: "label_model"})
	d.history = append(d.history, it.N)
	return review.Undone{Item: d.shown(it.N), Session: d.session()}, nil
}

func (d *desk) Finish(context.Context) (review.Finished, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finished++
	ref := datasets.Ref{Name: "handbook", Version: 2, Path: "golden/handbook/v0002", Digest: "sha256:00"}
	return review.Finished{Golden: ref, Labels: d.session().Labelled, Written: d.finished == 1}, nil
}

// now is an item as it is now.
func (d *desk) now(n int) review.Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.items[n]
}

// reason is why the last case was rejected.
func (d *desk) reason() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.why
}

// said is the label of an item as one word: its grade, its label or skip.
func (d *desk) said(n int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch l := d.items[n].Label; {
	case l == nil:
		return ""
	case l.Skip:
		return "skip"
	case l.Label != "":
		return l.Label
	default:
		return fmt.Sprint(*l.Grade)
	}
}
