package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// Store keeps golden sets as folders: Root/<name>/v0001. A version is never
// changed once written. Several processes may use one store at once.
type Store struct {
	Root  string           // the folder golden/
	Locks string           // folder of the lock files, made when missing
	Now   func() time.Time // for created_at
}

// ErrOccupied says that the folder of the next version holds what no write of a
// version left there.
var ErrOccupied = errors.New("the place of the next version is taken")

// lockPoll is how often a waiting commit asks for the lock.
const lockPoll = 20 * time.Millisecond

// Write commits a draft as the next version of the named set. When its rows,
// relevant grade, pins (but for goldgen's version) and trust equal those of
// the newest version, nothing is written, and that version is returned with
// changed false. A lock is held for the name while committing: of two commits
// at once the second waits and then sees the first. After an error nothing of
// the draft is visible.
func (s *Store) Write(ctx context.Context, name string, d Draft) (ref Ref, changed bool, err error) {
	if err := ValidateName(name); err != nil {
		return Ref{}, false, err
	}
	if err := d.validate(); err != nil {
		return Ref{}, false, fmt.Errorf("golden set %s: %w", name, err)
	}
	d = d.canonical()
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return Ref{}, false, fmt.Errorf("golden set %s: %w", name, err)
	}
	defer unlock()
	ref, changed, err = s.commit(ctx, name, d)
	if err != nil {
		return Ref{}, false, fmt.Errorf("golden set %s: %w", name, err)
	}
	return ref, changed, nil
}

// lock takes the file lock of a name; it ends with the process at the latest.
func (s *Store) lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := os.MkdirAll(s.Locks, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(s.Locks, "golden-"+name+".lock"))
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("waiting for the lock %s: %w", l.Path(), err)
	}
	return func() { l.Unlock() }, nil
}

// commit runs under the lock.
func (s *Store) commit(ctx context.Context, name string, d Draft) (Ref, bool, error) {
	versions, err := s.versions(name)
	if err != nil {
		return Ref{}, false, err
	}
	parent, err := d.parentAmong(versions)
	if err != nil {
		return Ref{}, false, err
	}
	d.Manifest.Digest = Digest(d.Cases, d.Rejects)
	if same, err := d.repeated(versions, parent); err != nil || same.Version > 0 {
		return same, false, err
	}
	if d.From != nil && !d.Refreshed {
		if d.Manifest.RefreshedAt, err = s.RefreshedAt(&parent.Manifest); err != nil {
			return Ref{}, false, err
		}
	}
	d.complete(name, parent, versions.last()+1, s.Now())
	if err := context.Cause(ctx); err != nil {
		return Ref{}, false, err
	}
	dir, err := s.place(name, &d)
	if err != nil {
		return Ref{}, false, err
	}
	ref := d.Manifest.Ref()
	ref.Path = dir
	return ref, true, nil
}

// place writes the version's files under a temporary name and renames the
// folder. What an earlier process left unfinished goes first; anything else that
// stands there is the error ErrOccupied.
func (s *Store) place(name string, d *Draft) (dir string, err error) {
	home := filepath.Join(s.Root, name)
	target := filepath.Join(home, folderOf(d.Manifest.Version))
	if err := removeUnfinished(home, target); err != nil {
		return "", err
	}
	temp, err := atomicfile.MkdirTemp(home)
	if err != nil {
		os.Remove(home)
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(temp)
			os.Remove(home) // goes only when empty
		}
	}()
	if err := writeVersion(temp, d); err != nil {
		return "", err
	}
	return target, atomicfile.Rename(temp, target)
}

// removeUnfinished clears temporary folders of dead processes and a version folder
// at target that was not written to its end. It runs under the lock.
func removeUnfinished(home, target string) error {
	if hasManifest(target) {
		return fmt.Errorf("version %s: %w", target, fs.ErrExist)
	}
	if err := sweep(home); err != nil {
		return err
	}
	if err := unfinished(target); err != nil {
		return err
	}
	return os.RemoveAll(target)
}

// unfinished refuses to give up what stands in the place of the next version,
// unless it is files of a version without a manifest: files of somebody's own are
// not made again.
func unfinished(target string) error {
	info, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is no folder; move it away", ErrOccupied, target)
	}
	entries, err := os.ReadDir(target)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(pinnedFiles, e.Name()) && !strings.HasPrefix(e.Name(), ".tmp-") {
			return fmt.Errorf("%w: %s holds %s; move it away", ErrOccupied, target, e.Name())
		}
	}
	return nil
}

