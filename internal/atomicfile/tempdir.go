package atomicfile

import (
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// aliveFile is locked in a temporary folder as long as its process lives.
const aliveFile = ".alive"

// TempDir is a folder that is filled before it is moved to its place. Its lock
// tells that its process lives.
type TempDir struct {
	Path  string
	alive *flock.Flock
}

// LockDir locks a folder itself, so that no lock file is left beside what it
// holds; others wait. Where the system has no such locks nothing is locked.
func LockDir(path string) (unlock func()) {
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if err := l.Lock(); err != nil {
		return func() {}
	}
	return func() { l.Close() }
}

// NewTempDir makes a temporary folder below root, and removes those that killed
// processes left there.
func NewTempDir(root string) (*TempDir, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	defer LockDir(root)() // nobody sweeps a folder whose lock is about to be taken or given up
	path, err := MkdirTemp(root)
	if err != nil {
		return nil, err
	}
	t := &TempDir{path, flock.New(filepath.Join(path, aliveFile))}
	if err := t.alive.Lock(); err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	sweep(root, filepath.Base(path))
	return t, nil
}

// sweep removes temporary folders whose lock is free. It is no error when that
// fails: they are only in the way of nobody.
func sweep(root, own string) {
	left, _ := filepath.Glob(filepath.Join(root, tempPattern, aliveFile))
	for _, file := range left {
		if filepath.Base(filepath.Dir(file)) == own {
			continue
		}
		l := flock.New(file)
		if free, err := l.TryLock(); err == nil && free {
			l.Close()
			os.RemoveAll(filepath.Dir(file))
		}
	}
}

// Release gives the lock up, before the folder is moved.
func (t *TempDir) Release() error {
	if t.alive == nil {
		return nil
	}
	defer LockDir(filepath.Dir(t.Path))()
	err := t.alive.Close()
	t.alive = nil
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(t.Path, aliveFile))
}

// Remove takes the folder away, if it is still there.
func (t *TempDir) Remove() {
	if t.alive != nil {
		t.alive.Close()
	}
	os.RemoveAll(t.Path)
}
