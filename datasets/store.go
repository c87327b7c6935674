package datasets

import (
	"context"
	"errors"
	"time"
)

// Store keeps golden sets as folders: Root/<name>/v0001.
type Store struct {
	Root  string           // the folder golden/
	Locks string           // folder for lock files; taken only while committing
	Now   func() time.Time // for created_at
}

// Write commits a draft as the next version of the named set. When its rows,
// relevant grade and pins equal the newest version's, nothing is written and
// that version is returned with changed false.
func (s *Store) Write(ctx context.Context, name string, d Draft) (ref Ref, changed bool, err error) {
	return Ref{}, false, errors.ErrUnsupported
}

// Resolve finds the version that a reference means: <name> (the newest),
// <name>@v3, <name>@sha256:<prefix>, or the folder of a version.
func (s *Store) Resolve(ref string) (Ref, error) { return Ref{}, errors.ErrUnsupported }

// Load reads the version that a reference means, and refuses one whose files
// are not those of its manifest.
func (s *Store) Load(ref string) (*Set, error) { return nil, errors.ErrUnsupported }
