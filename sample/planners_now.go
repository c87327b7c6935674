package sample

import (
	"cmp"
	"time"
)

// Now as Options.AsOf asks at the corpus's own present. The clock has no part in
// it: the same snapshot gives the same plan on any day.
const Now = "now"

// timePlannerOf is the planner of time_sensitive queries.
func timePlannerOf(o *Options) planner {
	if o.AsOf == Now {
		return &nowPlanner{}
	}
	return timePlanner{o.moment()}
}

// nowPlanner asks about versions at the corpus's present: the latest time at which
// a record was updated, or, where no record says, began to hold.
type nowPlanner struct {
	timePlanner
	updated, began *time.Time // the latest that were read
}

func (p *nowPlanner) keys(c *view, join func(string, bool)) {
	p.updated, p.began = later(p.updated, c.UpdatedAt), later(p.began, c.ValidFrom)
	p.timePlanner.keys(c, join)
}

// later is the later of two times, in UTC and of its own memory; nil is none.
func later(known, other *time.Time) *time.Time {
	if other == nil || known != nil && !other.After(*known) {
		return known
	}
	t := other.UTC()
	return &t
}

// present is known once all chunks were read; nil in a corpus without times.
func (p *nowPlanner) present() *time.Time { return cmp.Or(p.updated, p.began) }

func (p *nowPlanner) candidates(b *bundle) []candidate {
	if p.present() == nil {
		return nil
	}
	return timePlanner{p.present()}.candidates(b)
}

func (p *nowPlanner) lacking() string {
	if p.present() == nil {
		return "updated_at or valid_from of a record, which tell when it is now (sample.as_of)"
	}
	return timePlanner{p.present()}.lacking()
}
