package datasets

import (
	"cmp"
	"reflect"
	"slices"
)

// Diff is what lies between two versions. Cases are in the order of the version
// that has them, the later one first.
type Diff struct {
	From     Ref           `json:"from"`
	To       Ref           `json:"to"`
	Same     bool          `json:"same"` // nothing of all this differs
	Added    []CaseNote    `json:"added"`
	Removed  []CaseNote    `json:"removed"`
	Retired  []CaseNote    `json:"retired"` // active or in review before
	Changed  []CaseChange  `json:"changed"` // in both; what retired a case is no change of its own
	Pins     []FieldChange `json:"pins"`
	Manifest []FieldChange `json:"manifest"` // relevant_grade, trust
	Rejects  [2]int        `json:"rejects"`  // how many, before and after
}

// CaseNote names a case.
type CaseNote struct {
	CaseID    string `json:"case_id"`
	Query     string `json:"query"`
	QueryType string `json:"query_type"`
	Reason    string `json:"reason,omitempty"` // of a retired one
}

// CaseChange is a case that both versions have, and how it differs. Query is the
// later one.
type CaseChange struct {
	CaseID string        `json:"case_id"`
	Query  string        `json:"query"`
	What   []string      `json:"what"` // query, labels, evidence, status, or other fields by name
	Fields []FieldChange `json:"fields"`
}

// Compare tells how b differs from a, case by case and by id.
func Compare(a, b *Set) Diff {
	d := Diff{
		From: a.Ref(), To: b.Ref(), Added: []CaseNote{}, Removed: []CaseNote{}, Retired: []CaseNote{}, Changed: []CaseChange{},
		Pins:     leaves("pins", a.Manifest.Pins).changes(leaves("pins", b.Manifest.Pins)),
		Manifest: headOf(&a.Manifest).changes(headOf(&b.Manifest)), Rejects: [2]int{len(a.Rejects), len(b.Rejects)},
	}
	d.From.Path, d.To.Path = a.Dir, b.Dir
	before, after := casesByID(a.Cases), casesByID(b.Cases)
	for i := range b.Cases {
		d.addCase(before[b.Cases[i].ID], &b.Cases[i])
	}
	for i := range a.Cases {
		if after[a.Cases[i].ID] == nil {
			d.Removed = append(d.Removed, noteOf(&a.Cases[i]))
		}
	}
	d.Same = Digest(a.Cases, a.Rejects) == Digest(b.Cases, b.Rejects) && len(d.Pins)+len(d.Manifest)+len(d.Changed) == 0
	return d
}

// headOf are the values of a manifest, beside its pins, that change what a set
// says.
func headOf(m *Manifest) fields {
	out := leaves("trust", m.Trust)
	out["relevant_grade"] = mustJSON(m.RelevantGrade)
	return out
}

func casesByID(cases []Case) map[string]*Case {
	out := make(map[string]*Case, len(cases))
	for i := range cases {
		out[cases[i].ID] = &cases[i]
	}
	return out
}

func noteOf(c *Case) CaseNote {
	n := CaseNote{CaseID: c.ID, Query: c.Query, QueryType: c.QueryType}
	if c.Status == Retired {
		n.Reason = c.Reason
	}
	return n
}

// addCase notes a case of the later version; a is nil where the earlier one does
// not have it.
func (d *Diff) addCase(a, b *Case) {
	if a == nil {
		d.Added = append(d.Added, noteOf(b))
		return
	}
	if sameRow(a, b) {
		return
	}
	found := caseFields(a).changes(caseFields(b))
	if a.Status != Retired && b.Status == Retired {
		d.Retired = append(d.Retired, noteOf(b))
		found = slices.DeleteFunc(found, func(f FieldChange) bool { return f.Field == fieldStatus || f.Field == fieldReason })
	}
	if len(found) > 0 {
		d.Changed = append(d.Changed, CaseChange{CaseID: b.ID, Query: b.Query, What: whatOf(found), Fields: found})
	}
}

// sameRow compares as Digest does.
func sameRow(a, b *Case) bool {
	x, y := a.Canonical(), b.Canonical()
	x.Since, x.RetiredIn, y.Since, y.RetiredIn = "", "", "", ""
	return reflect.DeepEqual(x, y)
}

// whatOf names the parts of a case that changed: what people look at first, then
// other fields by name.
func whatOf(changes []FieldChange) []string {
	first := []string{fieldQuery, "labels", fieldEvidence, fieldStatus}
	place := func(what string) int {
		if i := slices.Index(first, what); i >= 0 {
			return i
		}
		return len(first)
	}
	var out []string
	for _, f := range changes {
		what := f.Field
		if isLabel(what) {
			what = "labels"
		}
		if !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return out
}
