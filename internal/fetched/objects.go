package fetched

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/bucket"
)

const (
	filesFolder = "files"
	indexFile   = "index.json"

	// fetchAtOnce is how many objects are read at a time.
	fetchAtOnce = 8
)

// index says which object each file is a copy of: key -> ETag.
type index map[string]string

// ObjectsPath is where Objects keeps the copies of what an address names: of one
// object a file, of a prefix, which ends with a slash, a folder.
func (s *Store) ObjectsPath(address string) string {
	dir := filepath.Join(s.folder(address), filesFolder)
	if IsPrefix(address) {
		return dir
	}
	_, name := split(address)
	return filepath.Join(dir, name)
}

// IsPrefix reports whether an address is of all that lies below it: it ends with a
// slash, or names a bucket alone.
func IsPrefix(address string) bool {
	address, _, _ = strings.Cut(strings.TrimPrefix(address, bucket.Scheme), "?")
	return strings.HasSuffix(address, "/") || !strings.Contains(address, "/")
}

// split is an address of one object as that of what it lies in, and its name.
func split(address string) (parent, name string) {
	address, parameters, ok := strings.Cut(address, "?")
	if ok {
		parameters = "?" + parameters
	}
	return bucket.Scheme + path.Dir(strings.TrimPrefix(address, bucket.Scheme)) + "/" + parameters, path.Base(address)
}

// Objects fetches the objects that an address names, those of a prefix that want lets
// through. Copies of objects that have not changed stay as they are, and those of
// objects that are gone go.
func (s *Store) Objects(ctx context.Context, address string, want func(key string) bool) error {
	dir := s.folder(address)
	unlock, err := s.lock(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	m := &mirror{files: filepath.Join(dir, filesFolder), indexPath: filepath.Join(dir, indexFile)}
	if m.before, err = readIndex(m.indexPath); err != nil {
		return err
	}
	if err := m.list(ctx, s, address, want); err != nil {
		return err
	}
	if err := m.fetch(ctx); err != nil {
		return err
	}
	if err := m.sweep(); err != nil {
		return err
	}
	return atomicfile.WriteJSON(m.indexPath, 0o600, m.now)
}

// mirror is one run of Objects.
type mirror struct {
	bucket           *bucket.Bucket
	files, indexPath string
	before, now      index
	sizes            map[string]int64
}

func readIndex(path string) (index, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return index{}, nil
	}
	i := index{}
	if err == nil && json.Unmarshal(data, &i) != nil {
		return index{}, nil // a damaged one: all is fetched again
	}
	return i, err
}

// list finds the objects that are wanted.
func (m *mirror) list(ctx context.Context, s *Store, address string, want func(string) bool) (err error) {
	m.now, m.sizes = index{}, map[string]int64{}
	if !IsPrefix(address) {
		parent, name := split(address)
		if m.bucket, err = bucket.Open(parent, s.Getenv); err != nil {
			return err
		}
		info, err := m.bucket.Stat(ctx, name)
		m.now[name], m.sizes[name] = info.ETag, info.Size
		return err
	}
	if m.bucket, err = bucket.Open(address, s.Getenv); err != nil {
		return err
	}
	for info, err := range m.bucket.List(ctx, "") {
		if err != nil {
			return err
		}
		if want(info.Key) {
			m.now[info.Key], m.sizes[info.Key] = info.ETag, info.Size
		}
	}
	return nil
}

// fetch reads what has changed.
func (m *mirror) fetch(ctx context.Context) error {
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(fetchAtOnce)
	for key, etag := range m.now {
		if m.before[key] == etag && m.have(key) {
			continue
		}
		group.Go(func() error { return m.one(each, key, etag) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (m *mirror) path(key string) string { return filepath.Join(m.files, filepath.FromSlash(key)) }

// have reports whether the copy is there, as long as its object.
func (m *mirror) have(key string) bool {
	info, err := os.Stat(m.path(key))
	return err == nil && info.Mode().IsRegular() && info.Size() == m.sizes[key]
}

func (m *mirror) one(ctx context.Context, key, etag string) error {
	r, info, err := m.bucket.Get(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	if info.ETag != etag {
		return fmt.Errorf("%s: was changed while the corpus was read; run the same command again", m.bucket.Where(key))
	}
	if err := os.MkdirAll(filepath.Dir(m.path(key)), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(m.path(key), 0o600, func(w io.Writer) error {
		n, err := io.Copy(w, r)
		if err == nil && n != info.Size {
			err = fmt.Errorf("%d bytes of %d came", n, info.Size)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.bucket.Where(key), err)
		}
		return nil
	})
}

// sweep takes away copies of what is gone.
func (m *mirror) sweep() error {
	err := filepath.WalkDir(m.files, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(m.files, path)
		if err != nil {
			return err
		}
		if _, ok := m.now[filepath.ToSlash(rel)]; ok {
			return nil
		}
		return os.Remove(path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(m.files, 0o700) // a prefix below which nothing lies
	}
	return err
}
