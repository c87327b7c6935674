package smalldisk_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/goldgen/goldgen/internal/smalldisk"
)

// TestDiskRunsOut holds that bytes and files beyond a disk's room are refused, and that
// there is room again when it is given.
func TestDiskRunsOut(t *testing.T) {
	d := smalldisk.New(t)
	write := func(name string, size int) error {
		return os.WriteFile(filepath.Join(d.Dir, name), make([]byte, size), 0o644)
	}
	if err := write("a", 10_000); err != nil {
		t.Fatal(err)
	}
	used := d.Used(t)
	d.Limit(t, smalldisk.Room{Bytes: used.Bytes})
	if err := write("b", 10_000); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("more bytes than there is room for: %v", err)
	}
	d.Limit(t, smalldisk.Room{Files: used.Files + 1}) // b is there, and empty
	if err := write("c", 0); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("more files than there is room for: %v", err)
	}
	d.Limit(t, smalldisk.Room{})
	if err := errors.Join(write("b", 10_000), write("c", 0)); err != nil {
		t.Error(err)
	}
}
