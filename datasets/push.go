package datasets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/internal/bucket"
)

// PushOptions say what goes with a version that is pushed.
type PushOptions struct {
	Only   bool           // without the versions that it was made from
	Tags   []string       // moved there to where they stand here
	If     *int           // where they must stand there, 0 for nowhere; nil: where the tag's own past says
	DryRun bool           // look, and write nothing
	Report func(Transfer) // told of each version as it is done; may be nil
}

// Pushed is what a push did.
type Pushed struct {
	Versions []Transfer    `json:"versions"` // the oldest first
	Tags     []TagTransfer `json:"tags"`
	// Unguarded says that the place takes no notice of conditions: of two who push at
	// once, the second may win without being told.
	Unguarded bool `json:"unguarded"`
}

// pusher is one push.
type pusher struct {
	store *Store
	to    *bucket.Bucket
	o     PushOptions
	done  Pushed
	asked bool // whether the place heeds conditions
}

// Push puts a version, the versions that it was made from and are still there, and
// tags into another place. What is there is not sent again, so that a push that was
// ended goes on where it was. A version is seen there only when it is whole. Where
// its number is another's, the error is ErrDiverged and nothing of it is visible; a
// tag that stands there where its past here does not know it is ErrTagMoved.
func (s *Store) Push(ctx context.Context, to *bucket.Bucket, ref Ref, o PushOptions) (Pushed, error) {
	p := &pusher{store: s, to: to, o: o, done: Pushed{Versions: []Transfer{}, Tags: []TagTransfer{}}}
	tags, refs, err := p.plan(ref)
	if err == nil {
		err = p.ownPlace(ctx, ref.Name)
	}
	if err != nil {
		return p.done, err
	}
	for _, r := range refs {
		t, err := p.version(ctx, r)
		if err != nil {
			return p.done, fmt.Errorf("%s: %w", r, err)
		}
		p.done.Versions = append(p.done.Versions, t)
		if o.Report != nil {
			o.Report(t)
		}
	}
	for i := range tags {
		t, err := p.tag(ctx, ref.Name, &tags[i])
		if err != nil {
			return p.done, err
		}
		p.done.Tags = append(p.done.Tags, t)
	}
	return p.done, nil
}

// plan lists the tags to move and the versions that go, the oldest first: those asked
// for and where the tags stand.
func (p *pusher) plan(ref Ref) (tags []Tag, refs []Ref, err error) {
	heads := []Ref{ref}
	all, err := p.store.versions(ref.Name)
	if err != nil && len(p.o.Tags) > 0 {
		return nil, nil, err
	}
	for _, name := range p.o.Tags {
		t, err := p.store.tag(ref.Name, name)
		if err == nil && len(t.Moves) == 0 {
			err = p.store.noTag(ref.Name, &t)
		}
		if err != nil {
			return nil, nil, err
		}
		if t.Version > 0 {
			at, err := p.store.byTag(ref.Name, name, all)
			if err != nil {
				return nil, nil, err
			}
			heads = append(heads, at)
		}
		tags = append(tags, t)
	}
	for _, head := range heads {
		chain := []Ref{head}
		if !p.o.Only {
			if chain, err = chainOf(head); err != nil {
				return nil, nil, err
			}
		}
		refs = append(refs, chain...)
	}
	slices.SortFunc(refs, func(a, b Ref) int { return cmp.Or(a.Version-b.Version, cmp.Compare(a.Digest, b.Digest)) })
	return tags, slices.CompactFunc(refs, Ref.same), nil
}

// ErrProjectFolder says that a place is where a project keeps its sets.
var ErrProjectFolder = errors.New("a project keeps its sets there")

// ownPlace refuses a place where a project keeps its sets: it would take the files of a
// push for a version of its own, and find them under other names.
func (p *pusher) ownPlace(ctx context.Context, name string) error {
	for info, err := range p.to.List(ctx, name+"/") {
		if errors.Is(err, bucket.ErrMissing) {
			return nil // it is made, or its first write says what is wrong
		}
		if err != nil {
			return err
		}
		if parts := strings.Split(info.Key, "/"); len(parts) == 3 && parts[2] == casesFile {
			return fmt.Errorf("%s: %w", p.to, ErrProjectFolder)
		}
	}
	return nil
}

// chainOf is a version with all that it was made from and that is still there.
func chainOf(r Ref) ([]Ref, error) {
	l, err := lineageOf(r)
	if err != nil {
		return nil, err
	}
	var out []Ref
	for _, m := range l.ancestors(r.Digest, r.Version) {
		out = append(out, l.ref(m))
	}
	return out, nil
}

