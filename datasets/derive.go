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

// parentAmong reads the draft's parent among a set's versions, which are in
// order; the set's first version has none.
func (d *Draft) parentAmong(refs []Ref) (*Set, error) {
	i := len(refs) - 1
	if d.From != nil {
		i = slices.IndexFunc(refs, d.From.same)
	}
	switch {
	case d.From == nil && i < 0:
		return nil, nil
	case i < 0:
		return nil, fmt.Errorf("%s (%s), from which this was derived, is not there", label(d.From.Version), d.From.Digest)
	case i < len(refs)-1 && !d.Branch:
		return nil, fmt.Errorf("%s: %w: that is %s", label(d.From.Version), ErrNotNewest, label(refs[len(refs)-1].Version))
	}
	parent, err := loadDir(refs[i].Path)
	if err != nil {
		return nil, fmt.Errorf("parent version: %w", err)
	}
	return parent, nil
}

// same reports whether both name one version of a set, wherever it lies.
func (r Ref) same(o Ref) bool { return r.Version == o.Version && r.Digest == o.Digest }

// repeated finds the version that the draft would only repeat: its parent or the
// newest. The zero Ref stands for none.
func (d *Draft) repeated(refs []Ref, parent *Set) (Ref, error) {
	for _, r := range slices.Backward(refs) {
		if newest := r.Version == nextVersion(refs)-1; !newest && !r.same(parent.Ref()) {
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
