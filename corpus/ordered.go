package corpus

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// ordered applies f to what in yields, on all processors, and yields the
// results in the order of in. Errors of in and of f keep their place. At most a
// few items a processor are held at once.
func ordered[In, Out any](ctx context.Context, in iter.Seq2[In, error], f func(In) (Out, error)) iter.Seq2[Out, error] {
	type result struct {
		out Out
		err error
	}
	return func(yield func(Out, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		workers := runtime.GOMAXPROCS(0)
		slots := make(chan chan result, 4*workers) // in order
		tokens := make(chan struct{}, workers)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() {
			defer close(slots)
			for item, err := range in {
				slot := make(chan result, 1)
				select {
				case slots <- slot:
				case <-ctx.Done():
					return
				}
				if err != nil {
					slot <- result{err: err}
					continue
				}
				tokens <- struct{}{}
				running.Go(func() {
					out, err := f(item)
					slot <- result{out, err}
					<-tokens
				})
			}
		})
		for slot := range slots {
			r := <-slot
			if !yield(r.out, r.err) {
				return
			}
		}
	}
}
