package llm_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

func TestBudgetIsHard(t *testing.T) {
	req := request(strings.Repeat("word ", 40)) // 50 tokens by estimate, 4 for the turn, 64 of num_predict
	tests := map[string]struct {
		limits llm.Limits
		calls  int // that pass, each of 10 + 1 tokens
	}{
		"calls":            {llm.Limits{Calls: 3}, 3},
		"tokens":           {llm.Limits{Tokens: 118 + 11 + 11 + 10}, 3},
		"tokens, too few":  {llm.Limits{Tokens: 117}, 0},
		"no limit at all":  {llm.Limits{}, 5},
		"time":             {llm.Limits{Time: 25 * time.Second}, 3},
		"all, calls first": {llm.Limits{Calls: 1, Tokens: 1000, Time: time.Hour}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			fake := &llmtest.Model{Handler: func(llm.Request) llm.Reply {
				now = now.Add(10 * time.Second)
				return llm.Reply{Text: "a", PromptTokens: 10, OutputTokens: 1}
			}}
			client := llm.NewBudget(tt.limits, func() time.Time { return now }).Client(fake)
			passed := 0
			for range 5 {
				_, err := client.Complete(t.Context(), req)
				if err == nil {
					passed++
				} else if !errors.Is(err, llm.ErrBudget) {
					t.Fatalf("error %v, want the budget's", err)
				}
			}
			if passed != tt.calls {
				t.Errorf("%d calls passed, want %d", passed, tt.calls)
			}
		})
	}
}

func TestTimeLimitEndsACallInFlight(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	defer server.Close()
	server.FailNext(llmtest.Fault{Hang: true})
	req := request("q")
	req.Model.Name = "fake-chat"
	client := llm.NewBudget(llm.Limits{Time: 50 * time.Millisecond}, nil).Client(ollamaClient(t, server.URL, 0))
	if _, err := client.Complete(t.Context(), req); !errors.Is(err, llm.ErrBudget) {
		t.Errorf("error %v, want the budget's", err)
	}
}

