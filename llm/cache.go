package llm

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver, without cgo
)

// cacheFormat is written into the file; another one is refused.
const cacheFormat = "1"

// maxConns bounds the connections to the file; a thousand readers at once take
// turns on them.
const maxConns = 8

// lockPoll is how often a process asks whether another has prepared the file.
const lockPoll = 10 * time.Millisecond

const cacheTables = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, model TEXT NOT NULL, created INTEGER NOT NULL, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, model TEXT NOT NULL, created INTEGER NOT NULL, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS models (provider TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (provider, name));
INSERT OR IGNORE INTO meta VALUES ('format', '` + cacheFormat + `');`

// Cache keeps complete replies and vectors in one SQLite file, found by the
// digest of the request. Several processes may share it. Its files are readable
// by their owner only. Rows are written by one goroutine in batches of at most
// 500, so that kill -9 loses at most one batch.
type Cache struct {
	db     *sql.DB
	now    func() time.Time
	reads  map[table]*sql.Stmt
	writer *writer
}

// table is one of the two tables that hold what servers answered.
type table string

const (
	replies table = "replies"
	vectors table = "vectors"
)

// OpenCache opens the file, or makes it together with its folder. now stamps
// rows; nil means time.Now.
func OpenCache(ctx context.Context, path string, now func() time.Time) (*Cache, error) {
	if now == nil {
		now = time.Now
	}
	if err := ownerOnly(path); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCache, path, err)
	}
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCache, path, err)
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	c := &Cache{db: db, now: now}
	if err := c.prepareAlone(ctx, path); err != nil {
		db.Close()
		return nil, fmt.Errorf("%w: %s: %w", ErrCache, path, err)
	}
	c.writer = startWriter(db, now)
	return c, nil
}

// ownerOnly makes the file before SQLite does, which gives its journal files
// the same mode.
func ownerOnly(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Chmod(0o600)
}

func dataSource(path string) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "mmap_size(1073741824)",
	}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// prepareAlone prepares the file while no other process does. Two that turn a
// new file to WAL at once would not wait for each other: SQLite answers one of
// them with SQLITE_BUSY, whatever its timeout is.
func (c *Cache) prepareAlone(ctx context.Context, path string) error {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return err
	}
	defer lock.Close()
	return c.prepare(ctx)
}

func (c *Cache) prepare(ctx context.Context) error {
	if _, err := c.db.ExecContext(ctx, cacheTables); err != nil {
		return err
	}
	var format string
	if err := c.db.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'format'`).Scan(&format); err != nil {
		return err
	}
	if format != cacheFormat {
		return fmt.Errorf("format %q, but this goldgen reads %q", format, cacheFormat)
	}
	c.reads = map[table]*sql.Stmt{}
	for _, t := range []table{replies, vectors} {
		stmt, err := c.db.PrepareContext(ctx, "SELECT value FROM "+string(t)+" WHERE key = ?")
		if err != nil {
			return err
		}
		c.reads[t] = stmt
	}
	return nil
}

// Reply looks a reply up. The key is that of Request.Key.
func (c *Cache) Reply(ctx context.Context, key string) (Reply, bool, error) {
	value, ok, err := c.read(ctx, replies, key)
	if err != nil || !ok {
		return Reply{}, false, err
	}
	var r Reply
	if err := json.Unmarshal(value, &r); err != nil {
		return Reply{}, false, fmt.Errorf("%w: reply %s: %w", ErrCache, key, err)
	}
	r.Cached = true
	return r, true, nil
}

// PutReply hands a complete reply to the writer. It waits only while a whole
// batch is on its way to the disk. The error is that of an earlier batch: a
// cache that cannot be written ends the run.
func (c *Cache) PutReply(key string, model Model, r Reply) error {
	value, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("%w: reply %s: %w", ErrCache, key, err)
	}
	return c.put(replies, key, model, value)
}

func (c *Cache) put(t table, key string, model Model, value []byte) error {
	k, err := hex.DecodeString(key)
	if err != nil {
		return fmt.Errorf("%w: key %q: %w", ErrCache, key, err)
	}
	return c.writer.put(row{id: rowID{t, string(k)}, model: model.ID(), value: value})
}

// read sees rows that still wait to be written, too.
func (c *Cache) read(ctx context.Context, t table, key string) ([]byte, bool, error) {
	k, err := hex.DecodeString(key)
	if err != nil {
		return nil, false, fmt.Errorf("%w: key %q: %w", ErrCache, key, err)
	}
	if value, ok := c.writer.pending(rowID{t, string(k)}); ok {
		return value, true, nil
	}
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	var value []byte
	// Without a cancel the driver needs no goroutine for each of these short
	// reads, which nothing in WAL mode blocks.
	err = c.reads[t].QueryRowContext(context.WithoutCancel(ctx), k).Scan(&value)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("%w: %s: %w", ErrCache, t, err)
	}
	return value, true, nil
}

// Flush waits until all that was put is on the disk.
func (c *Cache) Flush() error { return c.writer.flush() }

// Close writes what is left and closes the file. It may be called twice.
func (c *Cache) Close() error {
	err := c.writer.close()
	return errors.Join(err, c.db.Close())
}

// ID names the model in rows, statistics and messages: ollama/name@digest.
func (m Model) ID() string {
	id := m.Provider + "/" + m.Name
	switch {
	case m.Digest != "":
		return id + "@" + m.Digest[:min(12, len(m.Digest))]
	case m.Revision != "":
		return id + "@" + m.Revision
	}
	return id
}
