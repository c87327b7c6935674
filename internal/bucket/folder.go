package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/filedigest"
)

// folder keeps objects as files below a path. Its ETags are digests of their bytes.
type folder string

func (f folder) path(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

// list implements store. Files that a write left unfinished are no objects.
func (f folder) list(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if _, err := os.Stat(string(f)); err != nil {
			yield(Info{}, missing(err))
			return
		}
		root := f.path(prefix[:strings.LastIndex(prefix, "/")+1])
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".tmp-") {
				return err
			}
			rel, err := filepath.Rel(string(f), path)
			if key := filepath.ToSlash(rel); err != nil || !strings.HasPrefix(key, prefix) {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if !yield(Info{Key: filepath.ToSlash(rel), Size: info.Size(), Modified: info.ModTime()}, nil) {
				return fs.SkipAll
			}
			return context.Cause(ctx)
		})
		if err != nil {
			yield(Info{}, missing(err))
		}
	}
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	return err
}

// stat implements store.
func (f folder) stat(_ context.Context, key string) (Info, error) {
	info, err := os.Stat(f.path(key))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no file")
	}
	if err != nil {
		return Info{}, missing(err)
	}
	digest, err := filedigest.SHA256(f.path(key))
	if err != nil {
		return Info{}, missing(err)
	}
	return Info{Key: key, Size: info.Size(), ETag: digest, SHA256: digest, Modified: info.ModTime()}, nil
}

// get implements store.
func (f folder) get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	info, err := f.stat(ctx, key)
	if err != nil {
		return nil, info, err
	}
	file, err := os.Open(f.path(key))
	if err != nil {
		return nil, info, missing(err)
	}
	return file, info, nil
}

// put implements store. The object's folder is locked from the look at what stands
// there until the write is done.
func (f folder) put(ctx context.Context, key string, o Object, on Condition) (Info, error) {
	path := f.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return Info{}, err
	}
	defer atomicfile.LockDir(filepath.Dir(path))()
	if on != (Condition{}) {
		at, err := f.stat(ctx, key)
		switch there := err == nil; {
		case err != nil && !errors.Is(err, ErrMissing):
			return Info{}, err
		case on.Absent && there, on.ETag != "" && at.ETag != on.ETag:
			return Info{}, ErrCondition
		}
	}
	if _, err := o.Body.Seek(0, io.SeekStart); err != nil {
		return Info{}, err
	}
	sum := sha256.New()
	err := atomicfile.Write(path, 0o644, func(w io.Writer) error {
		n, err := io.Copy(io.MultiWriter(w, sum), o.Body)
		if err == nil && n != o.Size {
			err = fmt.Errorf("%d bytes of %d", n, o.Size)
		}
		return errors.Join(err, context.Cause(ctx))
	})
	digest := hex.EncodeToString(sum.Sum(nil))
	return Info{Key: key, Size: o.Size, ETag: digest, SHA256: digest}, err
}
