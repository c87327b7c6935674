package llm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"
)

// Resolver finds a model on a server: its digest, where the server has one.
type Resolver interface {
	Resolve(ctx context.Context, name string) (Model, error)
}

// Seen is a model, and when a server last named it.
type Seen struct {
	Model Model
	At    time.Time
	// FromCache says that no server was reached, and that the model is the one
	// seen last. Replies in the cache can be replayed with it.
	FromCache bool
}

// ResolveModel asks the resolvers in turn which model has this name, and keeps
// the answer. When none of them can be reached the model seen last is taken, so
// that a run whose replies are all cached needs no server.
func ResolveModel(ctx context.Context, cache *Cache, provider, name string, resolvers ...Resolver) (Seen, error) {
	var failed error
	for _, r := range resolvers {
		m, err := r.Resolve(ctx, name)
		if err == nil {
			seen := Seen{Model: m, At: cache.now().UTC().Truncate(time.Second)}
			return seen, cache.sawModel(ctx, seen)
		}
		if ctx.Err() != nil {
			return Seen{}, context.Cause(ctx)
		}
		if !unreachable(err) {
			return Seen{}, err
		}
		failed = errors.Join(failed, err)
	}
	seen, ok, err := cache.LastSeen(ctx, provider, name)
	if err != nil {
		return Seen{}, err
	}
	if !ok {
		return Seen{}, failed
	}
	return seen, nil
}

func unreachable(err error) bool {
	switch KindOf(err) {
	case KindServerDown, KindServerGone, KindServerError, KindTimeout:
		return true
	}
	return false
}

func (c *Cache) sawModel(ctx context.Context, s Seen) error {
	_, err := c.db.ExecContext(ctx, `INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?)`,
		s.Model.Provider, s.Model.Name, s.Model.Digest, s.At.Unix())
	if err != nil {
		return fmt.Errorf("%w: models: %w", ErrCache, err)
	}
	return nil
}

// LastSeen gives a model as a server last named it.
func (c *Cache) LastSeen(ctx context.Context, provider, name string) (Seen, bool, error) {
	s := Seen{Model: Model{Provider: provider, Name: name}, FromCache: true}
	var at int64
	err := c.db.QueryRowContext(ctx, `SELECT digest, seen FROM models WHERE provider = ? AND name = ?`, provider, name).
		Scan(&s.Model.Digest, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return Seen{}, false, nil
	}
	if err != nil {
		return Seen{}, false, fmt.Errorf("%w: models: %w", ErrCache, err)
	}
	s.At = time.Unix(at, 0).UTC()
	return s, true, nil
}

// ModelStats says what the cache keeps of one model.
type ModelStats struct {
	Model   string    `json:"model"` // as Model.ID gives it
	Replies int       `json:"replies"`
	Vectors int       `json:"vectors"`
	Bytes   int64     `json:"bytes"` // of values
	Oldest  time.Time `json:"oldest"`
	Newest  time.Time `json:"newest"`
}

// Stats lists what is kept, by model in the order of names.
func (c *Cache) Stats(ctx context.Context) ([]ModelStats, error) {
	if err := c.Flush(); err != nil {
		return nil, err
	}
	rows, err := c.db.QueryContext(ctx, `
		SELECT model, SUM(reply), SUM(1 - reply), SUM(bytes), MIN(created), MAX(created) FROM (
			SELECT model, 1 AS reply, LENGTH(value) AS bytes, created FROM replies
			UNION ALL SELECT model, 0, LENGTH(value), created FROM vectors)
		GROUP BY model ORDER BY model`)
	if err != nil {
		return nil, fmt.Errorf("%w: stats: %w", ErrCache, err)
	}
	defer rows.Close()
	var all []ModelStats
	for rows.Next() {
		var s ModelStats
		var oldest, newest int64
		if err := rows.Scan(&s.Model, &s.Replies, &s.Vectors, &s.Bytes, &oldest, &newest); err != nil {
			return nil, fmt.Errorf("%w: stats: %w", ErrCache, err)
		}
		s.Oldest, s.Newest = time.Unix(oldest, 0).UTC(), time.Unix(newest, 0).UTC()
		all = append(all, s)
	}
	return all, rows.Err()
}

// PruneOptions say what to drop; both given mean both must hold, none given
// drops nothing.
type PruneOptions struct {
	Before time.Time // rows made before it
	Model  string    // rows of this model: its ID, or the name alone
}

// Pruned says what was dropped.
type Pruned struct {
	Replies int64 `json:"replies"`
	Vectors int64 `json:"vectors"`
}

// Prune drops rows and gives their space back.
func (c *Cache) Prune(ctx context.Context, opts PruneOptions) (Pruned, error) {
	if opts == (PruneOptions{}) {
		return Pruned{}, errors.New("prune: neither an age nor a model given")
	}
	if err := c.Flush(); err != nil {
		return Pruned{}, err
	}
	var p Pruned
	var err error
	if p.Replies, err = c.drop(ctx, replies, opts); err != nil {
		return p, err
	}
	if p.Vectors, err = c.drop(ctx, vectors, opts); err != nil {
		return p, err
	}
	if _, err := c.db.ExecContext(ctx, `VACUUM`); err != nil {
		return p, fmt.Errorf("%w: prune: %w", ErrCache, err)
	}
	return p, nil
}

func (c *Cache) drop(ctx context.Context, t table, opts PruneOptions) (int64, error) {
	query := "DELETE FROM " + string(t) + " WHERE created < ?"
	before := int64(math.MaxInt64)
	if !opts.Before.IsZero() {
		before = opts.Before.Unix()
	}
	args := []any{before}
	if opts.Model != "" {
		// An ID is provider/name@digest; the name may have slashes of its own.
		query += " AND (model = ?2 OR SUBSTR(model || '@', INSTR(model, '/') + 1, LENGTH(?3)) = ?3)"
		args = append(args, opts.Model, opts.Model+"@")
	}
	result, err := c.db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("%w: prune: %w", ErrCache, err)
	}
	return result.RowsAffected()
}