// sweep clears the temporary folders of processes that have ended. It runs under
// the lock.
func sweep(home string) error {
	left, err := filepath.Glob(filepath.Join(globQuote(home), ".tmp-*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// globQuote escapes what filepath.Glob would read as a pattern.
func globQuote(path string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(path)
}

func hasManifest(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, manifestFile))
	return err == nil && info.Mode().IsRegular()
}

// sameResult reports whether a commit of b would repeat a. goldgen's version
// is no part of it: a newer program that makes the same rows makes no version. Nor
// are the bytes of a query log: what was drawn from it is pinned with the plan.
func sameResult(a, b *Manifest) bool {
	pa, pb := a.Pins, b.Pins
	pa.Goldgen, pb.Goldgen = "", ""
	pa.Queries, pb.Queries = "", ""
	return a.Digest == b.Digest && a.RelevantGrade == b.RelevantGrade && a.Trust.Level == b.Trust.Level &&
		bytes.Equal(mustJSON(pa), mustJSON(pb))
}

// Resolve finds the version that a reference means: <name> (the newest),
// <name>@v3, <name>@sha256:<digits that only it begins with>, <name>@<tag>,
// @sha256:<digits> in whatever set, or the folder of a version. A name wins over
// a folder of the same name; write ./name for that.
func (s *Store) Resolve(ref string) (Ref, error) {
	if digest, ok := strings.CutPrefix(ref, "@"); ok && digestSelector.MatchString(digest) {
		return s.byDigest(digest)
	}
	name, sel, err := parseRef(ref)
	if err == nil {
		versions, err := s.versions(name)
		switch {
		case err != nil:
			return Ref{}, err
		case !versions.empty() && sel.tag != "":
			return s.byTag(name, sel.tag, versions)
		case !versions.empty():
			return versions.choose(name, sel)
		}
	}
	if info, statErr := os.Stat(ref); statErr == nil && info.IsDir() {
		return refOfDir(ref)
	}
	if err != nil {
		return Ref{}, err
	}
	return Ref{}, s.unknown(name)
}

// unknown says that there is no such set, and which there are.
func (s *Store) unknown(name string) error {
	all, err := s.setNames()
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return &MissingError{fmt.Sprintf("no golden set %s: %s holds none", name, s.Root)}
	}
	return &MissingError{fmt.Sprintf("no golden set %s: %s holds %s", name, s.Root, strings.Join(all, ", "))}
}

// byDigest finds the version whose digest begins so, in whatever set.
func (s *Store) byDigest(digest string) (Ref, error) {
	names, err := s.setNames()
	if err != nil {
		return Ref{}, err
	}
	var found []Ref
	var unread error
	for _, name := range names {
		versions, err := s.versions(name)
		if err != nil {
			return Ref{}, err
		}
		unread = errors.Join(unread, versions.unread())
		found = append(found, slices.DeleteFunc(versions.refs, func(r Ref) bool { return !strings.HasPrefix(r.Digest, digest) })...)
	}
	for _, r := range found {
		if r.Digest != found[0].Digest || r.Name != found[0].Name {
			return Ref{}, fmt.Errorf("%s fits several versions: %s and %s", digest, found[0], r)
		}
	}
	if len(found) == 0 && unread != nil {
		return Ref{}, fmt.Errorf("no version of a golden set in %s that can be read has the digest %s: %w", s.Root, digest, unread)
	}
	if len(found) == 0 {
		return Ref{}, &MissingError{fmt.Sprintf("no version of a golden set in %s has the digest %s", s.Root, digest)}
	}
	return found[len(found)-1], nil
}

// refOfDir reads the reference of a version's folder.
func refOfDir(dir string) (Ref, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return Ref{}, err
	}
	ref := m.Ref()
	ref.Path = dir
	return ref, nil
}

// Load reads the version that a reference means. A version whose files are not
// those that its manifest names, by SHA-256, is refused.
func (s *Store) Load(ref string) (*Set, error) {
	r, err := s.Resolve(ref)
	if err != nil {
		return nil, err
	}
	return loadDir(r.Path)
}

// setNames lists the sets that have a finished version, sorted.
func (s *Store) setNames() ([]string, error) {
	entries, err := os.ReadDir(s.Root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if ValidateName(e.Name()) != nil {
			continue
		}
		refs, err := filepath.Glob(filepath.Join(globQuote(s.Root), e.Name(), "v*", manifestFile))
		if err == nil && len(refs) > 0 {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Entry is one line of a listing: a set, its newest version and its tags.
type Entry struct {
	Ref      Ref      `json:"ref"` // of the newest version
	Versions []int    `json:"versions"`
	Tags     []TagAt  `json:"tags"`     // that stand somewhere, by name
	Manifest Manifest `json:"manifest"` // of the newest version
	Problem  string   `json:"problem,omitempty"`
}

// List describes every set of the store, sorted by name. A set that cannot be
// read is listed with its problem.
func (s *Store) List() ([]Entry, error) {
	all, err := s.setNames()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(all))
	for _, name := range all {
		e := Entry{Ref: Ref{Name: name}, Versions: []int{}, Tags: []TagAt{}}
		if err := s.describe(&e); err != nil {
			e.Problem = err.Error()
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// describe fills the entry of a set as far as it can be read.
func (s *Store) describe(e *Entry) error {
	versions, err := s.versions(e.Ref.Name)
	if err == nil && versions.empty() {
		err = fmt.Errorf("no finished version")
	}
	if err != nil {
		return err
	}
	for _, r := range versions.refs {
		e.Versions = append(e.Versions, r.Version)
	}
	newest, err := versions.newest()
	if err != nil {
		return err
	}
	m, err := ReadManifest(newest.Path)
	if err != nil {
		return err
	}
	e.Ref, e.Manifest = newest, *m
	if e.Tags, err = s.standing(e.Ref.Name, versions.refs); err != nil {
		return err
	}
	return versions.unread()
}
