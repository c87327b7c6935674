package datasets

import (
	"fmt"
	"unicode/utf8"
)

// Set is one version of a golden set in memory. Cases and Rejects are in the
// order of the plan.
type Set struct {
	Manifest Manifest
	Cases    []Case
	Rejects  []Reject
	Dir      string // the version's folder
}

// Ref names this version.
func (s *Set) Ref() Ref { return s.Manifest.Ref() }

// Ref names one version of a golden set.
type Ref struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
	Path    string `json:"path"` // the version's folder
}

// String is the reference as one types it: name@v3.
func (r Ref) String() string { return fmt.Sprintf("%s@v%d", r.Name, r.Version) }

// Ref names the version that m describes; its Path is empty.
func (m *Manifest) Ref() Ref { return Ref{Name: m.Name, Version: m.Version, Digest: m.Digest} }

// Draft is what becomes a version. Of Manifest the caller fills Why,
// RelevantGrade, Pins, Funnel, Shortfall, Trust, Missed, Coverage, Notes and
// Costs; the store fills the rest (Format, Name, Version, Parent, Digest, Files,
// Counts, CreatedAt) and, in the cases, Since and RetiredIn. RefreshedAt is
// that of From, where the draft was derived from a version and not Refreshed, else
// the present time.
type Draft struct {
	Cases    []Case
	Rejects  []Reject
	Manifest Manifest

	// From is the version that the draft was derived from, and becomes its
	// parent; nil stands for the newest one. Where others have committed since,
	// Write returns ErrNotNewest, unless Branch says that the draft may stand
	// beside theirs.
	From   *Ref
	Branch bool
	Merged *Ref // the version that was merged into From

	// Refreshed says that the draft holds what the corpus gives now, though it was
	// derived from a version: RefreshedAt is the present time.
	Refreshed bool
}

// Case finds a case by its id; nil when there is none.
func (s *Set) Case(id string) *Case {
	for i := range s.Cases {
		if s.Cases[i].ID == id {
			return &s.Cases[i]
		}
	}
	return nil
}

// Context is up to width bytes of the document's text on either side of the
// evidence, cut between characters. ok is false when the quote is not at its
// span of that text.
func (e Evidence) Context(text string, width int) (before, after string, ok bool) {
	if e.Start < 0 || e.End < e.Start || e.End > len(text) || text[e.Start:e.End] != e.Quote {
		return "", "", false
	}
	from, to := max(0, e.Start-width), min(len(text), e.End+width)
	for from < e.Start && !utf8.RuneStart(text[from]) {
		from++
	}
	for to > e.End && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return text[from:e.Start], text[e.End:to], true
}
