package datasets

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/filedigest"
	"github.com/goldgen/goldgen/internal/parquetfile"
)

// The files of a version.
const (
	casesFile    = "cases.parquet"
	rejectsFile  = "rejects.parquet"
	cardFile     = "README.md"
	manifestFile = "manifest.json"
)

// pinnedFiles are those whose SHA-256 the manifest holds.
var pinnedFiles = []string{casesFile, rejectsFile, cardFile}

// writeVersion writes the files of a version into dir, the manifest last, and
// notes their digests in it.
func writeVersion(dir string, d *Draft) error {
	writers := map[string]func(io.Writer) error{
		casesFile:   func(w io.Writer) error { return parquetfile.Write(w, convert(d.Cases, toCaseRow)) },
		rejectsFile: func(w io.Writer) error { return parquetfile.Write(w, convert(d.Rejects, toRejectRow)) },
		cardFile:    func(w io.Writer) error { return writeCard(w, &d.Manifest) },
	}
	d.Manifest.Files = map[string]string{}
	for _, name := range pinnedFiles {
		sum := sha256.New()
		err := atomicfile.Write(filepath.Join(dir, name), 0o644, func(w io.Writer) error {
			return writers[name](io.MultiWriter(w, sum))
		})
		if err != nil {
			return err
		}
		d.Manifest.Files[name] = DigestPrefix + hex.EncodeToString(sum.Sum(nil))
	}
	return atomicfile.WriteJSON(filepath.Join(dir, manifestFile), 0o644, d.Manifest)
}

// upgrades turns the manifest of an older format into the next one's, by the
// format that it upgrades from. Format 1 is the first.
var upgrades = map[int]func(raw []byte) ([]byte, error){}

// ReadManifest reads a version's manifest, upgraded to the format of today.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notASet(dir)
	}
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data)
	switch {
	case errors.Is(err, errFormat):
		return nil, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return nil, &DamagedError{dir, fmt.Errorf("%s: %w", path, err)}
	}
	return m, nil
}

// errFormat says that a manifest is of a format that only other versions of goldgen
// read.
var errFormat = errors.New("is not known")

// notASet says what stands in the place of a version.
func notASet(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, casesFile)); err == nil {
		return fmt.Errorf("%s is an unfinished version: it has no %s", dir, manifestFile)
	}
	if inside, _ := filepath.Glob(filepath.Join(globQuote(dir), "v*", manifestFile)); len(inside) > 0 {
		return fmt.Errorf("%s holds versions of a golden set; name one, such as %s", dir, filepath.Dir(inside[len(inside)-1]))
	}
	return fmt.Errorf("%s is no golden set: it has no %s", dir, manifestFile)
}

func parseManifest(data []byte) (*Manifest, error) {
	var head struct {
		Format *int            `json:"format"`
		Digest json.RawMessage `json:"digest"`
		Name   json.RawMessage `json:"name"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Format == nil || head.Digest == nil || head.Name == nil {
		return nil, errors.New("not the manifest of a golden set: format, name or digest is missing")
	}
	for f := *head.Format; f != Format; f++ {
		upgrade := upgrades[f]
		if upgrade == nil {
			return nil, fmt.Errorf("format %d %w; this goldgen reads up to format %d", *head.Format, errFormat, Format)
		}
		var err error
		if data, err = upgrade(data); err != nil {
			return nil, fmt.Errorf("upgrade from format %d: %w", f, err)
		}
	}
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	m.RefreshedAt = cmp.Or(m.RefreshedAt, m.CreatedAt)
	return &m, nil
}

// loadDir reads a version whose rows are as its manifest says. The card is for
// people, who may have written in it: only Verify looks at that.
func loadDir(dir string) (*Set, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{casesFile, rejectsFile} {
		if err := checkFile(dir, name, m); err != nil {
			return nil, damaged(dir, err)
		}
	}
	set, err := readRows(dir, m)
	return set, damaged(dir, err)
}

// damaged is an error about a file of a version, as one that a person can mend.
// Permissions are another matter.
func damaged(dir string, err error) error {
	if err == nil || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return &DamagedError{dir, err}
}

// readRows reads the Parquet files without looking at their digests.
func readRows(dir string, m *Manifest) (*Set, error) {
	cases, err := parquetfile.ReadFile[caseRow](filepath.Join(dir, casesFile), addedToCases()...)
	if err != nil {
		return nil, err
	}
	rejects, err := parquetfile.ReadFile[rejectRow](filepath.Join(dir, rejectsFile), addedToRejects()...)
	if err != nil {
		return nil, err
	}
	s := &Set{Manifest: *m, Dir: dir, Cases: make([]Case, len(cases)), Rejects: make([]Reject, len(rejects))}
	for i, r := range cases {
		c := r.toCase()
		s.Cases[i] = c.Canonical()
	}
	for i, r := range rejects {
		x := r.toReject()
		s.Rejects[i] = x.Canonical()
	}
	return s, nil
}

// checkFile compares a file's bytes with the manifest.
func checkFile(dir, name string, m *Manifest) error {
	path := filepath.Join(dir, name)
	sum, err := filedigest.SHA256(path)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", path, at.Err)
	}
	switch want := m.Files[name]; {
	case err != nil:
		return err
	case want == "":
		return fmt.Errorf("%s: %s names no digest for it", path, manifestFile)
	case DigestPrefix+sum != want:
		return fmt.Errorf("%s was changed after it was written: its digest is %s, %s says %s", path, DigestPrefix+sum, manifestFile, want)
	}
	return nil
}
