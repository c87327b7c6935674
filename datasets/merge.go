package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrUnrelated says that two versions have no common ancestor.
var ErrUnrelated = errors.New("no common ancestor")

// ErrConflicts says that two versions changed the same in different ways.
var ErrConflicts = errors.New("conflicts")

// Sides of a merge that win where both changed the same.
const (
	PreferOurs   = "ours"
	PreferTheirs = "theirs"
)

// Conflict is a value that both sides changed, and not alike. A nil value is not
// there on that side: a case that one side removed, a judgment that it never had.
type Conflict struct {
	CaseID string          `json:"case_id,omitempty"` // "" for what is said of the set
	Field  string          `json:"field"`             // "case" for a case that one side removed
	Base   json.RawMessage `json:"base"`
	Ours   json.RawMessage `json:"ours"`
	Theirs json.RawMessage `json:"theirs"`
}

// MergeReport says how a merge went.
type MergeReport struct {
	Base      Ref        `json:"base"` // the common ancestor
	Ours      Ref        `json:"ours"`
	Theirs    Ref        `json:"theirs"`
	Taken     Diff       `json:"taken"` // what ours got
	Conflicts []Conflict `json:"conflicts"`
	Prefer    string     `json:"prefer,omitempty"` // who won them
}

// CommonAncestor finds the version that two others were made from: the newest one
// that both have in their past, which may be one of the two. They may lie in
// different folders, as copies of a set that went on apart do.
func CommonAncestor(a, b Ref) (Ref, error) {
	ours, err := lineageOf(a)
	if err != nil {
		return Ref{}, err
	}
	theirs, err := lineageOf(b)
	if err != nil {
		return Ref{}, err
	}
	past, other := ours.ancestors(a.Digest, a.Version), theirs.ancestors(b.Digest, b.Version)
	if m := shared(past, other); m != nil {
		return ours.ref(m), nil
	}
	if m := shared(other, past); m != nil {
		return theirs.ref(m), nil
	}
	return Ref{}, fmt.Errorf("%s (%s) and %s (%s): %w among the versions that are still there", a, a.Path, b, b.Path, ErrUnrelated)
}

// shared is the newest of one past that another one holds, or names as a parent
// that does not lie there.
func shared(past, other []*Manifest) *Manifest {
	i := slices.IndexFunc(past, func(m *Manifest) bool {
		return slices.ContainsFunc(other, func(o *Manifest) bool {
			return o.Name == m.Name && (o.Ref().same(m.Ref()) || o.madeOf(m))
		})
	})
	if i < 0 {
		return nil
	}
	return past[i]
}

// Merge joins what two versions made of a common ancestor: by case, field by
// field, a judgment counting as a field. What one side changed is taken; where
// both did, and not alike, that is a conflict, which prefer (ours, theirs) can
// decide. With another prefer, conflicts make no draft and the error is
// ErrConflicts. A query's wording and what was said of it (labels, evidence,
// checks, hard negatives) are taken from one side: labels that one side gave are
// of no use for the other's wording.
func Merge(base, ours, theirs *Set, prefer string) (Draft, *MergeReport, error) {
	report := &MergeReport{Base: base.Ref(), Ours: ours.Ref(), Theirs: theirs.Ref(), Conflicts: []Conflict{}, Prefer: prefer}
	report.Base.Path, report.Ours.Path, report.Theirs.Path = base.Dir, ours.Dir, theirs.Dir
	if a, b := ours.Manifest.Pins.Corpus.Digest, theirs.Manifest.Pins.Corpus.Digest; a != b {
		return Draft{}, report, fmt.Errorf("%s and %s are over different corpora (%.19s, %.19s)", ours.Ref(), theirs.Ref(), a, b)
	}
	m := &merger{report: report, prefer: prefer}
	draft := Derive(ours, fmt.Sprintf("merged %s (%s)", theirs.Ref(), theirs.Manifest.Why))
	draft.Merged = new(theirs.Ref())
	var err error
	if draft.Cases, err = m.cases(base, ours, theirs); err != nil {
		return Draft{}, report, err
	}
	draft.Rejects = mergedRejects(base, ours, theirs)
	if err := m.manifest(&draft.Manifest, &base.Manifest, &theirs.Manifest); err != nil {
		return Draft{}, report, err
	}
	draft.Manifest.Funnel = map[string]int{}
	for _, r := range draft.Rejects {
		draft.Manifest.Funnel[r.Reason]++
	}
	if n := len(report.Conflicts); n > 0 && prefer != PreferOurs && prefer != PreferTheirs {
		return Draft{}, report, fmt.Errorf("%s and %s: %w: %d", ours.Ref(), theirs.Ref(), ErrConflicts, n)
	}
	merged := &Set{Manifest: draft.Manifest, Cases: draft.Cases, Rejects: draft.Rejects}
	report.Taken = Compare(ours, merged)
	return draft, report, nil
}

