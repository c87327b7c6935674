package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/filedigest"
)

// Snapshot is a finished snapshot folder. Its methods may be called
// concurrently.
type Snapshot struct {
	dir      string
	manifest Manifest
}

// Dir is the snapshot's folder.
func (s *Snapshot) Dir() string { return s.dir }

// Manifest is what the snapshot's manifest said when it was opened.
func (s *Snapshot) Manifest() Manifest { return s.manifest }

// ErrNoSnapshot is in the error of Open when there is no finished snapshot.
var ErrNoSnapshot = errors.New("no snapshot")

const (
	latestFile = "latest"
	lockFile   = ".lock"
)

// hashedOnOpen is the size in bytes up to which files are compared with their
// digests when a snapshot is opened. Larger ones are checked for their size,
// and wholly by Verify.
const hashedOnOpen = 32 << 20

// Open opens a snapshot's folder, or the latest snapshot of a root that Build
// wrote to. A file that is missing, cut off or (up to 32 MB) altered is an
// error that names it.
func Open(dir string) (*Snapshot, error) {
	if name, err := os.ReadFile(filepath.Join(dir, latestFile)); err == nil {
		folder := strings.TrimSpace(string(name))
		if !cleanName(folder) {
			return nil, fmt.Errorf("%s: names no snapshot: %q", filepath.Join(dir, latestFile), folder)
		}
		dir = filepath.Join(dir, folder)
	}
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if err := checkFile(dir, f, hashedOnOpen); err != nil {
			return nil, err
		}
	}
	return &Snapshot{dir, m}, nil
}

func readManifest(dir string) (m Manifest, err error) {
	path := filepath.Join(dir, manifestFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s: %w: no %s in it", dir, ErrNoSnapshot, manifestFile)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format < 1 || m.Format > SnapshotFormat {
		return m, fmt.Errorf("%s: format %d: this goldgen reads up to %d", path, m.Format, SnapshotFormat)
	}
	for _, name := range []string{documentsFile, chunksFile} {
		if _, ok := m.file(name); !ok {
			return m, fmt.Errorf("%s: does not list %s", path, name)
		}
	}
	return m, nil
}

func (m *Manifest) file(name string) (FileInfo, bool) {
	for _, f := range m.Files {
		if f.Name == name {
			return f, true
		}
	}
	return FileInfo{}, false
}

// checkFile compares a file with the manifest: its size, and its digest when
// it is at most limit bytes long (-1: whatever its length).
func checkFile(dir string, f FileInfo, limit int64) error {
	if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
		return fmt.Errorf("%s: manifest names a file outside: %q", dir, f.Name)
	}
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Size() != f.Size {
		return fmt.Errorf("%s: truncated or altered: %d bytes, the manifest says %d", path, st.Size(), f.Size)
	}
	if limit >= 0 && f.Size > limit {
		return nil
	}
	sum, err := filedigest.SHA256(path)
	if err == nil && sum != f.SHA256 {
		err = fmt.Errorf("%s: altered: its digest is not the manifest's", path)
	}
	return err
}

func sha256Of(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:16]
}

func writeManifest(dir string, m Manifest) error {
	return atomicfile.WriteJSON(filepath.Join(dir, manifestFile), 0o644, m)
}

// existing opens the snapshot of a digest when it is finished and whole and its
// derived columns are this version's.
func existing(root, digest string) (*Snapshot, bool) {
	s, err := Open(filepath.Join(root, folderName(digest)))
	ok := err == nil && s.manifest.Digest == digest && s.manifest.Derived == DerivedVersion
	return s, ok
}

// commit moves a finished folder to its place. Where another process was
// faster, its snapshot is taken.
func commit(ctx context.Context, root string, temp *atomicfile.TempDir, m Manifest) (*Snapshot, bool, error) {
	unlock, err := lock(ctx, root)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	if old, ok := existing(root, m.Digest); ok {
		return old, false, setLatest(root, filepath.Base(old.dir))
	}
	target := filepath.Join(root, folderName(m.Digest))
	if err := os.RemoveAll(target); err != nil {
		return nil, false, err
	}
	if err := temp.Release(); err != nil {
		return nil, false, err
	}
	if err := atomicfile.Rename(temp.Path, target); err != nil {
		return nil, false, err
	}
	return &Snapshot{target, m}, true, setLatest(root, filepath.Base(target))
}

// lock takes the lock of a folder; it ends with the process.
func lock(ctx context.Context, root string) (unlock func(), err error) {
	l := flock.New(filepath.Join(root, lockFile))
	if _, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock %s: %w", root, err)
	}
	return func() { l.Close() }, nil
}

// setLatest records a snapshot as the latest, unless it is.
func setLatest(root, name string) error {
	path := filepath.Join(root, latestFile)
	if old, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(old)) == name {
		return nil
	}
	return atomicfile.WriteBytes(path, 0o644, []byte(name+"\n"))
}

// Documents yields the documents in snapshot order.
func (s *Snapshot) Documents() iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for row, err := range tableRows[documentRow](filepath.Join(s.dir, documentsFile)) {
			if err != nil {
				yield(Document{}, err)
				return
			}
			if !yield(row.document(), nil) {
				return
			}
		}
	}
}

// Chunks yields the chunks in snapshot order: by document, then ordinal.
func (s *Snapshot) Chunks() iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for row, err := range tableRows[chunkRow](filepath.Join(s.dir, chunksFile)) {
			if err != nil {
				yield(Chunk{}, err)
				return
			}
			if !yield(row.chunk(), nil) {
				return
			}
		}
	}
}

// Load reads a small snapshot into memory.
func (s *Snapshot) Load() ([]Document, []Chunk, error) {
	docs := make([]Document, 0, s.manifest.Documents)
	for d, err := range s.Documents() {
		if err != nil {
			return nil, nil, err
		}
		docs = append(docs, d)
	}
	chunks := make([]Chunk, 0, s.manifest.Chunks)
	for c, err := range s.Chunks() {
		if err != nil {
			return nil, nil, err
		}
		chunks = append(chunks, c)
	}
	return docs, chunks, nil
}
