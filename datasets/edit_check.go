package datasets

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// settle makes the status fit: a case that is active again has no reason against
// it, and one that its new wording left without any label, or that nothing is
// relevant to when it becomes active again, waits for a person.
func (a *editing) settle(old, next *Case) {
	if next.Status != Active {
		return
	}
	again := old.Status != Active
	if again && next.Reason == old.Reason {
		next.Reason = ""
	}
	answered := func(j Judgment) bool { return j.saysRelevant(a.relevant) }
	switch {
	case next.ExpectedAbstention:
	case next.Query != old.Query && len(next.Judgments) == 0:
		next.Status, next.Reason = NeedsReview, "reworded, and no label is of this wording"
	case again && !slices.ContainsFunc(next.Judgments, answered):
		next.Status, next.Reason = NeedsReview, "active again, and no chunk is labelled relevant"
	}
}

// check refuses a case that is unsound or contradicts itself, or that an edit has
// taken the ground from. A retired one needs no ground.
func (a *editing) check(old, c *Case) error {
	if c.Status == Retired {
		if c.Reason == "" {
			return errors.New("status retired: say the reason")
		}
		return c.Validate()
	}
	for _, step := range []func(old, c *Case) error{a.abstains, a.proven, a.asked} {
		if err := step(old, c); err != nil {
			return err
		}
	}
	return c.Validate()
}

// abstains refuses to expect abstention of a case that has an answer.
func (a *editing) abstains(old, c *Case) error {
	if !c.ExpectedAbstention {
		return nil
	}
	for id, grade := range c.peoplesGrades() {
		if grade >= a.relevant {
			return fmt.Errorf("expected_abstention is true, but chunk %q has grade %d", id, grade)
		}
	}
	if !old.ExpectedAbstention && len(c.Source) > 0 {
		return fmt.Errorf("expected_abstention is true, but the query was written from chunk %q, which answers it; retire the case", c.Source[0])
	}
	return nil
}

// proven refuses to take from a source the evidence that its label rests on.
func (a *editing) proven(old, c *Case) error {
	for _, id := range c.Source {
		in := func(e Evidence) bool { return a.touches(id, e) }
		if slices.ContainsFunc(old.Evidence, in) && !slices.ContainsFunc(c.Evidence, in) {
			return fmt.Errorf("evidence: none is left in chunk %q, from which the query was written, and whose label rests on it; leave some there, or retire the case", id)
		}
	}
	return nil
}

// touches reports whether evidence is of a chunk, or has some of its bytes.
func (a *editing) touches(id string, e Evidence) bool {
	chunk, ok := a.chunks[id]
	return e.ChunkID == id || ok && e.DocID == chunk.DocID && overlap(Span{e.Start, e.End}, spanOf(&chunk)) > 0
}

// asked refuses a scope, filters or a date with which the asker no longer gets a
// source, or gets what is forbidden.
func (a *editing) asked(old, c *Case) error {
	gets := func(c *Case, id string) bool {
		chunk, ok := a.chunks[id]
		return ok && corpus.Match(&chunk, c.Scope, c.Filters, c.AsOf)
	}
	for _, id := range c.Source {
		if gets(old, id) && !gets(c, id) {
			return fmt.Errorf("the asker would no longer get chunk %q, which answers the query, by scope, filters or as_of", id)
		}
	}
	for _, id := range c.Forbidden {
		if !gets(old, id) && gets(c, id) {
			return fmt.Errorf("the asker would get chunk %q, which is forbidden, by scope, filters or as_of", id)
		}
	}
	return nil
}
