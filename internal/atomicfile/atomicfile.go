// Package atomicfile makes files and folders appear whole or not at all: written
// under a temporary name beside the target, flushed to disk, then renamed.
package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// tempPattern marks what an interrupted write may leave behind. Such names
// begin with a dot, and nothing reads them.
const tempPattern = ".tmp-*"

// Write puts what write produces at path with the given permissions. Readers
// see the old file or the new one, never a part. When write or the disk fails,
// path is as it was and no temporary file stays. A link stays, and what it leads
// to is written. A device or a pipe is no file that another could take the place
// of: it is written to as it stands.
func Write(path string, perm fs.FileMode, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return through(path, write)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := fill(f, perm, write); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(dir)
}

// through writes to a device or a pipe.
func through(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// fill writes, flushes and closes f.
func fill(f *os.File, perm fs.FileMode, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(perm); err != nil && runtime.GOOS != "windows" {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// WriteBytes puts data at path as Write does.
func WriteBytes(path string, perm fs.FileMode, data []byte) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteJSON puts a value at path as Write does, as JSON that people can read.
func WriteJSON(path string, perm fs.FileMode, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return WriteBytes(path, perm, append(data, '\n'))
}

// MkdirTemp makes a temporary folder in parent, which is made when missing.
// Fill it with Write and hand it to Rename, or remove it.
func MkdirTemp(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, tempPattern)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// Rename moves the folder temp to target, on the same file system. A folder
// that already stands at target is an error: the caller decides whether it may
// go.
func Rename(temp, target string) error {
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "rename to", Path: target, Err: fs.ErrExist}
	}
	if err := SyncDir(temp); err != nil {
		return err
	}
	if err := os.Rename(temp, target); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(target))
}

// SyncDir flushes the names in dir, so that a rename survives a power cut.
// Windows has no such call and needs none.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
