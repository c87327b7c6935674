package datasets

import "fmt"

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

// Draft is what becomes a version. Of Manifest the caller fills RelevantGrade,
// Pins, Funnel, Shortfall, Trust, Missed, Coverage, Notes and Costs; the store
// fills the rest (Format, Name, Version, Parent, Digest, Files, Counts,
// CreatedAt) and, in the cases, Since and RetiredIn.
type Draft struct {
	Cases    []Case
	Rejects  []Reject
	Manifest Manifest
}
