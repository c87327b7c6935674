package datasets

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNotNewest says that a draft was derived from a version that others have
// committed a next one of.
var ErrNotNewest = errors.New("not the newest version")

// Derive begins a draft that takes over everything of a set but what it cost:
// the caller changes it and says why.
func Derive(s *Set, why string) Draft {
	from := s.Ref()
	d := Draft{Cases: slices.Clone(s.Cases), Rejects: s.Rejects, Manifest: s.Manifest, From: &from}
	d.Manifest.Costs, d.Manifest.Why, d.Manifest.Drift = Costs{}, why, nil
	return d
}

// parentAmong reads the draft's parent among a set's versions; the set's first version
// has none. What follows a version that cannot be read is not known, so nothing is
// written after it.
func (d *Draft) parentAmong(versions *versionList) (*Set, error) {
	if d.From == nil && versions.empty() {
		return nil, nil
	}
	newest, err := versions.newest()
	if err != nil && (d.From == nil || !d.Branch) {
		return nil, err
	}
	parent := newest
	if d.From != nil {
		i := slices.IndexFunc(versions.refs, d.From.same)
		if i < 0 {
			return nil, fmt.Errorf("%s (%s), from which this was derived, is not there", label(d.From.Version), d.From.Digest)
		}
		parent = versions.refs[i]
	}
	if parent.Version < versions.last() && !d.Branch {
		return nil, fmt.Errorf("%s: %w: that is %s", label(d.From.Version), ErrNotNewest, label(newest.Version))
	}
	set, err := loadDir(parent.Path)
	if err != nil {
		return nil, fmt.Errorf("parent version: %w", err)
	}
	return set, nil
}

// same reports whether both name one version of a set, wherever it lies.
func (r Ref) same(o Ref) bool { return r.Version == o.Version && r.Digest == o.Digest }

// repeated finds the version that the draft would only repeat: its parent or the
// newest. The zero Ref stands for none.
func (d *Draft) repeated(versions *versionList, parent *Set) (Ref, error) {
	for _, r := range slices.Backward(versions.refs) {
		if newest := r.Version == versions.last(); !newest && !r.same(parent.Ref()) {
			continue
		}
		m, err := ReadManifest(r.Path)
		if err != nil {
			return Ref{}, err
		}
		if sameResult(m, &d.Manifest) {
			return r, nil
		}
	}
	return Ref{}, nil
}
