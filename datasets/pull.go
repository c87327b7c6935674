package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/bucket"
	"github.com/goldgen/goldgen/internal/filedigest"
)

// PullOptions say what comes with a version that is pulled.
type PullOptions struct {
	Only    bool           // without the versions that it was made from
	Tags    []string       // moved here to where they stand there
	If      *int           // where they must stand here, 0 for nowhere; nil: where the tag's own past says
	Partial string         // folder where files wait until a version is whole; made when missing
	Report  func(Transfer) // told of each version as it is done; may be nil
}

// Pulled is what a pull did.
type Pulled struct {
	Golden   Ref           `json:"golden"`   // the version that was asked for
	Versions []Transfer    `json:"versions"` // the oldest first
	Tags     []TagTransfer `json:"tags"`
}

// puller is one pull.
type puller struct {
	store     *Store
	from      *bucket.Bucket
	o         PullOptions
	name      string
	manifests map[int]*Manifest // those that were read
	raw       map[int][]byte
	done      Pulled
}

// Pull fetches the version of another place that a reference means there (name,
// name@v3, name@sha256:..., name@tag), the versions that it was made from and are
// still there, and tags. Every file is held against the digest in its manifest, and
// the rows against theirs, before anything of a version is seen here. What was fetched
// is not fetched again by the next pull. Where a version's number is another's here
// the error is ErrDiverged; what differs from its manifest is ErrDamaged.
func (s *Store) Pull(ctx context.Context, from *bucket.Bucket, ref string, o PullOptions) (Pulled, error) {
	name, sel, err := parseRef(ref)
	if err != nil {
		return Pulled{}, err
	}
	p := &puller{
		store: s, from: from, o: o, name: name, manifests: map[int]*Manifest{}, raw: map[int][]byte{},
		done: Pulled{Versions: []Transfer{}, Tags: []TagTransfer{}},
	}
	unlock, err := p.lock(ctx)
	if err != nil {
		return p.done, err
	}
	defer unlock()
	chain, err := p.plan(ctx, sel)
	if err != nil {
		return p.done, err
	}
	for _, m := range chain {
		t, err := p.version(ctx, m)
		if err != nil {
			return p.done, fmt.Errorf("%s: %w", m.Ref(), err)
		}
		p.done.Versions = append(p.done.Versions, t)
		if o.Report != nil {
			o.Report(t)
		}
	}
	if err := p.tags(ctx); err != nil {
		return p.done, err
	}
	return p.done, os.RemoveAll(o.Partial)
}

// lock lets one pull of a set at a time fetch into the same folder.
func (p *puller) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(p.store.Locks, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(p.store.Locks, "pull-"+p.name+".lock"))
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("waiting for the lock %s: %w", l.Path(), err)
	}
	return func() { l.Unlock() }, nil
}

// plan finds the version that is meant and those that come with it and with the tags,
// the oldest first.
func (p *puller) plan(ctx context.Context, sel selector) ([]*Manifest, error) {
	numbers, err := p.numbers(ctx)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, &MissingError{fmt.Sprintf("no golden set %s at %s", p.name, p.from)}
	}
	head, err := p.choose(ctx, sel, numbers)
	if err != nil {
		return nil, err
	}
	p.done.Golden = head.Ref()
	heads := []*Manifest{head}
	for _, tag := range p.o.Tags {
		m, err := p.tagged(ctx, tag)
		if err != nil {
			return nil, err
		}
		if m != nil {
			heads = append(heads, m)
		}
	}
	return p.chain(ctx, heads)
}

