// Package smalldisk gives tests a file system that runs out of room when they want
// it to.
package smalldisk

import "testing"

// Room is how much a disk takes; 0 of either is without bound.
type Room struct {
	Bytes int64 // in steps of a memory page
	Files int   // files and folders, the root among them
}

// Disk is a file system of its own.
type Disk struct {
	Dir string // where it is mounted
}

// New mounts a disk without bounds for the time of a test. The test is skipped where
// the system or its rights do not allow that.
func New(t testing.TB) *Disk {
	t.Helper()
	d := &Disk{t.TempDir()}
	if err := d.mount(); err != nil {
		t.Skipf("no disk of its own can be mounted here (Linux as root can): %v", err)
	}
	t.Cleanup(func() {
		if err := d.unmount(); err != nil {
			t.Errorf("unmount %s: %v", d.Dir, err)
		}
	})
	return d
}

// Limit sets the room of the disk. It cannot be less than what is used.
func (d *Disk) Limit(t testing.TB, r Room) {
	t.Helper()
	if err := d.limit(r); err != nil {
		t.Fatalf("limit %s to %+v: %v", d.Dir, r, err)
	}
}

// Used is what the disk holds.
func (d *Disk) Used(t testing.TB) Room {
	t.Helper()
	used, err := d.used()
	if err != nil {
		t.Fatalf("%s: %v", d.Dir, err)
	}
	return used
}
