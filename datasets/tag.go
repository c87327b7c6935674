package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// tagsFolder stands beside the versions of a set: one file for each tag.
const tagsFolder = "tags"

const tagExt = ".json"

// ErrTagMoved says that a tag does not stand where its mover believed.
var ErrTagMoved = errors.New("tag moved by somebody else")

// Tag is a name for a version that can be moved. Its file holds every move that
// was made, so that where it stands and how it came there cannot disagree.
type Tag struct {
	Name    string    `json:"tag"`
	Version int       `json:"version"` // where it stands; 0 for one that was taken away
	Digest  string    `json:"digest"`
	Moves   []TagMove `json:"moves"` // the first first
}

// TagMove is one time that a tag was set, moved or taken away.
type TagMove struct {
	Version int    `json:"version"` // 0: taken away
	Digest  string `json:"digest"`
	From    int    `json:"from"` // 0: it stood nowhere
	At      string `json:"at"`   // RFC 3339, UTC
	Why     string `json:"why,omitempty"`
}

// stands says where a tag is.
func (t *Tag) stands() string {
	if t.Version == 0 {
		return "nowhere"
	}
	return "at " + label(t.Version)
}

// versionLike is what a tag may not be: it would be read as a version.
var versionLike = regexp.MustCompile(`^v[0-9]+$`)

// NoVersion is what a mover of a tag says who believes that it stands nowhere.
const NoVersion = "none"

// ValidateTag refuses a tag's name that reads as a version, a digest or none, has
// capital letters (some file systems hold them for the same), or could not be a
// set's name.
func ValidateTag(tag string) error {
	fail := func(why string) error { return fmt.Errorf("tag %q: %s", tag, why) }
	switch {
	case versionLike.MatchString(strings.ToLower(tag)):
		return fail("reads as a version")
	case strings.HasPrefix(strings.ToLower(tag), DigestPrefix):
		return fail("reads as a digest")
	case tag == NoVersion:
		return fail("says of a tag that it stands nowhere")
	case strings.ToLower(tag) != tag:
		return fail("has capital letters, which some file systems do not tell from small ones")
	}
	if err := ValidateName(tag); err != nil {
		return fmt.Errorf("tag: as a %w", err)
	}
	return nil
}

// TagOptions say how a tag is moved.
type TagOptions struct {
	If  *int   // the version where it must stand, 0 for nowhere; nil moves it from wherever it is
	Why string // recorded with the move
}

// SetTag moves a tag to a version, or makes it. A tag that stands there is left
// as it is: changed is false. With If, a tag that stands elsewhere than believed is
// an error, ErrTagMoved; the name's lock is held, so that of two movers with the
// same belief one fails.
func (s *Store) SetTag(ctx context.Context, to Ref, tag string, o TagOptions) (t Tag, changed bool, err error) {
	return s.moveTag(ctx, to.Name, tag, TagMove{Version: to.Version, Digest: to.Digest, Why: o.Why}, o.If)
}

// RemoveTag takes a tag away. Its file stays, as the record of where it stood.
func (s *Store) RemoveTag(ctx context.Context, name, tag string, o TagOptions) (t Tag, changed bool, err error) {
	return s.moveTag(ctx, name, tag, TagMove{Why: o.Why}, o.If)
}

func (s *Store) moveTag(ctx context.Context, name, tag string, move TagMove, believed *int) (t Tag, changed bool, err error) {
	if err := errors.Join(ValidateName(name), ValidateTag(tag)); err != nil {
		return t, false, err
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return t, false, fmt.Errorf("golden set %s: %w", name, err)
	}
	defer unlock()
	if t, err = s.tag(name, tag); err != nil {
		return t, false, err
	}
	if believed != nil && t.Version != *believed {
		want := Tag{Version: *believed}
		return t, false, fmt.Errorf("%w: %s of golden set %s stands %s, not %s", ErrTagMoved, tag, name, t.stands(), want.stands())
	}
	if t.Version == move.Version && t.Digest == move.Digest {
		return t, false, nil
	}
	if err := s.tagged(name, move); err != nil {
		return t, false, err
	}
	move.From, move.At = t.Version, s.Now().UTC().Format(time.RFC3339)
	t.Version, t.Digest, t.Moves = move.Version, move.Digest, append(t.Moves, move)
	return t, true, s.writeTag(name, &t)
}

