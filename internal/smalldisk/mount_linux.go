package smalldisk

import (
	"fmt"
	"syscall"
)

func (d *Disk) mount() error {
	return syscall.Mount("smalldisk", d.Dir, "tmpfs", 0, options(Room{}))
}

func (d *Disk) unmount() error { return syscall.Unmount(d.Dir, syscall.MNT_DETACH) }

func (d *Disk) limit(r Room) error {
	return syscall.Mount("smalldisk", d.Dir, "tmpfs", syscall.MS_REMOUNT, options(r))
}

// options are those of tmpfs; what is not bounded gets more than any test needs, as a
// disk without bounds counts nothing.
func options(r Room) string {
	if r.Bytes == 0 {
		r.Bytes = 1 << 30
	}
	if r.Files == 0 {
		r.Files = 1 << 20
	}
	return fmt.Sprintf("size=%d,nr_inodes=%d", r.Bytes, r.Files)
}

func (d *Disk) used() (Room, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.Dir, &s); err != nil {
		return Room{}, err
	}
	return Room{Bytes: int64(s.Blocks-s.Bfree) * s.Bsize, Files: int(s.Files - s.Ffree)}, nil
}
