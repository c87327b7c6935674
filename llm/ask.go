package llm

import (
	"context"
	"errors"
	"fmt"
)

// Attempts is how often a request is asked before its unit is unknown: once,
// and two further times after an unusable reply.
const Attempts = 3

// Peeker is a client that can say what it has in its cache without a call.
type Peeker interface {
	Peek(ctx context.Context, req Request) (Reply, bool, error)
}

// AskOptions change how AskWith deals with unusable replies.
type AskOptions struct {
	// RetryUnknown makes up to three new attempts where all earlier ones are
	// unusable.
	RetryUnknown bool
}

// Asked says what a question cost.
type Asked struct {
	Attempts  int // replies looked at
	Made      int // of them, those that a server was asked for now
	Cached    int // of them, those found in the cache
	TokensIn  int // of all replies looked at
	TokensOut int
	Reply     Reply // the last one looked at
}

// Unusable says that no attempt gave a reply that can be used. It wraps the
// error of the last one.
type Unusable struct {
	Attempts int
	Err      error
}

// Error names the last attempt's reason.
func (u *Unusable) Error() string {
	return fmt.Sprintf("unusable after %d attempts: %v", u.Attempts, u.Err)
}

// Unwrap gives the last attempt's reason.
func (u *Unusable) Unwrap() error { return u.Err }

// AskWith asks until parse accepts a reply: attempt 0, then two further ones, each
// with its number in the request and added to the seed. If none can be used,
// attempts that an earlier run made with RetryUnknown are looked at, as far as
// they are in the cache, so that a later ordinary run has the same result as
// that one. A failed call ends it with that call's error; when no reply can be
// used the error is an *Unusable.
func AskWith[T any](ctx context.Context, client Client, req Request, parse func(Reply) (T, error), opts AskOptions) (T, Asked, error) {
	a := asking[T]{client: client, req: req, parse: parse}
	for i := range Attempts {
		if done, err := a.attempt(ctx, i); done || err != nil {
			return a.value, a.asked, err
		}
	}
	return a.further(ctx, opts)
}

// asking is the state of one question.
type asking[T any] struct {
	client Client
	req    Request
	parse  func(Reply) (T, error)
	asked  Asked
	value  T
	last   error
}

// further goes through the attempts beyond the usual ones.
func (a *asking[T]) further(ctx context.Context, opts AskOptions) (T, Asked, error) {
	made := a.asked.Made
	peeker, _ := a.client.(Peeker)
	for i := Attempts; ; i++ {
		known := false
		if peeker != nil {
			var err error
			if _, known, err = peeker.Peek(ctx, a.numbered(i)); err != nil {
				return a.value, a.asked, err
			}
		}
		// Attempts just made count: three new ones are three calls.
		if !known && (!opts.RetryUnknown || a.asked.Made-made >= Attempts || i-Attempts >= maxFurther) {
			return a.value, a.asked, &Unusable{Attempts: a.asked.Attempts, Err: a.last}
		}
		if done, err := a.attempt(ctx, i); done || err != nil {
			return a.value, a.asked, err
		}
	}
}

// maxFurther bounds the attempts over all runs.
const maxFurther = 1000

func (a *asking[T]) numbered(i int) Request {
	req := a.req
	req.Attempt = i
	req.Options.Seed += int64(i)
	return req
}

// attempt asks for one reply and says whether it could be used.
func (a *asking[T]) attempt(ctx context.Context, i int) (bool, error) {
	reply, err := a.client.Complete(ctx, a.numbered(i))
	if err != nil {
		return false, err
	}
	a.count(reply)
	a.value, err = a.parse(reply)
	if err == nil {
		return true, nil
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Model == "" {
		e.Model = a.req.Model.Name
	}
	a.last = err
	var zero T
	a.value = zero
	return false, nil
}

func (a *asking[T]) count(r Reply) {
	a.asked.Attempts++
	a.asked.TokensIn += r.PromptTokens
	a.asked.TokensOut += r.OutputTokens
	a.asked.Reply = r
	if r.Cached {
		a.asked.Cached++
	} else {
		a.asked.Made++
	}
}
