package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// tree reads every file under dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	for _, text := range []string{"first", "second"} {
		if err := atomicfile.WriteBytes(path, 0o600, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"a.txt": "second"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %v, want 0600", got)
	}
}

func TestFailedWriteLeavesOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := atomicfile.WriteBytes(path, 0o644, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := atomicfile.Write(path, 0o644, func(w io.Writer) error {
		io.WriteString(w, "half of the new")
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("error %v, want it to wrap %v", err, full)
	}
	if diff := cmp.Diff(map[string]string{"a.txt": "old"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestRenameFolder(t *testing.T) {
	root := t.TempDir()
	temp, err := atomicfile.MkdirTemp(filepath.Join(root, "set"))
	if err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteBytes(filepath.Join(temp, "x"), 0o644, []byte("1")); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(root, "set", "v1")
	if err := atomicfile.Rename(temp, target); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"set/v1/x": "1"}, tree(t, root)); diff != "" {
		t.Error(diff)
	}
	if err := atomicfile.Rename(target, target); !errors.Is(err, fs.ErrExist) {
		t.Errorf("rename onto a folder: %v, want ErrExist", err)
	}
}

// TestWriteThroughDevicesAndLinks holds that what links lead to is written, and
// that a device stays one.
func TestWriteThroughDevicesAndLinks(t *testing.T) {
	dir := t.TempDir()
	link, full := filepath.Join(dir, "link"), filepath.Join(dir, "full")
	if err := errors.Join(os.Symlink("real", link), os.Symlink("/dev/full", full)); err != nil {
		t.Skip("no links here:", err)
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, "real"), 0o644, nil); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteBytes(link, 0o644, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if device, err := os.Stat(full); err == nil && !device.Mode().IsRegular() { // Linux has one that takes nothing
		if err := atomicfile.WriteBytes(full, 0o644, []byte("text")); err == nil {
			t.Error("a full device took text")
		}
	}
	for _, path := range []string{link, full} {
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is %v: %v", path, info, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "real")); string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
}
