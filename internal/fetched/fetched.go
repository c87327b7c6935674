// Package fetched keeps copies of what lies elsewhere, for readers of files: the
// objects of a store, the rows of a query, the points of a collection. A copy is
// replaced only where what it is of has changed.
package fetched

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/bucket"
	"github.com/goldgen/goldgen/internal/dbaddress"
	"github.com/goldgen/goldgen/internal/filedigest"
)

// Kinds of sources that are not files.
const (
	Postgres = "postgres" // the rows of a query
	Qdrant   = "qdrant"   // the points of a collection
)

// Config says what is fetched from a database.
type Config struct {
	Kind string `yaml:"kind"`

	DSN          string `yaml:"dsn"`           // postgres, without a password: PGPASSWORD, PGPASSFILE or PasswordFile has it
	PasswordFile string `yaml:"password_file"` // postgres
	Query        string `yaml:"query"`         // postgres: one SELECT

	URL        string `yaml:"url"`        // qdrant, of the gRPC port; its path is the collection
	APIKey     string `yaml:"api_key"`    // qdrant, as ${NAME} of the environment
	Collection string `yaml:"collection"` // qdrant
	Vector     string `yaml:"vector"`     // qdrant: the name of the vector; "" is the only one, none leaves it out
}

var fromEnvironment = regexp.MustCompile(`^\$\{(\w+)\}$`)

// Validate names the field that is wrong. It never shows a secret.
func (c Config) Validate() error {
	switch c.Kind {
	case Postgres:
		return c.validatePostgres()
	case Qdrant:
		return c.validateQdrant()
	}
	return fmt.Errorf("kind: %q, want %s or %s", c.Kind, Postgres, Qdrant)
}

func (c Config) validatePostgres() error {
	switch {
	case c.URL != "" || c.APIKey != "" || c.Collection != "" || c.Vector != "":
		return errors.New("url, api_key, collection, vector: are of kind qdrant")
	case strings.TrimSpace(c.Query) == "":
		return errors.New("query: empty; want a SELECT")
	}
	return dbaddress.CheckPostgres(c.DSN)
}

func (c Config) validateQdrant() error {
	switch {
	case c.DSN != "" || c.PasswordFile != "" || c.Query != "":
		return errors.New("dsn, password_file, query: are of kind postgres")
	case c.APIKey != "" && !fromEnvironment.MatchString(c.APIKey):
		return errors.New("api_key: a secret must come from the environment, as in ${QDRANT_API_KEY}")
	case c.collection() == "":
		return errors.New("collection: empty")
	}
	return dbaddress.CheckQdrant(c.URL)
}

// Store keeps copies in folders below Root. Several processes may use one at once.
type Store struct {
	Root   string
	Dir    string // that a password file's path is relative to
	Getenv func(string) string
}

// rowsFile holds the rows of a database as JSON lines.
const rowsFile = "rows.jsonl"

// RowsPath is where Rows keeps the rows of a database.
func (s *Store) RowsPath(c Config) string { return filepath.Join(s.folder(c), rowsFile) }

// folder is that of a source's copy.
func (s *Store) folder(of any) string {
	data, err := json.Marshal(of)
	if err != nil {
		panic(err) // strings alone
	}
	sum := sha256.Sum256(data)
	return filepath.Join(s.Root, hex.EncodeToString(sum[:8]))
}

// Rows fetches the rows of a database, one JSON object a line, into the file that
// RowsPath names. changed is false where they are those that it held.
func (s *Store) Rows(ctx context.Context, c Config) (changed bool, err error) {
	if err := c.Validate(); err != nil {
		return false, err
	}
	unlock, err := s.lock(ctx, s.folder(c))
	if err != nil {
		return false, err
	}
	defer unlock()
	path := s.RowsPath(c)
	next := path + ".next"
	defer os.Remove(next)
	var unread error // said without the file that it was to go into
	err = atomicfile.Write(next, 0o600, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<20)
		unread = c.read(ctx, s, &lines{json.NewEncoder(buffered)})
		return errors.Join(unread, buffered.Flush())
	})
	if err = cmp.Or(unread, err); err != nil {
		return false, err
	}
	before, oldErr := filedigest.SHA256(path)
	now, err := filedigest.SHA256(next)
	if err != nil || oldErr == nil && before == now {
		return false, err
	}
	return true, os.Rename(next, path)
}

// read writes the rows of a database.
func (c Config) read(ctx context.Context, s *Store, out *lines) error {
	if c.Kind == Postgres {
		return c.selectRows(ctx, s, out)
	}
	return c.scroll(ctx, s, out)
}

// lines writes rows.
type lines struct{ out *json.Encoder }

func (l *lines) add(row map[string]any) error { return l.out.Encode(row) }

// lock lets one process at a time fetch into a folder, which is made when missing.
func (s *Store) lock(ctx context.Context, dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, ".lock"))
	if _, err := l.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, fmt.Errorf("waiting for the lock %s: %w", l.Path(), err)
	}
	return func() { l.Unlock() }, nil
}

// Probe asks whether a source can be reached, and reads nothing of it.
func (s *Store) Probe(ctx context.Context, c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Kind == Postgres {
		return c.probePostgres(ctx, s)
	}
	return c.probeQdrant(ctx, s)
}

// ProbeObjects asks whether an address of a store can be read.
func (s *Store) ProbeObjects(ctx context.Context, address string) error {
	b, err := bucket.Open(address, s.Getenv)
	if err != nil {
		return err
	}
	for _, err := range b.List(ctx, "") {
		return err
	}
	parent, name := split(address)
	if b, err = bucket.Open(parent, s.Getenv); err == nil {
		_, err = b.Stat(ctx, name)
	}
	return err
}
