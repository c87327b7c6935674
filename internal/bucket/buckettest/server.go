// Package buckettest has a server that speaks as much of S3 as goldgen asks for, and
// that fails in the ways of real ones.
package buckettest

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Name is the bucket that a server has.
const Name = "team"

// Server keeps one bucket in memory. It looks at no signature.
type Server struct {
	URL  string
	http *httptest.Server

	mu      sync.Mutex
	objects map[string]object
	// Fault is asked before each request; it may answer in the server's place, and
	// then returns true. Set it before the requests that it is for.
	fault func(http.ResponseWriter, *http.Request) bool
	deaf  bool
}

type object struct {
	body []byte
	meta http.Header
	etag string
}

// New starts a server that ends with the test.
func New(t *testing.T) *Server {
	s := Start()
	t.Cleanup(s.Close)
	return s
}

// Start starts a server; the caller closes it.
func Start() *Server {
	s := &Server{objects: map[string]object{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Env answers for the environment of a program that uses the server.
func (s *Server) Env(name string) string {
	return map[string]string{"AWS_ENDPOINT_URL_S3": s.URL, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}[name]
}

// Environ is the same as assignments.
func (s *Server) Environ() []string {
	return []string{"AWS_ENDPOINT_URL_S3=" + s.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-east-1"}
}

// Fault has f look at each request first; nil lets all be answered.
func (s *Server) Fault(f func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Deaf makes the server take no notice of conditions, as older ones do.
func (s *Server) Deaf() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = true
}

// Objects are the bucket's, by key.
func (s *Server) Objects() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for key, o := range s.objects {
		out[key] = string(o.body)
	}
	return out
}

// Set puts an object, as another program would; an empty body takes it away.
func (s *Server) Set(key, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.objects, key); body != "" {
		s.objects[key] = object{body: []byte(body), etag: etag([]byte(body))}
	}
}

// Clear takes all objects away.
func (s *Server) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.objects)
}

// Fail answers with a status and S3's name for the error.
func Fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case bucket != Name:
		Fail(w, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodPut:
		s.put(w, r, key)
	case key == "" && r.URL.Query().Has("location"):
		fmt.Fprint(w, "<LocationConstraint></LocationConstraint>")
	case key == "":
		s.list(w, r.URL.Query().Get("prefix"))
	default:
		s.get(w, r, key)
	}
}

func (s *Server) put(w http.ResponseWriter, r *http.Request, key string) {
	body, err := payload(r)
	if err != nil {
		Fail(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	old, there := s.objects[key]
	match := strings.Trim(r.Header.Get("If-Match"), `"`)
	if !s.deaf && (r.Header.Get("If-None-Match") == "*" && there || match != "" && (!there || old.etag != match)) {
		Fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	meta := maps.Clone(r.Header)
	maps.DeleteFunc(meta, func(name string, _ []string) bool { return !strings.HasPrefix(name, "X-Amz-Meta-") })
	s.objects[key] = object{body, meta, etag(body)}
	w.Header().Set("ETag", `"`+etag(body)+`"`)
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := s.objects[key]
	if !ok {
		Fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	maps.Copy(w.Header(), o.meta)
	w.Header().Set("ETag", `"`+o.etag+`"`)
	http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), bytes.NewReader(o.body))
}

func (s *Server) list(w http.ResponseWriter, prefix string) {
	type contents struct {
		Key          string
		Size         int
		ETag         string
		LastModified string
	}
	var out struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []contents
	}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if o := s.objects[key]; strings.HasPrefix(key, prefix) {
			out.Contents = append(out.Contents, contents{key, len(o.body), `"` + o.etag + `"`, "2023-11-14T22:13:20.000Z"})
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	xml.NewEncoder(w).Encode(out)
}

func etag(body []byte) string {
	sum := md5.Sum(body)
	return hex.EncodeToString(sum[:])
}

// payload reads a body, which over plain HTTP comes in signed pieces.
func payload(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var out []byte
	in := bufio.NewReader(r.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil || n == 0 {
			return out, err
		}
		piece := make([]byte, n+2)
		if _, err := io.ReadFull(in, piece); err != nil {
			return nil, err
		}
		out = append(out, piece[:n]...)
	}
}
