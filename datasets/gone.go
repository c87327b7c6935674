package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// goneFile stands beside the versions of a set: what Collect deleted, as far as later
// versions need it to know what they have in common.
const goneFile = "gone.json"

// goneVersion is what is left of a deleted version.
type goneVersion struct {
	Version       int    `json:"version"`
	Digest        string `json:"digest"`
	ParentVersion int    `json:"parent_version,omitempty"`
	Parent        string `json:"parent,omitempty"`
	MergedVersion int    `json:"merged_version,omitempty"`
	Merged        string `json:"merged,omitempty"`
}

// readGone lists what was deleted of the set in the folder home.
func readGone(home string) ([]goneVersion, error) {
	path := filepath.Join(home, goneFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []goneVersion
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; put it back from a copy, or delete it: then merge does not see past versions that gc deleted", path, err)
	}
	return out, nil
}

// noteGone adds versions that are about to be deleted. One that is noted and still
// there, after a kill, is itself.
func noteGone(home string, refs []Ref) error {
	gone, err := readGone(home)
	if err != nil || len(refs) == 0 {
		return err
	}
	for _, r := range refs {
		m, err := ReadManifest(r.Path)
		if err != nil {
			return err
		}
		one := goneVersion{m.Version, m.Digest, m.ParentVersion, m.Parent, m.MergedVersion, m.Merged}
		if !slices.Contains(gone, one) {
			gone = append(gone, one)
		}
	}
	slices.SortFunc(gone, func(a, b goneVersion) int { return a.Version - b.Version })
	return atomicfile.WriteJSON(filepath.Join(home, goneFile), 0o644, gone)
}

// manifest is what a lineage has of it.
func (g *goneVersion) manifest(name string) *Manifest {
	return &Manifest{
		Name: name, Version: g.Version, Digest: g.Digest, ParentVersion: g.ParentVersion, Parent: g.Parent,
		MergedVersion: g.MergedVersion, Merged: g.Merged,
	}
}
