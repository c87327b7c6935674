package llm

import (
	"context"
	"errors"

	"golang.org/x/sync/singleflight"
)

// CachedClient answers from a cache, and asks the client below for the rest.
type CachedClient struct {
	// Counter, where set, counts what the cache answered.
	Counter *Counter

	client Client
	cache  *Cache
	flight singleflight.Group
}

// Cached puts a cache before a client. Equal requests in flight at once are
// asked once. Complete returns before its reply is on the disk: Flush or Close
// of the cache waits for that, also after a cancel.
func Cached(client Client, cache *Cache) *CachedClient {
	return &CachedClient{client: client, cache: cache}
}

// Peek looks into the cache only.
func (c *CachedClient) Peek(ctx context.Context, req Request) (Reply, bool, error) {
	return c.cache.Reply(ctx, req.Key())
}

// Complete is that of Client. Errors that wrap ErrCache mean that the cache
// cannot be read or written.
func (c *CachedClient) Complete(ctx context.Context, req Request) (Reply, error) {
	if err := req.Validate(); err != nil {
		return Reply{}, &Error{Kind: KindBadRequest, Model: req.Model.Name, Detail: err.Error()}
	}
	key := req.Key()
	for {
		result := c.flight.DoChan(key, func() (any, error) { return c.find(ctx, key, req) })
		select {
		case <-ctx.Done():
			// What the call below still brings is put into the cache by find.
			return Reply{}, context.Cause(ctx)
		case r := <-result:
			if r.Err == nil {
				return c.counted(r.Val.(Reply)), nil
			}
			gaveUp, abandoned := errors.AsType[*abandonedCall](r.Err)
			if !abandoned {
				return Reply{}, r.Err
			}
			if ctx.Err() != nil {
				return Reply{}, gaveUp.err
			}
			// Another caller asked for both and was cancelled: ask again.
		}
	}
}

func (c *CachedClient) counted(reply Reply) Reply {
	if reply.Cached {
		c.Counter.hit(1)
	}
	return reply
}

// find looks into the cache, or calls the client below and keeps what it said.
// Both are one flight: an equal call cannot end between them, and a call that is
// made costs one look-up.
func (c *CachedClient) find(ctx context.Context, key string, req Request) (Reply, error) {
	reply, ok, err := c.cache.Reply(ctx, key)
	if !ok && err == nil {
		reply, err = c.client.Complete(ctx, req)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return Reply{}, &abandonedCall{err}
	case err != nil:
		return Reply{}, err
	case ok:
		return reply, nil
	}
	return reply, c.cache.PutReply(key, req.Model, reply)
}

// abandonedCall marks an error of a call whose caller was cancelled.
type abandonedCall struct{ err error }

func (a *abandonedCall) Error() string { return a.err.Error() }
func (a *abandonedCall) Unwrap() error { return a.err }
