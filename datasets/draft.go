package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// maxListed is how many problems one error text lists.
const maxListed = 20

// validate reports what makes the draft unfit to be a version, joined.
func (d *Draft) validate() error {
	var errs []error
	seen := make(map[string]bool, len(d.Cases))
	for i := range d.Cases {
		c := &d.Cases[i]
		if seen[c.ID] {
			errs = append(errs, fmt.Errorf("case %s: duplicate case_id", printable(c.ID)))
		}
		seen[c.ID] = true
		if err := c.Validate(); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range d.Rejects {
		if err := d.Rejects[i].Validate(); err != nil {
			errs = append(errs, err)
		}
	}
	return limited(append(errs, d.Manifest.validate()...))
}

// limited joins the first errors and counts the others.
func limited(errs []error) error {
	if more := len(errs) - maxListed; more > 0 {
		errs = append(errs[:maxListed:maxListed], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}

// validate looks at what the caller of Write fills.
func (m *Manifest) validate() []error {
	var errs []error
	if m.RelevantGrade < 1 || m.RelevantGrade > 3 {
		errs = append(errs, fmt.Errorf("relevant_grade %d is outside of 1 to 3", m.RelevantGrade))
	}
	for _, f := range oneOf("trust", m.Trust.Level, trusts, false) {
		errs = append(errs, fmt.Errorf("%s %s", f.field, f.detail))
	}
	if _, err := json.Marshal(m); err != nil {
		errs = append(errs, fmt.Errorf("manifest: %w", err))
	}
	return errs
}

// canonical is a draft with canonical rows that shares nothing with d's.
func (d *Draft) canonical() Draft {
	out := *d
	out.Cases, out.Rejects = make([]Case, len(d.Cases)), make([]Reject, len(d.Rejects))
	for i := range d.Cases {
		out.Cases[i] = d.Cases[i].Canonical()
	}
	for i := range d.Rejects {
		out.Rejects[i] = d.Rejects[i].Canonical()
	}
	return out
}

// complete fills what follows from the store: everything in the manifest that
// Draft leaves to it, and the versions that cases name.
func (d *Draft) complete(name string, parent *Set, version int, now time.Time) {
	m := &d.Manifest
	m.Format, m.Name, m.Version = Format, name, version
	m.Parent, m.ParentVersion, m.Merged, m.MergedVersion = "", 0, "", 0
	if d.Merged != nil {
		m.Merged, m.MergedVersion = d.Merged.Digest, d.Merged.Version
	}
	if parent != nil {
		m.Parent, m.ParentVersion = parent.Manifest.Digest, parent.Manifest.Version
	}
	m.CreatedAt = now.UTC().Format(time.RFC3339)
	if d.From == nil || d.Refreshed {
		m.RefreshedAt = "" // it is CreatedAt
	}
	m.Counts = CountRows(d.Cases, d.Rejects)
	if m.Funnel == nil {
		m.Funnel = map[string]int{}
	}
	m.Shortfall = list(m.Shortfall)
	m.Difficulty = bandsNow(m.Difficulty, d.Cases)
	d.setHistory(parent)
}

// setHistory gives each case the version that first held it and, when retired,
// the version that retired it: the parent's word where it has one.
func (d *Draft) setHistory(parent *Set) {
	var before map[string]*Case
	if parent != nil {
		before = casesByID(parent.Cases)
	}
	this := label(d.Manifest.Version)
	for i := range d.Cases {
		c := &d.Cases[i]
		c.Since, c.RetiredIn = this, ""
		old := before[c.ID]
		if old != nil {
			c.Since = old.Since
		}
		if c.Status == Retired {
			c.RetiredIn = this
			if old != nil && old.Status == Retired {
				c.RetiredIn = old.RetiredIn
			}
		}
	}
}

// CountRows counts cases, by status and type, and what their judgments hold.
func CountRows(cases []Case, rejects []Reject) Counts {
	n := Counts{Cases: len(cases), Rejected: len(rejects), ByType: map[string]int{}}
	for i := range cases {
		c := &cases[i]
		switch c.Status {
		case Active:
			n.Active++
		case NeedsReview:
			n.NeedsReview++
		case Retired:
			n.Retired++
		}
		n.ByType[c.QueryType]++
		for _, j := range c.Judgments {
			n.Judgments++
			if j.Grade == nil && j.P == nil {
				n.UnknownGrades++
			}
		}
	}
	return n
}
