package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// versionList are the versions of a set that can be read, in order. What is wrong with
// the others is kept by number: they are in the way of nobody who names another one.
type versionList struct {
	refs []Ref
	bad  map[int]error
}

// versions lists the finished versions of a set; none is no error.
func (s *Store) versions(name string) (*versionList, error) {
	return versionsIn(filepath.Join(s.Root, name), name)
}

// versionsIn lists those that stand in the folder home.
func versionsIn(home, name string) (*versionList, error) {
	l := &versionList{bad: map[int]error{}}
	entries, err := os.ReadDir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		n, ok := versionOf(e.Name())
		dir := filepath.Join(home, e.Name())
		if !ok || !hasManifest(dir) {
			continue
		}
		ref, err := refOfDir(dir)
		if err == nil && (ref.Name != name || ref.Version != n) {
			err = fmt.Errorf("%s: its manifest says %s; was the folder renamed or copied?", dir, ref)
		}
		if err != nil {
			l.bad[n] = err
			continue
		}
		l.refs = append(l.refs, ref)
	}
	slices.SortFunc(l.refs, func(a, b Ref) int { return a.Version - b.Version })
	return l, nil
}

// empty reports that nothing stands there, be it sound or not.
func (l *versionList) empty() bool { return len(l.refs)+len(l.bad) == 0 }

// last is the highest number, 0 of none.
func (l *versionList) last() int {
	n := 0
	for _, r := range l.refs {
		n = max(n, r.Version)
	}
	for bad := range l.bad {
		n = max(n, bad)
	}
	return n
}

// newest is the version with the highest number, of a list that is not empty. Where
// that cannot be read, none stands in for it.
func (l *versionList) newest() (Ref, error) {
	if err := l.bad[l.last()]; err != nil {
		return Ref{}, err
	}
	return l.refs[len(l.refs)-1], nil
}

// unread joins what is wrong, the lowest number first; nil where nothing is.
func (l *versionList) unread() error {
	var errs []error
	for _, n := range slices.Sorted(maps.Keys(l.bad)) {
		errs = append(errs, l.bad[n])
	}
	return errors.Join(errs...)
}

// choose picks the version that a selector means.
func (l *versionList) choose(name string, sel selector) (Ref, error) {
	if sel.version == 0 && sel.digest == "" {
		return l.newest()
	}
	if err := l.bad[sel.version]; err != nil {
		return Ref{}, err
	}
	fits := func(r Ref) bool { return sel.version == r.Version || sel.version == 0 }
	var found []Ref
	for _, r := range l.refs {
		if fits(r) && strings.HasPrefix(r.Digest, sel.digest) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0 && sel.digest != "" && len(l.bad) > 0:
		return Ref{}, fmt.Errorf("golden set %s: no version that can be read has the digest %s: %w", name, sel, l.unread())
	case len(found) == 0:
		return Ref{}, fmt.Errorf("golden set %s has no version %s; it has %s", name, sel, strings.Join(names(l.refs), ", "))
	case sel.digest != "" && slices.ContainsFunc(found, func(r Ref) bool { return r.Digest != found[0].Digest }):
		return Ref{}, fmt.Errorf("golden set %s: %s fits several versions: %s", name, sel, strings.Join(names(found), ", "))
	}
	return found[len(found)-1], nil
}
