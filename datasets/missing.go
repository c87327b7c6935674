package datasets

import "io/fs"

// MissingError says that there is no such golden set or version. It is an
// fs.ErrNotExist.
type MissingError struct{ Why string }

func (e *MissingError) Error() string { return e.Why }

// Is makes it an fs.ErrNotExist.
func (e *MissingError) Is(target error) bool { return target == fs.ErrNotExist }

// DamagedError says that a version is not as it was written: a file of it is missing,
// cut off or altered.
type DamagedError struct {
	Dir string // of the version
	Err error
}

func (e *DamagedError) Error() string { return "damaged version: " + e.Err.Error() }

// Unwrap gives what is wrong.
func (e *DamagedError) Unwrap() error { return e.Err }
