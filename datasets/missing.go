package datasets

import "io/fs"

// MissingError says that there is no such golden set or version. It is an
// fs.ErrNotExist.
type MissingError struct{ Why string }

func (e *MissingError) Error() string { return e.Why }

// Is makes it an fs.ErrNotExist.
func (e *MissingError) Is(target error) bool { return target == fs.ErrNotExist }