// tagged refuses to move a tag to a version that is not in the store.
func (s *Store) tagged(name string, move TagMove) error {
	if move.Version == 0 {
		return nil
	}
	versions, err := s.versions(name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(versions.refs, Ref{Version: move.Version, Digest: move.Digest}.same) {
		return fmt.Errorf("golden set %s: a tag stands at a version of %s, and %s is none", name, s.Root, label(move.Version))
	}
	return nil
}

func (s *Store) tagPath(name, tag string) string {
	return filepath.Join(s.Root, name, tagsFolder, tag+tagExt)
}

func (s *Store) writeTag(name string, t *Tag) error {
	path := s.tagPath(name, t.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteJSON(path, 0o644, t)
}

// tag reads one; a tag without a file stands nowhere.
func (s *Store) tag(name, tag string) (Tag, error) {
	t := Tag{Name: tag, Moves: []TagMove{}}
	path := s.tagPath(name, tag)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err == nil {
		err = t.check(tag)
	}
	if err != nil {
		return t, fmt.Errorf("tag file %s: %w", path, err)
	}
	if t.Moves == nil {
		t.Moves = []TagMove{}
	}
	return t, nil
}

// check refuses a file that is another tag's, or that contradicts itself.
func (t *Tag) check(tag string) error {
	if t.Name != tag {
		return fmt.Errorf("it says %q; was it renamed or copied?", t.Name)
	}
	n := len(t.Moves)
	if t.Version < 0 || n > 0 && (t.Moves[n-1].Version != t.Version || t.Moves[n-1].Digest != t.Digest) {
		return fmt.Errorf("it says that the tag stands %s (%s), its last move says otherwise; restore it, or delete it and set the tag anew", t.stands(), t.Digest)
	}
	return nil
}

// Tags lists the tags of a set, by name, with those that were taken away.
func (s *Store) Tags(name string) ([]Tag, error) {
	names, err := s.tagNames(name)
	if err != nil {
		return nil, err
	}
	out := make([]Tag, 0, len(names))
	for _, tag := range names {
		t, err := s.tag(name, tag)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// tagNames lists the tags that have a file.
func (s *Store) tagNames(name string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.Root, name, tagsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if tag, ok := strings.CutSuffix(e.Name(), tagExt); ok && ValidateTag(tag) == nil {
			out = append(out, tag)
		}
	}
	return out, nil
}

// TagAt is a tag and where it stands, as a listing has it.
type TagAt struct {
	Name    string `json:"tag"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
	Missing bool   `json:"version_missing"`   // that version is not there
	Problem string `json:"problem,omitempty"` // why its file cannot be read
}

// standing lists the tags of a set that stand somewhere, by name, and those that
// cannot be read; refs are the set's versions.
func (s *Store) standing(name string, refs []Ref) ([]TagAt, error) {
	names, err := s.tagNames(name)
	out := []TagAt{}
	for _, tag := range names {
		t, err := s.tag(name, tag)
		switch {
		case err != nil:
			out = append(out, TagAt{Name: tag, Problem: err.Error()})
		case t.Version > 0:
			there := slices.ContainsFunc(refs, Ref{Version: t.Version, Digest: t.Digest}.same)
			out = append(out, TagAt{Name: tag, Version: t.Version, Digest: t.Digest, Missing: !there})
		}
	}
	return out, err
}

// byTag finds the version that a tag stands at among those of its set.
func (s *Store) byTag(name, tag string, versions *versionList) (Ref, error) {
	t, err := s.tag(name, tag)
	if err != nil {
		return Ref{}, err
	}
	if t.Version == 0 {
		return Ref{}, s.noTag(name, &t)
	}
	for _, r := range versions.refs {
		if r.same(Ref{Version: t.Version, Digest: t.Digest}) {
			return r, nil
		}
	}
	if err := versions.bad[t.Version]; err != nil {
		return Ref{}, fmt.Errorf("golden set %s: tag %s stands at %s: %w", name, tag, label(t.Version), err)
	}
	return Ref{}, fmt.Errorf("golden set %s: tag %s stands at %s (%s), which is not there any more", name, tag, label(t.Version), t.Digest)
}

// noTag says that there is no such tag, and which there are.
func (s *Store) noTag(name string, t *Tag) error {
	if n := len(t.Moves); n > 0 {
		return fmt.Errorf("golden set %s: tag %s was taken away on %s", name, t.Name, t.Moves[n-1].At)
	}
	all, err := s.Tags(name)
	if err != nil {
		return err
	}
	var standing []string
	for _, t := range all {
		if t.Version > 0 {
			standing = append(standing, t.Name)
		}
	}
	if len(standing) == 0 {
		return fmt.Errorf("golden set %s has no tag %s, nor any other", name, t.Name)
	}
	return fmt.Errorf("golden set %s has no tag %s; it has %s", name, t.Name, strings.Join(standing, ", "))
}