// merger collects conflicts.
type merger struct {
	report *MergeReport
	prefer string
}

// sides are the fields of one thing in three versions; nil where a version does
// not have it.
type sides struct{ base, ours, theirs fields }

// cases merges by id: ours in their order, then those that theirs adds.
func (m *merger) cases(base, ours, theirs *Set) ([]Case, error) {
	before, other := casesByID(base.Cases), casesByID(theirs.Cases)
	mine := casesByID(ours.Cases)
	out := []Case{}
	add := func(b, o, t *Case) error {
		if c := unchanged(b, o, t); c != nil {
			out = append(out, *c)
			return nil
		}
		merged := m.one(b, o, t)
		if merged == nil {
			return nil
		}
		c, err := caseOf(merged, o, t)
		out = append(out, c)
		return err
	}
	for i := range ours.Cases {
		c := &ours.Cases[i]
		if err := add(before[c.ID], c, other[c.ID]); err != nil {
			return nil, err
		}
	}
	for i := range theirs.Cases {
		c := &theirs.Cases[i]
		if mine[c.ID] != nil {
			continue
		}
		if err := add(before[c.ID], nil, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unchanged is the case of the side that is to be taken whole, as most are: nil
// where both sides changed it, or one does not have it.
func unchanged(b, o, t *Case) *Case {
	switch {
	case o == nil || t == nil:
		return nil
	case sameRow(o, t), b != nil && sameRow(b, t):
		return o
	case b != nil && sameRow(b, o):
		return t
	}
	return nil
}

// one merges a case; nil stands for one that goes.
func (m *merger) one(b, o, t *Case) fields {
	s := sides{fieldsIn(b), fieldsIn(o), fieldsIn(t)}
	id := firstCase(o, t).ID
	switch {
	case s.ours == nil || s.theirs == nil:
		return m.whole(id, s)
	case s.rewordedApart():
		return m.worded(id, s)
	}
	return m.fields(id, s, func(string) bool { return true })
}

func firstCase(o, t *Case) *Case {
	if o != nil {
		return o
	}
	return t
}

func fieldsIn(c *Case) fields {
	if c == nil {
		return nil
	}
	return caseFields(c)
}

// whole decides on a case that only one side has: new there, or gone from the
// other, which is a conflict where the one has changed it.
func (m *merger) whole(id string, s sides) fields {
	there := s.ours
	if there == nil {
		there = s.theirs
	}
	switch {
	case s.base == nil:
		return there
	case len(s.base.changes(there)) == 0:
		return nil
	}
	m.conflict(id, "case", mustJSON(s.base), orNil(s.ours), orNil(s.theirs))
	return preferred(m, s.ours, s.theirs)
}

func (m *merger) conflict(id, field string, base, ours, theirs json.RawMessage) {
	m.report.Conflicts = append(m.report.Conflicts, Conflict{CaseID: id, Field: field, Base: base, Ours: ours, Theirs: theirs})
}

// preferred is what the side has that wins conflicts: ours, unless theirs is to.
func preferred[T any](m *merger, ours, theirs T) T {
	if m.prefer == PreferTheirs {
		return theirs
	}
	return ours
}

func orNil(f fields) json.RawMessage {
	if f == nil {
		return nil
	}
	return mustJSON(f)
}

// ofWording reports a field that holds for one wording of the query.
func ofWording(field string) bool {
	return isLabel(field) || slices.Contains([]string{fieldQuery, fieldEvidence, "checks", "difficulty", "hard_negatives"}, field)
}

// changedWording lists what a side made of the fields that hold for one wording.
func (s *sides) changedWording(side fields) []FieldChange {
	return slices.DeleteFunc(s.base.changes(side), func(f FieldChange) bool { return !ofWording(f.Field) })
}

// rewordedApart reports that one side changed the query while the other changed
// what was said of it, or put it in yet other words.
func (s *sides) rewordedApart() bool {
	if s.base == nil {
		return !bytes.Equal(s.ours[fieldQuery], s.theirs[fieldQuery])
	}
	reworded := func(side fields) bool { return !bytes.Equal(side[fieldQuery], s.base[fieldQuery]) }
	return (reworded(s.ours) || reworded(s.theirs)) && len(s.changedWording(s.ours)) > 0 && len(s.changedWording(s.theirs)) > 0 &&
		!sameWording(s.ours, s.theirs)
}

func sameWording(a, b fields) bool {
	return !slices.ContainsFunc(a.changes(b), func(f FieldChange) bool { return ofWording(f.Field) })
}

// worded takes the wording and all that was said of it from one side. Each field
// of it that the sides have differently is a conflict.
func (m *merger) worded(id string, s sides) fields {
	for _, f := range s.ours.changes(s.theirs) {
		if ofWording(f.Field) {
			m.conflict(id, f.Field, s.base[f.Field], f.Before, f.After)
		}
	}
	out := m.fields(id, s, func(field string) bool { return !ofWording(field) })
	for name, value := range preferred(m, s.ours, s.theirs) {
		if ofWording(name) {
			out[name] = value
		}
	}
	return out
}

// fields merges those that are wanted, three ways.
func (m *merger) fields(id string, s sides, wanted func(string) bool) fields {
	out := fields{}
	for _, name := range s.ours.names(s.theirs) {
		if !wanted(name) {
			continue
		}
		if value := m.value(id, name, s.base[name], s.ours[name], s.theirs[name]); value != nil {
			out[name] = value
		}
	}
	return out
}

// value merges one field; nil is one that goes.
func (m *merger) value(id, field string, base, ours, theirs json.RawMessage) json.RawMessage {
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(base, theirs):
		return ours
	case bytes.Equal(base, ours):
		return theirs
	}
	m.conflict(id, field, base, ours, theirs)
	return preferred(m, ours, theirs)
}

// caseOf puts a case together again: judgments in the order of ours, then those
// that theirs adds.
func caseOf(f fields, ours, theirs *Case) (Case, error) {
	row, judgments := fields{}, []json.RawMessage{}
	for name, value := range f {
		if !isLabel(name) {
			row[name] = value
		}
	}
	taken := map[string]bool{}
	for _, side := range []*Case{ours, theirs} {
		if side == nil {
			continue
		}
		for _, j := range side.Judgments {
			name := judgmentField(j.ChunkID, j.By)
			if value, ok := f[name]; ok && !taken[name] {
				taken[name] = true
				judgments = append(judgments, value)
			}
		}
	}
	row[fieldJudgments] = mustJSON(judgments)
	var c Case
	if err := json.Unmarshal(mustJSON(row), &c); err != nil {
		return c, fmt.Errorf("case %s: merged row: %w", printable(firstCase(ours, theirs).ID), err)
	}
	return c, nil
}
