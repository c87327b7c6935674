//go:build !linux

package smalldisk

import "errors"

func (d *Disk) mount() error        { return errors.ErrUnsupported }
func (d *Disk) unmount() error      { return errors.ErrUnsupported }
func (d *Disk) limit(Room) error    { return errors.ErrUnsupported }
func (d *Disk) used() (Room, error) { return Room{}, errors.ErrUnsupported }
