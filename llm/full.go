package llm

import (
	"errors"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// primaryCode are the bits of an extended SQLite code that say what kind it is.
const primaryCode = 0xff

// Full reports an error of a disk without room, be it the cache's or another's.
func Full(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()&primaryCode == sqlite3.SQLITE_FULL
	}
	return errors.Is(err, syscall.ENOSPC)
}
