package datasets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// Kept is a version that a collection leaves, and why.
type Kept struct {
	Ref Ref    `json:"ref"`
	Why string `json:"why"`
}

// Collected is what a collection of a set's versions found.
type Collected struct {
	Kept    []Kept `json:"kept"`
	Deleted []Ref  `json:"deleted"` // or that would be, in a dry run
	Bytes   int64  `json:"bytes"`   // of the files of those
	DryRun  bool   `json:"dry_run"`
}

// CollectOptions say what a collection may delete.
type CollectOptions struct {
	DryRun   bool                   // only tell
	Branches bool                   // branches that were not merged may go too
	Needed   func(Ref) (why string) // what else keeps a version; asked under the set's lock, never nil
}

// Collect deletes the versions of a set that nothing needs. Kept are the newest,
// where tags stand, versions that nobody made a next one of (branches), the common
// ancestors of those and what lies between, which a merge needs, and what Needed
// gives a reason for. A version goes in one rename, so that a killed collection
// leaves whole versions, and what the next commit sweeps away; of what a deleted one was
// made stays noted beside the others. A tag that stands at
// a version that is not there is an error: which one it should keep is not known. So
// is a version that cannot be read: what it was made of is not known.
func (s *Store) Collect(ctx context.Context, name string, o CollectOptions) (*Collected, error) {
	if err := ValidateName(name); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("golden set %s: %w", name, err)
	}
	defer unlock()
	versions, err := s.versions(name)
	if err != nil {
		return nil, err
	}
	if versions.empty() {
		return nil, s.unknown(name)
	}
	if err := versions.unread(); err != nil {
		return nil, fmt.Errorf("golden set %s: what a version needs that cannot be read is not known: %w", name, err)
	}
	out, err := s.plan(name, versions, o)
	if err != nil {
		return nil, err
	}
	if out.DryRun = o.DryRun; o.DryRun {
		return out, nil
	}
	if err := noteGone(filepath.Join(s.Root, name), out.Deleted); err != nil {
		return nil, fmt.Errorf("golden set %s: %w", name, err)
	}
	for _, r := range out.Deleted {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if err := removeVersion(r.Path); err != nil {
			return nil, fmt.Errorf("golden set %s: %w", name, err)
		}
	}
	return out, sweep(filepath.Join(s.Root, name))
}

// plan tells the versions that stay from those that go.
func (s *Store) plan(name string, versions *versionList, o CollectOptions) (*Collected, error) {
	reasons, err := s.reasons(name, versions, o)
	if err != nil {
		return nil, err
	}
	out := &Collected{Kept: []Kept{}, Deleted: []Ref{}}
	for _, r := range versions.refs {
		why := reasons[r.Version]
		if why == "" {
			why = o.Needed(r)
		}
		if why != "" {
			out.Kept = append(out.Kept, Kept{r, why})
			continue
		}
		size, err := sizeOf(r.Path)
		if err != nil {
			return nil, err
		}
		out.Deleted, out.Bytes = append(out.Deleted, r), out.Bytes+size
	}
	return out, nil
}

// reasons says, by version, why the set itself needs one.
func (s *Store) reasons(name string, versions *versionList, o CollectOptions) (map[int]string, error) {
	newest := versions.refs[len(versions.refs)-1]
	past, err := lineageOf(newest)
	if err != nil {
		return nil, err
	}
	tags, err := s.Tags(name)
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	if !o.Branches {
		out = past.branches()
	}
	for _, t := range tags {
		if t.Version == 0 {
			continue
		}
		at, err := s.byTag(name, t.Name, versions)
		if err != nil {
			return nil, err
		}
		out[at.Version] = "tag " + t.Name
	}
	out[newest.Version] = "the newest"
	return out, nil
}

// branches are the versions without a next one, where each two of them went apart,
// and those by way of which they came from there: without these a merge could not
// tell that they have an ancestor in common.
func (l *lineage) branches() map[int]string {
	out := map[int]string{}
	var tips []*Manifest
	for _, m := range l.versions {
		if !slices.ContainsFunc(l.versions, func(next *Manifest) bool { return next.madeOf(m) }) {
			tips = append(tips, m)
			out[m.Version] = "a branch that was not merged"
		}
	}
	for i, a := range tips {
		for _, b := range tips[:i] {
			m := shared(l.past(a), l.past(b))
			if m == nil {
				continue
			}
			note(out, m, fmt.Sprintf("%s and %s were made of it", label(b.Version), label(a.Version)))
			l.between(m, a, out)
			l.between(m, b, out)
		}
	}
	return out
}

// between gives the versions by way of which tip was made of base their reason.
func (l *lineage) between(base, tip *Manifest, reasons map[int]string) {
	for _, m := range l.past(tip) {
		if m != base && slices.Contains(l.past(m), base) {
			note(reasons, m, fmt.Sprintf("%s was made of %s by way of it", label(tip.Version), label(base.Version)))
		}
	}
}

// note keeps the first reason for a version.
func note(reasons map[int]string, m *Manifest, why string) {
	if reasons[m.Version] == "" {
		reasons[m.Version] = why
	}
}

// madeOf reports whether m is a next version of o, or o was merged into it.
func (m *Manifest) madeOf(o *Manifest) bool {
	return m.ParentVersion == o.Version && m.Parent == o.Digest || m.MergedVersion == o.Version && m.Merged == o.Digest
}

// removeVersion renames a version's folder aside and deletes it then: a name that
// nothing reads, and that removeUnfinished clears.
func removeVersion(dir string) error {
	aside, err := atomicfile.MkdirTemp(filepath.Dir(dir))
	if err != nil {
		return err
	}
	if err := atomicfile.Rename(dir, filepath.Join(aside, filepath.Base(dir))); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	return os.RemoveAll(aside)
}

// sizeOf adds up the files of a folder.
func sizeOf(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}
