package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// confirmedFile stands beside the versions of a set.
const confirmedFile = "confirmed.json"

// confirmation says that a version was found to be what its corpus still gives.
type confirmation struct {
	Version int    `json:"version"`
	Digest  string `json:"digest"`
	At      string `json:"at"` // RFC 3339, UTC
}

// Confirm notes that a version would be made again as it is: a version itself is
// never changed, and another one would hold the same.
func (s *Store) Confirm(ctx context.Context, r Ref) error {
	unlock, err := s.lock(ctx, r.Name)
	if err != nil {
		return fmt.Errorf("golden set %s: %w", r.Name, err)
	}
	defer unlock()
	c := confirmation{Version: r.Version, Digest: r.Digest, At: s.Now().UTC().Format(time.RFC3339)}
	return atomicfile.WriteJSON(filepath.Join(s.Root, r.Name, confirmedFile), 0o644, c)
}

// RefreshedAt is when a version was made from its corpus, or last confirmed, in
// RFC 3339.
func (s *Store) RefreshedAt(m *Manifest) (string, error) {
	path := filepath.Join(s.Root, m.Name, confirmedFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m.RefreshedAt, nil
	}
	var c confirmation
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w; it can be deleted: the next refresh confirms the set anew", path, err)
	}
	if c.Version != m.Version || c.Digest != m.Digest {
		return m.RefreshedAt, nil
	}
	return max(m.RefreshedAt, c.At), nil // both in UTC
}
