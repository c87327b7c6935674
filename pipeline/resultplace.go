package pipeline

import (
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

// writeResult makes the folder of a result, whole or not at all: cases.parquet
// of the rows, and result.json of the document, which is told the files'
// digests. mayGo says whether what stands at dir may go. The digest is that which
// result.json holds.
func writeResult[R any](dir string, rows []R, document func(files map[string]string) any, mayGo func() error) (digest string, err error) {
	temp, err := atomicfile.NewTempDir(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return "", err
	}
	defer temp.Remove()
	cases := filepath.Join(temp.Path, casesFile)
	if err := atomicfile.Write(cases, 0o644, func(w io.Writer) error { return parquetfile.Write(w, rows) }); err != nil {
		return "", err
	}
	ofCases, err := filedigest.SHA256(cases)
	if err != nil {
		return "", err
	}
	data, digest, err := sealResult(document(map[string]string{casesFile: ofCases}))
	if err != nil {
		return "", err
	}
	if err := atomicfile.WriteBytes(filepath.Join(temp.Path, resultFile), 0o644, data); err != nil {
		return "", err
	}
	if err := temp.Release(); err != nil {
		return "", err
	}
	return digest, takePlace(temp.Path, dir, mayGo)
}

// takePlace moves temp to dir if what stands there may go: that is moved aside
// first, and back where the new one cannot take its place. Others that write to
// the same folder wait.
func takePlace(temp, dir string, mayGo func() error) error {
	defer atomicfile.LockDir(filepath.Dir(filepath.Clean(dir)))()
	if err := mayGo(); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(temp); err != nil {
		return err
	}
	aside := temp + "-old"
	if err := os.Rename(dir, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		if back := os.Rename(aside, dir); back != nil && !errors.Is(back, fs.ErrNotExist) {
			return fmt.Errorf("%w; %s holds what was at %s", err, aside, dir)
		}
		return err
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(filepath.Clean(dir))), os.RemoveAll(aside))
}

// placeIsFree reports whether nothing stands at a folder.
func placeIsFree(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: --out: %w", ErrConfig, err)
	}
	return len(entries) == 0, nil
}
