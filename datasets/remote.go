package datasets

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/internal/bucket"
)

// A place that sets are pushed to holds, below a set's name, a folder for each version
// and the tags:
//
//	handbook/v0003/cases-<sha256>.parquet
//	handbook/v0003/rejects-<sha256>.parquet
//	handbook/v0003/README-<sha256>.md
//	handbook/v0003/manifest.json
//	handbook/tags/prod.json
//
// A file's name holds the digest of its bytes, so two who push different versions of
// one number at once never write to the same file. The manifest comes last, on the
// condition that none is there: with it a version is there, whole.

// ErrDiverged says that a version of that number is there already, with other rows.
var ErrDiverged = errors.New("another version has that number")

// ErrDamaged says that what a place holds is not what its manifest says.
var ErrDamaged = errors.New("damaged")

// maxManifest bounds what is read of a manifest or a tag of a place, in bytes.
const maxManifest = 64 << 20

// Transfer says what became of one version that was pushed or pulled.
type Transfer struct {
	Ref   Ref   `json:"ref"`
	There bool  `json:"there"` // it was there already
	Files int   `json:"files"` // that were sent or fetched now, without the manifest
	Kept  int   `json:"kept"`  // that an earlier try had sent or fetched
	Bytes int64 `json:"bytes"` // of Files
}

// TagTransfer says where a tag stands now.
type TagTransfer struct {
	Name    string `json:"tag"`
	Version int    `json:"version"` // 0: it was taken away
	From    int    `json:"from"`    // where it stood before; 0: nowhere
	Changed bool   `json:"changed"`
}

func remoteManifest(name string, version int) string {
	return path.Join(name, folderOf(version), manifestFile)
}

func remoteTag(name, tag string) string { return path.Join(name, tagsFolder, tag+tagExt) }

// remoteFile is where a version's file lies.
func remoteFile(m *Manifest, file string) (key, sha string, err error) {
	sha, ok := strings.CutPrefix(m.Files[file], DigestPrefix)
	if raw, err := hex.DecodeString(sha); !ok || err != nil || len(raw) != sha256.Size {
		return "", "", fmt.Errorf("%w: %s names no digest for %s", ErrDamaged, manifestFile, file)
	}
	ext := path.Ext(file)
	return path.Join(m.Name, folderOf(m.Version), strings.TrimSuffix(file, ext)+"-"+sha+ext), sha, nil
}

// readRemote reads the manifest of a version that lies in a place; nil where none
// does.
func readRemote(ctx context.Context, b *bucket.Bucket, name string, version int) (*Manifest, []byte, error) {
	key := remoteManifest(name, version)
	raw, _, err := b.ReadAll(ctx, key, maxManifest)
	if errors.Is(err, bucket.ErrMissing) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := parseManifest(raw)
	if err == nil && (m.Name != name || m.Version != version) {
		err = fmt.Errorf("it says %s; was it renamed or copied?", m.Ref())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", b.Where(key), err)
	}
	return m, raw, nil
}

// readRemoteTag reads a tag of a place, and what it may be written over with. One that
// is not there stands nowhere.
func readRemoteTag(ctx context.Context, b *bucket.Bucket, name, tag string) (Tag, bucket.Condition, error) {
	t := Tag{Name: tag, Moves: []TagMove{}}
	key := remoteTag(name, tag)
	raw, info, err := b.ReadAll(ctx, key, maxManifest)
	if errors.Is(err, bucket.ErrMissing) {
		return t, bucket.Condition{Absent: true}, nil
	}
	if err == nil {
		if err = cmp.Or(json.Unmarshal(raw, &t), t.check(tag)); err != nil {
			err = fmt.Errorf("%s: %w", b.Where(key), err)
		}
	}
	return t, bucket.Condition{ETag: info.ETag}, err
}

// follows reports whether t went on from where o stands, or is the same.
func (t *Tag) follows(o *Tag) bool {
	return len(t.Moves) >= len(o.Moves) && slices.Equal(t.Moves[:len(o.Moves)], o.Moves)
}

// with reports whether two tags stand at the same version.
func (t *Tag) with(o *Tag) bool { return t.Version == o.Version && t.Digest == o.Digest }

// lastMove says since when a tag stands where it does, and why.
func (t *Tag) lastMove() string {
	if len(t.Moves) == 0 {
		return ""
	}
	m := t.Moves[len(t.Moves)-1]
	if m.Why == "" {
		return " since " + m.At
	}
	return fmt.Sprintf(" since %s (%s)", m.At, m.Why)
}

func objectOf(data []byte) bucket.Object {
	sum := sha256.Sum256(data)
	return bucket.Object{Body: bytes.NewReader(data), Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}
