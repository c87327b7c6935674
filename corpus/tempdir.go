package corpus

import (
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// aliveFile is locked in a temporary folder as long as its process lives.
const aliveFile = ".alive"

// tempDir is a folder that is filled before it is moved to its place.
type tempDir struct {
	path  string
	alive *flock.Flock
}

// makeTemp makes a temporary folder below root and removes those that killed
// processes left there.
func makeTemp(root string) (*tempDir, error) {
	path, err := atomicfile.MkdirTemp(root)
	if err != nil {
		return nil, err
	}
	t := &tempDir{path, flock.New(filepath.Join(path, aliveFile))}
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
	left, _ := filepath.Glob(filepath.Join(root, ".tmp-*", aliveFile))
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

// release gives the lock up, before the folder is moved.
func (t *tempDir) release() error {
	if t.alive == nil {
		return nil
	}
	err := t.alive.Close()
	t.alive = nil
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(t.path, aliveFile))
}

// remove takes the folder away, if it is still there.
func (t *tempDir) remove() {
	if t.alive != nil {
		t.alive.Close()
	}
	os.RemoveAll(t.path)
}