func TestDryRunCountsWhatIsMissing(t *testing.T) {
	cache := openCache(t, cachePath(t))
	if _, err := llm.Cached(&llmtest.Model{}, cache).Complete(t.Context(), request("cached")); err != nil {
		t.Fatal(err)
	}
	dry := &llm.DryRun{}
	counter := &llm.Counter{}
	client := llm.Cached(counter.Client(dry), cache)
	client.Counter = counter
	for _, text := range []string{"cached", "not cached, twelve", "nor this"} {
		if _, err := client.Complete(t.Context(), request(text)); err != nil && !errors.Is(err, llm.ErrDryRun) {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(llm.Missed{Calls: 2, TokensIn: 4 + 5 + 4 + 2, TokensOut: 128}, dry.Missed()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(llm.Calls{Cached: 1}, counter.Calls()); diff != "" {
		t.Errorf("a dry run counts calls:\n%s", diff)
	}
}

func TestLimiterHoldsBack(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{Delay: 5 * time.Millisecond})
	defer server.Close()
	client := llm.NewLimiter(3).Client(ollamaClient(t, server.URL, 0))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			req := request("q")
			req.Model.Name = "fake-chat"
			if _, err := client.Complete(t.Context(), req); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if server.Peak() != 3 || server.Calls() != 20 {
		t.Errorf("peak %d and %d calls, want 3 and 20", server.Peak(), server.Calls())
	}
}

func TestCutBodiesAreAskedAgain(t *testing.T) {
	tests := map[string]struct {
		fault llmtest.Fault
		kind  llm.Kind
		calls int
	}{
		"body ends in the middle": {llmtest.Fault{Truncated: true}, "", 3},
		"done is false":           {llmtest.Fault{NotDone: true}, "", 3},
		"bad request":             {llmtest.Status(400, "no"), llm.KindBadRequest, 1},
		"another protocol":        {llmtest.HTML(), llm.KindNotTheProtocol, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewOllama(llmtest.Config{})
			defer server.Close()
			server.FailNext(tt.fault, tt.fault)
			req := request("q")
			req.Model.Name = "fake-chat"
			client := llm.Retry{Times: 2, Wait: time.Millisecond}.Client(ollamaClient(t, server.URL, -1))
			if _, err := client.Complete(t.Context(), req); llm.KindOf(err) != tt.kind || server.Calls() != tt.calls {
				t.Errorf("error %v after %d calls, want kind %q after %d", err, server.Calls(), tt.kind, tt.calls)
			}
		})
	}
}

// flaky is an endpoint of a pool.
type flaky struct {
	err   error
	calls atomic.Int32
	enter chan struct{} // closed to let calls go; nil means at once
}

func (f *flaky) Complete(context.Context, llm.Request) (llm.Reply, error) {
	f.calls.Add(1)
	if f.enter != nil {
		<-f.enter
	}
	return llm.Reply{Text: "a"}, f.err
}

func pool(t *testing.T, opts llm.PoolOptions, clients ...llm.Client) *llm.Pool {
	t.Helper()
	var endpoints []llm.Endpoint
	for i, c := range clients {
		endpoints = append(endpoints, llm.Endpoint{Name: string(rune('a' + i)), Client: c})
	}
	p, err := llm.NewPool(endpoints, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPoolLeavesAFailingEndpointAlone(t *testing.T) {
	down := &flaky{err: &llm.Error{Kind: llm.KindServerDown}}
	up := &flaky{}
	p := pool(t, llm.PoolOptions{Failures: 3, Rest: time.Hour}, down, up)
	for range 20 {
		if _, err := p.Complete(t.Context(), request("q")); err != nil {
			t.Fatal(err)
		}
	}
	if down.calls.Load() != 3 || up.calls.Load() != 20 {
		t.Errorf("%d and %d calls, want 3 and 20", down.calls.Load(), up.calls.Load())
	}
}

func TestPoolComesBackToAnEndpoint(t *testing.T) {
	a, b := &flaky{err: &llm.Error{Kind: llm.KindTimeout}}, &flaky{}
	p := pool(t, llm.PoolOptions{Failures: 1, Rest: time.Millisecond}, a, b)
	if _, err := p.Complete(t.Context(), request("q")); err != nil {
		t.Fatal(err)
	}
	a.err = nil
	for deadline := time.Now().Add(5 * time.Second); a.calls.Load() < 2 && time.Now().Before(deadline); {
		if _, err := p.Complete(t.Context(), request("q")); err != nil {
			t.Fatal(err)
		}
	}
	if a.calls.Load() < 2 {
		t.Error("an endpoint that is well again is not asked")
	}
}

func TestPoolNamesEachEndpointWhenAllFail(t *testing.T) {
	p := pool(t, llm.PoolOptions{Failures: 1}, &flaky{err: &llm.Error{Kind: llm.KindServerDown}}, &flaky{err: &llm.Error{Kind: llm.KindTimeout}})
	for range 2 {
		_, err := p.Complete(t.Context(), request("q"))
		if err == nil || !strings.Contains(err.Error(), "endpoint a") || !strings.Contains(err.Error(), "endpoint b") {
			t.Errorf("error %v does not name both endpoints", err)
		}
	}
}

func TestPoolDoesNotPassARefusalOn(t *testing.T) {
	a, b := &flaky{err: &llm.Error{Kind: llm.KindBadRequest}}, &flaky{}
	p := pool(t, llm.PoolOptions{Failures: 1}, a, b)
	for range 3 {
		if _, err := p.Complete(t.Context(), request("q")); !errors.Is(err, llm.KindBadRequest) {
			t.Errorf("error %v, want bad request", err)
		}
	}
	if a.calls.Load() != 3 || b.calls.Load() != 0 {
		t.Errorf("%d and %d calls, want 3 and 0", a.calls.Load(), b.calls.Load())
	}
}

func TestPoolTakesTheLeastBusy(t *testing.T) {
	gate := make(chan struct{})
	a, b := &flaky{enter: gate}, &flaky{enter: gate}
	p := pool(t, llm.PoolOptions{}, a, b)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { p.Complete(t.Context(), request("q")) })
	}
	for a.calls.Load()+b.calls.Load() < 10 {
		time.Sleep(time.Millisecond)
	}
	close(gate)
	wg.Wait()
	if a.calls.Load() != 5 || b.calls.Load() != 5 {
		t.Errorf("%d and %d calls, want 5 and 5", a.calls.Load(), b.calls.Load())
	}
}

// One failure in a thousand calls costs at most one reply.
func TestThousandCallsWithFaults(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	defer server.Close()
	for n, f := range map[int]llmtest.Fault{
		100: llmtest.Status(500, "oops"), 200: llmtest.RateLimited("1"), 300: {Reset: true},
		400: {Truncated: true}, 500: llmtest.Status(400, "this one never works"), 600: llmtest.Garbage(),
	} {
		server.FailCall(n, f)
	}
	client := llm.Cached(llm.NewLimiter(16).Client(llm.Retry{Times: 2}.Client(ollamaClient(t, server.URL, 2))), openCache(t, cachePath(t)))
	var failed atomic.Int32
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := w; i < 1000; i += 16 {
				req := request(strings.Repeat("x", i+1))
				req.Model.Name = "fake-chat"
				if _, err := client.Complete(t.Context(), req); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() != 2 {
		t.Errorf("%d of 1,000 calls failed, want 2: the refused one and the one with garbage", failed.Load())
	}
}