// version sends one version's files and then its manifest.
func (p *pusher) version(ctx context.Context, r Ref) (Transfer, error) {
	t := Transfer{Ref: r}
	raw, err := os.ReadFile(filepath.Join(r.Path, manifestFile))
	if err != nil {
		return t, err
	}
	there, old, err := readRemote(ctx, p.to, r.Name, r.Version)
	if err != nil {
		return t, err
	}
	if there != nil {
		if t.There = true; there.Digest != r.Digest {
			return t, p.diverged(there)
		}
		return t, p.heeds(ctx, r, old)
	}
	m, err := sound(ctx, r)
	if err != nil {
		return t, err
	}
	for _, file := range pinnedFiles {
		if err := p.file(ctx, m, file, r, &t); err != nil {
			return t, err
		}
	}
	if p.o.DryRun {
		return t, nil
	}
	_, err = p.to.Put(ctx, remoteManifest(r.Name, r.Version), objectOf(raw), bucket.Condition{Absent: true})
	if errors.Is(err, bucket.ErrCondition) {
		return p.version(ctx, r) // somebody finished one meanwhile
	}
	if err != nil {
		return t, err
	}
	return t, p.heeds(ctx, r, raw)
}

// sound refuses to send a version that is not what its manifest says.
func sound(ctx context.Context, r Ref) (*Manifest, error) {
	problems, err := Verify(ctx, r.Path, nil)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%w: %s: %s", ErrDamaged, problems[0].Where, problems[0].Detail)
	}
	return ReadManifest(r.Path)
}

func (p *pusher) diverged(there *Manifest) error {
	return fmt.Errorf("%w: %s holds one of %s with the digest %s", ErrDiverged, p.to, there.CreatedAt, there.Digest)
}

// file sends one file, unless it is there.
func (p *pusher) file(ctx context.Context, m *Manifest, file string, r Ref, t *Transfer) error {
	key, sha, err := remoteFile(m, file)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(r.Path, file))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := p.to.Stat(ctx, key)
	switch {
	case err == nil && there.Size == info.Size() && there.SHA256 == sha:
		t.Kept++
		return nil
	case err != nil && !errors.Is(err, bucket.ErrMissing):
		return err
	case !p.o.DryRun:
		if _, err := p.to.Put(ctx, key, bucket.Object{Body: f, Size: info.Size(), SHA256: sha}, bucket.Condition{}); err != nil {
			return err
		}
	}
	t.Files, t.Bytes = t.Files+1, t.Bytes+info.Size()
	return nil
}

// heeds asks once whether the place heeds conditions, by writing a manifest over
// itself.
func (p *pusher) heeds(ctx context.Context, r Ref, manifest []byte) error {
	if p.asked || p.o.DryRun {
		return nil
	}
	heeds, err := p.to.Conditional(ctx, remoteManifest(r.Name, r.Version), objectOf(manifest))
	if errors.Is(err, bucket.ErrRefused) {
		return nil // who may only read moves nothing that would have to be guarded
	}
	p.asked, p.done.Unguarded = err == nil, err == nil && !heeds
	return err
}

// tag moves a tag of the place to where it stands here.
func (p *pusher) tag(ctx context.Context, name string, ours *Tag) (TagTransfer, error) {
	theirs, on, err := readRemoteTag(ctx, p.to, name, ours.Name)
	t := TagTransfer{Name: ours.Name, Version: ours.Version, From: theirs.Version}
	if err != nil || theirs.with(ours) {
		return t, err
	}
	next := *ours
	switch {
	case p.o.If != nil && theirs.Version != *p.o.If:
		want := Tag{Version: *p.o.If}
		return t, fmt.Errorf("%w: %s of golden set %s stands %s at %s%s, not %s", ErrTagMoved, ours.Name, name, theirs.stands(), p.to, theirs.lastMove(), want.stands())
	case ours.follows(&theirs):
	case p.o.If == nil:
		return t, fmt.Errorf("%w: %s of golden set %s stands %s at %s%s, which its past here does not know", ErrTagMoved, ours.Name, name, theirs.stands(), p.to, theirs.lastMove())
	default:
		move := ours.Moves[len(ours.Moves)-1]
		move.From, move.At = theirs.Version, p.store.Now().UTC().Format(time.RFC3339)
		next.Moves = append(slices.Clone(theirs.Moves), move)
	}
	if t.Changed = true; p.o.DryRun {
		return t, nil
	}
	raw, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return t, err
	}
	_, err = p.to.Put(ctx, remoteTag(name, ours.Name), objectOf(append(raw, '\n')), on)
	if errors.Is(err, bucket.ErrCondition) {
		err = fmt.Errorf("%w: %s of golden set %s was moved at %s just now", ErrTagMoved, ours.Name, name, p.to)
	}
	return t, err
}