// numbers lists the finished versions of the set that lie there.
func (p *puller) numbers(ctx context.Context) ([]int, error) {
	var out []int
	for info, err := range p.from.List(ctx, p.name+"/") {
		if err != nil {
			return nil, err
		}
		folder, ok := strings.CutSuffix(strings.TrimPrefix(info.Key, p.name+"/"), "/"+manifestFile)
		if n, is := versionOf(folder); ok && is {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// read reads a version's manifest once; nil where it is not there.
func (p *puller) read(ctx context.Context, version int) (*Manifest, error) {
	if m, ok := p.manifests[version]; ok {
		return m, nil
	}
	m, raw, err := readRemote(ctx, p.from, p.name, version)
	if err == nil {
		p.manifests[version], p.raw[version] = m, raw
	}
	return m, err
}

// choose finds the version that a selector means. Only those are read that it may mean.
func (p *puller) choose(ctx context.Context, sel selector, numbers []int) (*Manifest, error) {
	if sel.tag != "" {
		m, err := p.tagged(ctx, sel.tag)
		if err == nil && m == nil {
			err = &MissingError{fmt.Sprintf("golden set %s has no tag %s at %s", p.name, sel.tag, p.from)}
		}
		return m, err
	}
	newest := sel.version == 0 && sel.digest == ""
	list := &versionList{bad: map[int]error{}}
	for i, n := range numbers {
		ref := Ref{Name: p.name, Version: n}
		if sel.digest != "" || sel.version == n || newest && i == len(numbers)-1 {
			m, err := p.read(ctx, n)
			switch {
			case err != nil:
				list.bad[n] = err
				continue
			case m != nil:
				ref = m.Ref()
			}
		}
		list.refs = append(list.refs, ref)
	}
	r, err := list.choose(p.name, sel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.from, err)
	}
	if m := p.manifests[r.Version]; m != nil {
		return m, nil
	}
	return nil, &MissingError{fmt.Sprintf("%s was taken away at %s just now", r, p.from)}
}

// tagged is the version where a tag of the place stands; nil where it stands nowhere.
func (p *puller) tagged(ctx context.Context, tag string) (*Manifest, error) {
	t, _, err := readRemoteTag(ctx, p.from, p.name, tag)
	if err != nil || t.Version == 0 {
		return nil, err
	}
	m, err := p.read(ctx, t.Version)
	if err == nil && (m == nil || m.Digest != t.Digest) {
		err = fmt.Errorf("golden set %s: tag %s stands at %s (%s), which is not at %s", p.name, tag, label(t.Version), t.Digest, p.from)
	}
	return m, err
}

// chain follows parents as far as they lie there.
func (p *puller) chain(ctx context.Context, heads []*Manifest) ([]*Manifest, error) {
	l := &lineage{}
	for queue := heads; len(queue) > 0; queue = queue[1:] {
		m := queue[0]
		if slices.Contains(l.versions, m) {
			continue
		}
		l.versions = append(l.versions, m)
		for version, digest := range map[int]string{m.ParentVersion: m.Parent, m.MergedVersion: m.Merged} {
			if version == 0 || p.o.Only {
				continue
			}
			parent, err := p.read(ctx, version)
			if err != nil {
				return nil, err
			}
			if parent != nil && parent.Digest == digest {
				queue = append(queue, parent)
			}
		}
	}
	slices.SortFunc(l.versions, func(a, b *Manifest) int { return a.Version - b.Version })
	return l.versions, nil
}

// version fetches one version, and places it when it is whole.
func (p *puller) version(ctx context.Context, m *Manifest) (Transfer, error) {
	t := Transfer{Ref: m.Ref()}
	home := filepath.Join(p.store.Root, p.name)
	target := filepath.Join(home, folderOf(m.Version))
	t.Ref.Path = target
	if here, err := p.here(target, m); here || err != nil {
		t.There = true
		return t, err
	}
	if err := os.MkdirAll(p.o.Partial, 0o755); err != nil {
		return t, err
	}
	for _, file := range pinnedFiles {
		if err := p.file(ctx, m, file, &t); err != nil {
			return t, err
		}
	}
	unlock, err := p.store.lock(ctx, p.name)
	if err != nil {
		return t, err
	}
	defer unlock()
	if here, err := p.here(target, m); here || err != nil {
		return t, err // another process made it meanwhile
	}
	return t, p.place(ctx, m, home, target)
}

// here reports whether the version is in the store; another of its number is an error.
func (p *puller) here(target string, m *Manifest) (bool, error) {
	if !hasManifest(target) {
		return false, nil
	}
	old, err := ReadManifest(target)
	if err != nil {
		return false, err
	}
	if old.Digest != m.Digest {
		return false, fmt.Errorf("%w: %s, of %s, has the digest %s; the one at %s is of %s and has %s", ErrDiverged,
			target, old.CreatedAt, old.Digest, p.from, m.CreatedAt, m.Digest)
	}
	return true, nil
}

// file fetches one file into the folder of parts, unless it waits there.
func (p *puller) file(ctx context.Context, m *Manifest, file string, t *Transfer) error {
	key, sha, err := remoteFile(m, file)
	if err != nil {
		return err
	}
	part := filepath.Join(p.o.Partial, sha)
	if have, err := filedigest.SHA256(part); err == nil && have == sha {
		t.Kept++
		return nil
	}
	r, info, err := p.from.Get(ctx, key)
	if errors.Is(err, bucket.ErrMissing) {
		// The place may be the folder of a project's sets, whose files have plain names.
		r, info, err = p.from.Get(ctx, path.Join(m.Name, folderOf(m.Version), file))
	}
	if errors.Is(err, bucket.ErrMissing) {
		return fmt.Errorf("%w: its manifest is there, a file of it is not: %w", ErrDamaged, err)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	err = atomicfile.Write(part, 0o644, func(w io.Writer) error {
		if _, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, info.Size)); err != nil {
			return fmt.Errorf("%s: %w", p.from.Where(key), err)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != sha {
			return fmt.Errorf("%w: %s has the digest %s", ErrDamaged, p.from.Where(key), got)
		}
		return nil
	})
	t.Files, t.Bytes = t.Files+1, t.Bytes+info.Size
	return err
}

// place makes the version of its parts under another name, holds it against its
// manifest, and renames it. It runs under the store's lock.
func (p *puller) place(ctx context.Context, m *Manifest, home, target string) (err error) {
	if err := removeUnfinished(home, target); err != nil {
		return err
	}
	temp, err := atomicfile.MkdirTemp(home)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(temp)
			os.Remove(home) // goes only when empty
		}
	}()
	for _, file := range pinnedFiles {
		_, sha, err := remoteFile(m, file)
		if err != nil {
			return err
		}
		if err := copyFile(filepath.Join(temp, file), filepath.Join(p.o.Partial, sha)); err != nil {
			return err
		}
	}
	if err := atomicfile.WriteBytes(filepath.Join(temp, manifestFile), 0o644, p.raw[m.Version]); err != nil {
		return err
	}
	problems, err := Verify(ctx, temp, nil)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("%w at %s: %s: %s", ErrDamaged, p.from, problems[0].Where, problems[0].Detail)
	}
	return atomicfile.Rename(temp, target)
}

