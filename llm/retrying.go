package llm

import (
	"context"
	"errors"
	"time"
)

// Retry asks again where a status of 200 came but the body ended early, which
// the transport below cannot see. All else is retried there, or not at all.
type Retry struct {
	Times int           // further calls, at most
	Wait  time.Duration // before the first one, doubled each time
}

// Client wraps a client.
func (r Retry) Client(client Client) Client {
	return clientFunc(func(ctx context.Context, req Request) (Reply, error) {
		return retried(ctx, r, func() (Reply, error) { return client.Complete(ctx, req) })
	})
}

// Embedder wraps an embedder.
func (r Retry) Embedder(e Embedder) Embedder {
	return embedderFunc(func(ctx context.Context, req EmbedRequest) ([][]float32, error) {
		return retried(ctx, r, func() ([][]float32, error) { return e.Embed(ctx, req) })
	})
}

func retried[T any](ctx context.Context, r Retry, call func() (T, error)) (T, error) {
	for n := 0; ; n++ {
		got, err := call()
		if e, ok := errors.AsType[*Error](err); !ok || !e.Cut || n >= r.Times {
			return got, err
		}
		if waitErr := sleep(ctx, r.Wait<<n); waitErr != nil {
			return got, waitErr
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
