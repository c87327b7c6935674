package audit

import (
	"time"

	"github.com/goldgen/goldgen/review"
)

// Desk is one person going through a sample. Each answer is in the journal before
// the next question comes.
type Desk struct {
	sample  *Sample
	items   []*Item
	journal *review.Journal
	now     func() time.Time
	person  Person
	skipped map[string]bool // in this sitting
	last    string          // what was skipped last, as long as nothing was said since
}

// Sit begins where the person stopped, in this sample or another, of this version
// or an earlier one.
func Sit(s *Sample, name string, journal *review.Journal, now func() time.Time) *Desk {
	d := &Desk{sample: s, items: s.distinct(), journal: journal, now: now, skipped: map[string]bool{}}
	d.person = PersonOf(name, journal.Events)
	return d
}

// Person is what has been said.
func (d *Desk) Person() Person { return d.person }

// Answers are those given for an item.
func (d *Desk) Answers(i *Item) Answers { return d.person.Said[i.Key] }

// Current is the question to answer now; ok is false where none is open.
func (d *Desk) Current() (item *Item, q Question, ok bool) {
	for _, item := range d.items {
		if d.skipped[item.Key] {
			continue
		}
		said := d.person.Said[item.Key]
		for _, q := range Questions() {
			if _, answered := said[q]; !answered {
				return item, q, true
			}
		}
	}
	return nil, "", false
}

// Progress counts the queries labelled, those skipped in this sitting, and all.
func (d *Desk) Progress() (labelled, skipped, of int) {
	for _, item := range d.items {
		if d.person.Said[item.Key].Complete() {
			labelled++
		}
	}
	return labelled, len(d.skipped), len(d.items)
}

// Answer keeps the answer to the current question. After an error nothing is kept.
func (d *Desk) Answer(yes bool) error {
	item, q, ok := d.Current()
	if !ok {
		return nil
	}
	_, err := d.journal.Append(review.Event{
		Kind: review.KindAudit, At: d.now().UTC(), CaseID: item.CaseID, Query: item.Query,
		Key: item.Key, Question: string(q), Yes: &yes, Sample: d.sample.Name(),
	})
	if err != nil {
		return err
	}
	d.last = ""
	d.person = PersonOf(d.person.Name, d.journal.Events)
	return nil
}

// Skip leaves the current query for another sitting.
func (d *Desk) Skip() {
	if item, _, ok := d.Current(); ok {
		d.last = item.Key
		d.skipped[item.Key] = true
	}
}

// Undo withdraws the last skip or answer, also of an earlier sitting. It reports
// false where there is none in this sample.
func (d *Desk) Undo() (bool, error) {
	if d.last != "" {
		delete(d.skipped, d.last)
		d.last = ""
		return true, nil
	}
	stand := review.StandOf(d.person.Name, d.journal.Events)
	e, ok := stand.Last()
	if !ok || !d.holds(e.Key) {
		return false, nil
	}
	if _, err := d.journal.Append(review.Event{Kind: review.KindUndo, At: d.now().UTC(), Undone: e.N}); err != nil {
		return false, err
	}
	delete(d.skipped, e.Key)
	d.person = PersonOf(d.person.Name, d.journal.Events)
	return true, nil
}

func (d *Desk) holds(key string) bool {
	for _, item := range d.items {
		if item.Key == key {
			return true
		}
	}
	return false
}