func copyFile(to, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Write(to, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// tags moves tags here to where they stand there.
func (p *puller) tags(ctx context.Context) error {
	for _, tag := range p.o.Tags {
		theirs, _, err := readRemoteTag(ctx, p.from, p.name, tag)
		if err == nil && len(theirs.Moves) == 0 {
			err = &MissingError{fmt.Sprintf("golden set %s has no tag %s at %s", p.name, tag, p.from)}
		}
		if err != nil {
			return err
		}
		t, err := p.moveTag(ctx, &theirs)
		if err != nil {
			return err
		}
		p.done.Tags = append(p.done.Tags, t)
	}
	return nil
}

func (p *puller) moveTag(ctx context.Context, theirs *Tag) (TagTransfer, error) {
	t := TagTransfer{Name: theirs.Name, Version: theirs.Version}
	unlock, err := p.store.lock(ctx, p.name)
	if err != nil {
		return t, err
	}
	defer unlock()
	ours, err := p.store.tag(p.name, theirs.Name)
	t.From = ours.Version
	switch {
	case err != nil || ours.with(theirs) && len(ours.Moves) > 0:
		return t, err
	case p.o.If != nil && ours.Version != *p.o.If:
		want := Tag{Version: *p.o.If}
		return t, fmt.Errorf("%w: %s of golden set %s stands %s here%s, not %s", ErrTagMoved, ours.Name, p.name, ours.stands(), ours.lastMove(), want.stands())
	case p.o.If == nil && !theirs.follows(&ours):
		return t, fmt.Errorf("%w: %s of golden set %s stands %s here%s, which its past at %s does not know", ErrTagMoved, ours.Name, p.name, ours.stands(), ours.lastMove(), p.from)
	}
	t.Changed = true
	return t, p.store.writeTag(p.name, theirs)
}

// RemoteSet is a set that lies in another place.
type RemoteSet struct {
	Name     string   `json:"name"`
	Versions []int    `json:"versions"`
	Tags     []TagAt  `json:"tags"`
	Newest   Manifest `json:"manifest"` // of the newest version
	Problem  string   `json:"problem,omitempty"`
}

// ListRemote describes the sets that lie in a place, by name. One that cannot be read
// is listed with its problem.
func ListRemote(ctx context.Context, b *bucket.Bucket) ([]RemoteSet, error) {
	sets := map[string]*RemoteSet{}
	tags := map[string][]string{}
	for info, err := range b.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		parts := strings.Split(info.Key, "/")
		if len(parts) != 3 || ValidateName(parts[0]) != nil {
			continue
		}
		if n, ok := versionOf(parts[1]); ok && parts[2] == manifestFile {
			if sets[parts[0]] == nil {
				sets[parts[0]] = &RemoteSet{Name: parts[0], Tags: []TagAt{}}
			}
			sets[parts[0]].Versions = append(sets[parts[0]].Versions, n)
		}
		if tag, ok := strings.CutSuffix(parts[2], tagExt); ok && parts[1] == tagsFolder && ValidateTag(tag) == nil {
			tags[parts[0]] = append(tags[parts[0]], tag)
		}
	}
	out := make([]RemoteSet, 0, len(sets))
	for name, set := range sets {
		slices.Sort(set.Versions)
		if err := set.describe(ctx, b, tags[name]); err != nil {
			set.Problem = err.Error()
		}
		out = append(out, *set)
	}
	slices.SortFunc(out, func(a, b RemoteSet) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (s *RemoteSet) describe(ctx context.Context, b *bucket.Bucket, tags []string) error {
	m, _, err := readRemote(ctx, b, s.Name, s.Versions[len(s.Versions)-1])
	if err != nil || m == nil {
		return err
	}
	s.Newest = *m
	for _, tag := range tags {
		t, _, err := readRemoteTag(ctx, b, s.Name, tag)
		if err != nil {
			s.Tags = append(s.Tags, TagAt{Name: tag, Problem: err.Error()})
		} else if t.Version > 0 {
			s.Tags = append(s.Tags, TagAt{Name: tag, Version: t.Version, Digest: t.Digest, Missing: !slices.Contains(s.Versions, t.Version)})
		}
	}
	return nil
}
