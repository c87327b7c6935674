// Package bucket keeps objects by key, in a store that speaks S3 or in a folder.
// An object appears whole or not at all, and a write can be made to hang on what
// stands there, so that of two writers at once one is told.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"
)

var (
	// ErrMissing says that there is no such object, bucket or folder.
	ErrMissing = errors.New("not there")
	// ErrCondition says that what stands there is not what a write hung on.
	ErrCondition = errors.New("something else stands there")
	// ErrRefused says that the store knows no such key, or lets it not do this.
	ErrRefused = errors.New("the store refuses")
)

// Scheme is how the address of a store that speaks S3 begins: s3://bucket/prefix.
const Scheme = "s3://"

// Info describes an object.
type Info struct {
	Key      string // below the address that was opened, with slashes
	Size     int64  // in bytes
	ETag     string // of these bytes; another text where they are others
	SHA256   string // in hex, as its writer noted it; "" where none did
	Modified time.Time
}

// Condition is what a write hangs on. The zero value is none.
type Condition struct {
	Absent bool   // nothing stands there
	ETag   string // what stands there has this ETag; "" is no condition
}

// Object is what is written: its bytes, how many, and their SHA-256 in hex.
type Object struct {
	Body   io.ReadSeeker
	Size   int64
	SHA256 string
}

// store is how objects are kept. Keys are valid, with the prefix of the address.
type store interface {
	list(ctx context.Context, prefix string) iter.Seq2[Info, error]
	stat(ctx context.Context, key string) (Info, error)
	get(ctx context.Context, key string) (io.ReadCloser, Info, error)
	put(ctx context.Context, key string, o Object, on Condition) (Info, error)
}

// Bucket is an address in a store: a bucket, or part of one. Its methods may be
// called concurrently.
type Bucket struct {
	address string // as errors say it
	prefix  string // "" or ends with a slash
	store   store
}

// IsRemote reports whether an address is of a store, and not a path.
func IsRemote(address string) bool { return strings.HasPrefix(address, Scheme) }

// Open opens s3://bucket/prefix, file:///folder, or the path of a folder, which is
// made when something is first written. Nothing is asked of the store yet. In an
// address of S3, ?endpoint=http://host:port and ?region= name the server; else
// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and AWS_REGION or AWS_DEFAULT_REGION do, and
// Amazon's own is asked. Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
// or from the file of shared credentials, and never stand in an address; without any
// the store is asked as nobody.
func Open(address string, env func(string) string) (*Bucket, error) {
	if path, ok := strings.CutPrefix(address, "file://"); ok {
		address = path
	}
	if !IsRemote(address) {
		if scheme, _, ok := strings.Cut(address, "://"); ok {
			return nil, fmt.Errorf("%s: no store is known by %s://; want s3://bucket/prefix or a folder", redacted(address), scheme)
		}
		return &Bucket{address: address, store: folder(address)}, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%s: not an address: want s3://bucket/prefix", redacted(address))
	}
	if u.User != nil {
		return nil, fmt.Errorf("%s: keys do not stand in an address; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", redacted(address))
	}
	s, err := newS3(u, env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", redacted(address), err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Bucket{address: strings.TrimSuffix(Scheme+u.Host+"/"+prefix, "/"), prefix: prefix, store: s}, nil
}

// redacted is an address without what may be a key.
func redacted(address string) string {
	address, _, _ = strings.Cut(address, "?")
	scheme, rest, _ := strings.Cut(address, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

// String is the address, without parameters.
func (b *Bucket) String() string { return b.address }

// Where names an object for people.
func (b *Bucket) Where(key string) string { return strings.TrimSuffix(b.address, "/") + "/" + key }

// List goes through the objects whose keys begin with prefix, by key. Keys that
// could leave a folder, as a hostile store may have them, are an error each.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for info, err := range b.store.list(ctx, b.prefix+prefix) {
			if err == nil {
				info.Key = strings.TrimPrefix(info.Key, b.prefix)
				err = checkKey(info.Key)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", b.address, err)
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

// Stat describes an object; ErrMissing where there is none.
func (b *Bucket) Stat(ctx context.Context, key string) (Info, error) {
	info, err := b.store.stat(ctx, b.prefix+key)
	return b.own(info, key, err)
}

// Get reads an object; ErrMissing where there is none. The caller closes the reader.
// An object that is changed while it is read is an error of the reader.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	r, info, err := b.store.get(ctx, b.prefix+key)
	info, err = b.own(info, key, err)
	return r, info, err
}

// ReadAll reads an object of at most so many bytes.
func (b *Bucket) ReadAll(ctx context.Context, key string, most int64) ([]byte, Info, error) {
	r, info, err := b.Get(ctx, key)
	if err != nil {
		return nil, info, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, info, fmt.Errorf("%s: %w", b.Where(key), err)
	case int64(len(data)) > most:
		return nil, info, fmt.Errorf("%s: is longer than %d bytes", b.Where(key), most)
	}
	return data, info, nil
}

// Put writes an object. With a condition that does not hold nothing is written, and
// the error is ErrCondition. Some stores take no notice of conditions; Conditional
// tells.
func (b *Bucket) Put(ctx context.Context, key string, o Object, on Condition) (Info, error) {
	if err := checkKey(key); err != nil {
		return Info{}, fmt.Errorf("%s: %w", b.address, err)
	}
	info, err := b.store.put(ctx, b.prefix+key, o, on)
	return b.own(info, key, err)
}

// Conditional reports whether the store heeds conditions. It writes an object that
// is there once more, on the condition that nothing is there: o must be what stands
// under key.
func (b *Bucket) Conditional(ctx context.Context, key string, o Object) (bool, error) {
	_, err := b.Put(ctx, key, o, Condition{Absent: true})
	if errors.Is(err, ErrCondition) {
		return true, nil
	}
	return false, err
}

// own names the key as its caller does.
func (b *Bucket) own(info Info, key string, err error) (Info, error) {
	info.Key = key
	if err != nil {
		return info, fmt.Errorf("%s: %w", b.Where(key), err)
	}
	return info, nil
}

// checkKey refuses a key that as a path would lead elsewhere.
func checkKey(key string) error {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("key %.100q could lead out of its folder", key)
		}
	}
	if strings.ContainsAny(key, "\\\x00") || len(key) > 1024 {
		return fmt.Errorf("key %.100q is no key of goldgen's", key)
	}
	return nil
}
