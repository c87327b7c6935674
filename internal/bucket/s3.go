package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// shaKey is the user metadata that holds an object's SHA-256. ETags of parts and of
// encrypted objects are no digest of the bytes.
const shaKey = "Goldgen-Sha256"

// tries of one request, with the pauses that the client makes between them.
const tries = 4

// s3 keeps objects in one bucket of a server that speaks S3.
type s3 struct {
	client *minio.Client
	bucket string
}

func newS3(u *url.URL, env func(string) string) (*s3, error) {
	if u.Host == "" {
		return nil, errors.New("names no bucket: want s3://bucket/prefix")
	}
	for name := range u.Query() {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("parameter %q is not known; there are endpoint and region", name)
		}
	}
	endpoint := cmp.Or(u.Query().Get("endpoint"), env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || server.Scheme != "http" && server.Scheme != "https" || server.User != nil {
		return nil, errors.New("the endpoint is no address such as https://host:port")
	}
	client, err := minio.New(server.Host, &minio.Options{
		Creds:        keys(env),
		Secure:       server.Scheme == "https",
		Region:       cmp.Or(u.Query().Get("region"), env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
		MaxRetries:   tries,
		BucketLookup: lookup(server.Host),
	})
	if err != nil {
		return nil, err
	}
	return &s3{client, u.Host}, nil
}

// lookup is how a bucket is named to a server: Amazon's by its host, others' by path.
func lookup(host string) minio.BucketLookupType {
	if strings.HasSuffix(host, ".amazonaws.com") {
		return minio.BucketLookupAuto
	}
	return minio.BucketLookupPath
}

// keys are looked for where other programs look for them.
func keys(env func(string) string) *credentials.Credentials {
	if id := env("AWS_ACCESS_KEY_ID"); id != "" {
		return credentials.NewStaticV4(id, env("AWS_SECRET_ACCESS_KEY"), env("AWS_SESSION_TOKEN"))
	}
	file := env("AWS_SHARED_CREDENTIALS_FILE")
	if file == "" && env("HOME") != "" {
		file = filepath.Join(env("HOME"), ".aws", "credentials")
	}
	c := credentials.NewFileAWSCredentials(file, env("AWS_PROFILE"))
	if v, err := c.GetWithContext(&credentials.CredContext{Client: http.DefaultClient}); err != nil || v.AccessKeyID == "" {
		return credentials.NewStaticV4("", "", "") // as nobody
	}
	return c
}

// list implements store.
func (s *s3) list(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Info{}, s.plain(o.Err))
				return
			}
			if strings.HasSuffix(o.Key, "/") {
				continue // what some programs put for a folder
			}
			if !yield(infoOf(o), nil) {
				return
			}
		}
	}
}

func infoOf(o minio.ObjectInfo) Info {
	return Info{Key: o.Key, Size: o.Size, ETag: o.ETag, SHA256: o.UserMetadata[shaKey], Modified: o.LastModified}
}

// stat implements store.
func (s *s3) stat(ctx context.Context, key string) (Info, error) {
	o, err := s.client.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return Info{}, s.plain(err)
	}
	return infoOf(o), nil
}

// get implements store.
func (s *s3) get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	r, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, Info{}, s.plain(err)
	}
	o, err := r.Stat()
	if err != nil {
		r.Close()
		return nil, Info{}, s.plain(err)
	}
	return &body{r, s}, infoOf(o), nil
}

// body says the store's errors in plain words.
type body struct {
	*minio.Object
	s *s3
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Object.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.s.plain(err)
	}
	return n, err
}

// put implements store.
func (s *s3) put(ctx context.Context, key string, o Object, on Condition) (Info, error) {
	if _, err := o.Body.Seek(0, io.SeekStart); err != nil {
		return Info{}, err
	}
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", UserMetadata: map[string]string{shaKey: o.SHA256}}
	if on.Absent {
		options.SetMatchETagExcept("*")
	}
	if on.ETag != "" {
		options.SetMatchETag(on.ETag)
	}
	done, err := s.client.PutObject(ctx, s.bucket, key, o.Body, o.Size, options)
	if err != nil {
		return Info{}, s.plain(err)
	}
	return Info{Key: key, Size: done.Size, ETag: done.ETag, SHA256: o.SHA256, Modified: done.LastModified}, nil
}

// plain gives an error of the store a type and words without keys or headers.
func (s *s3) plain(err error) error {
	var e minio.ErrorResponse
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case minio.NoSuchBucket:
		return fmt.Errorf("%w: no bucket %s", ErrMissing, s.bucket)
	case minio.NoSuchKey, "NotFound":
		return ErrMissing
	case minio.PreconditionFailed, "ConditionalRequestConflict":
		return ErrCondition
	case minio.AccessDenied, minio.InvalidAccessKeyID, minio.SignatureDoesNotMatch:
		return fmt.Errorf("%w: %s", ErrRefused, e.Code)
	}
	switch e.StatusCode {
	case http.StatusNotFound:
		return ErrMissing
	case http.StatusPreconditionFailed:
		return ErrCondition
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %s", ErrRefused, e.Code)
	}
	return fmt.Errorf("the store answers %s: %s", e.Code, e.Message)
}
