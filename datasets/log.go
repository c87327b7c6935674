package datasets

import (
	"path/filepath"
	"slices"
)

// LogEntry is one version of a set's past.
type LogEntry struct {
	Ref       Ref      `json:"ref"`
	Parent    string   `json:"parent,omitempty"`         // the version it was made from, v3
	Merged    string   `json:"merged,omitempty"`         // digest of the version that was merged into it
	Missing   bool     `json:"parent_missing"`           // its parent is no longer there, or cannot be read
	Problem   string   `json:"parent_problem,omitempty"` // why that cannot be read
	Why       string   `json:"why"`
	Counts    Counts   `json:"counts"`
	Trust     string   `json:"trust"`
	CreatedAt string   `json:"created_at"`
	Tags      []string `json:"tags"`
}

// Log is how a version came to be: itself, its parent, and so on, the newest
// first, with those that were merged in.
func (s *Store) Log(ref string) ([]LogEntry, error) {
	r, err := s.Resolve(ref)
	if err != nil {
		return nil, err
	}
	past, err := lineageOf(r)
	if err != nil {
		return nil, err
	}
	tags, err := s.Tags(r.Name)
	if err != nil {
		return nil, err
	}
	out := []LogEntry{}
	for _, m := range past.ancestors(r.Digest, r.Version) {
		out = append(out, past.entry(m, tags))
	}
	return out, nil
}

// lineage are the manifests of the versions that stand beside each other.
type lineage struct {
	versions []*Manifest // in order
	gone     []*Manifest // what is known of those that Collect deleted
	paths    map[*Manifest]string
	bad      map[int]error // of versions that cannot be read, by number
}

// lineageOf reads the manifests beside a version, itself among them.
func lineageOf(r Ref) (*lineage, error) {
	home := filepath.Dir(filepath.Clean(r.Path))
	beside, err := versionsIn(home, r.Name)
	if err != nil {
		return nil, err
	}
	gone, err := readGone(home)
	if err != nil {
		return nil, err
	}
	refs := beside.refs
	if !slices.ContainsFunc(refs, func(o Ref) bool { return o.Version == r.Version }) {
		refs = append(refs, r) // a version's folder that stands alone, or under another name
	}
	l := &lineage{paths: map[*Manifest]string{}, bad: beside.bad}
	for _, ref := range refs {
		m, err := ReadManifest(ref.Path)
		if err != nil {
			return nil, err
		}
		l.versions, l.paths[m] = append(l.versions, m), ref.Path
	}
	for i := range gone {
		l.gone = append(l.gone, gone[i].manifest(r.Name))
	}
	return l, nil
}

// find gives the version of that number and with these rows, nil where there is
// none.
func (l *lineage) find(digest string, version int) *Manifest {
	for _, m := range l.versions {
		if m.Digest == digest && m.Version == version {
			return m
		}
	}
	return nil
}

// ref names a version with its folder.
func (l *lineage) ref(m *Manifest) Ref {
	r := m.Ref()
	r.Path = l.paths[m]
	return r
}

// past are the ancestors of a version of the lineage.
func (l *lineage) past(m *Manifest) []*Manifest { return l.ancestors(m.Digest, m.Version) }

// known is find, or what is noted of a version that was deleted.
func (l *lineage) known(digest string, version int) *Manifest {
	if m := l.find(digest, version); m != nil {
		return m
	}
	for _, m := range l.gone {
		if m.Digest == digest && m.Version == version {
			return m
		}
	}
	return nil
}

// ancestors are a version and all that it was made from and that are there, the newest
// first. The way to them may lead over versions that were deleted.
func (l *lineage) ancestors(digest string, version int) []*Manifest {
	var seen []*Manifest
	queue := []*Manifest{l.known(digest, version)}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		if m == nil || slices.Contains(seen, m) {
			continue
		}
		seen = append(seen, m)
		queue = append(queue, l.known(m.Parent, m.ParentVersion), l.known(m.Merged, m.MergedVersion))
	}
	out := slices.DeleteFunc(seen, func(m *Manifest) bool { return slices.Contains(l.gone, m) })
	slices.SortFunc(out, func(a, b *Manifest) int { return b.Version - a.Version })
	return out
}

func (l *lineage) entry(m *Manifest, tags []Tag) LogEntry {
	e := LogEntry{
		Ref: l.ref(m), Merged: m.Merged, Why: m.Why, Counts: m.Counts, Trust: m.Trust.Level, CreatedAt: m.CreatedAt, Tags: []string{},
	}
	if m.ParentVersion > 0 {
		e.Parent = label(m.ParentVersion)
		e.Missing = l.find(m.Parent, m.ParentVersion) == nil
		if err := l.bad[m.ParentVersion]; e.Missing && err != nil {
			e.Problem = err.Error()
		}
	}
	for _, t := range tags {
		if t.Version == m.Version && t.Digest == m.Digest {
			e.Tags = append(e.Tags, t.Name)
		}
	}
	return e
}
