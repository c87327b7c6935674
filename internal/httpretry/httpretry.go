// Package httpretry makes HTTP clients that retry, pace and time out the way
// that every server outside of goldgen is asked, and tells apart how a call
// failed.
package httpretry

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"
)

// Config says how one endpoint is spoken to. Zero values mean the
// defaults named.
type Config struct {
	Timeout       time.Duration // of one attempt, body included; 0 means 10 minutes
	Retries       int           // further attempts; 0 means 4, negative means none
	WaitMin       time.Duration // before the first retry; 0 means 500 ms
	WaitMax       time.Duration // cap of every wait, a server's Retry-After included; 0 means 60 s
	Rate          float64       // requests a second; 0 means no limit
	Connections   int           // kept open; 0 means 16
	RoundTripper  http.RoundTripper
	RandomFloat64 func() float64 // for jitter, in [0,1); nil means math/rand/v2

	// CheckRedirect is http.Client's; nil means its default.
	CheckRedirect func(req *http.Request, via []*http.Request) error

	// Hopeless looks at an answer with status 500, whose body it must leave
	// readable, and reports that the next one would be the same; nil means never.
	Hopeless func(*http.Response) bool
}

func (c Config) withDefaults() Config {
	c.Timeout = defaulted(c.Timeout, 10*time.Minute)
	c.WaitMin = defaulted(c.WaitMin, 500*time.Millisecond)
	c.WaitMax = defaulted(c.WaitMax, time.Minute)
	c.Retries = max(defaulted(c.Retries, 4), 0)
	c.Connections = defaulted(c.Connections, 16)
	if c.RoundTripper == nil {
		c.RoundTripper = pooledTransport(c.Connections)
	}
	if c.RandomFloat64 == nil {
		c.RandomFloat64 = rand.Float64
	}
	return c
}

func defaulted[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

func pooledTransport(connections int) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:        connections,
		MaxIdleConnsPerHost: connections,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
}

// NewClient makes a client that retries 429, 5xx
// and broken connections with capped and jittered waits, obeying Retry-After in
// seconds or as a date; never 400, 401, 403, 404 and 501, never a call that timed
// out, and never the first contact: a server that is down is said at once.
func NewClient(cfg Config) *http.Client {
	cfg = cfg.withDefaults()
	seen := &firstContact{next: cfg.RoundTripper}
	c := retryablehttp.NewClient()
	c.HTTPClient = &http.Client{Transport: seen, Timeout: cfg.Timeout, CheckRedirect: cfg.CheckRedirect}
	c.Logger = nil
	c.RequestLogHook = cfg.paced()
	c.RetryMax = cfg.Retries
	c.RetryWaitMin, c.RetryWaitMax = cfg.WaitMin, cfg.WaitMax
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.Backoff = cfg.backoff
	c.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		return cfg.shouldRetry(ctx, seen.contacted.Load(), resp, err)
	}
	return c.StandardClient()
}

// backoff is the library's, capped, with up to half of the wait added.
func (c Config) backoff(least, most time.Duration, attempt int, resp *http.Response) time.Duration {
	wait := retryablehttp.DefaultBackoff(least, most, attempt, resp)
	wait += time.Duration(float64(wait/2) * c.RandomFloat64())
	return min(wait, most)
}

// Wait waits as a client with the defaults does before a further attempt, the
// first one being attempt 0. after is what the server asked for, 0 for no word;
// it is capped. Wait returns why the context ended.
func Wait(ctx context.Context, attempt int, after time.Duration) error {
	c := Config{}.withDefaults()
	wait := c.backoff(c.WaitMin, c.WaitMax, attempt, nil)
	timer := time.NewTimer(max(wait, min(after, c.WaitMax)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// firstContact notes whether the server ever answered.
type firstContact struct {
	next      http.RoundTripper
	contacted atomic.Bool
}

func (f *firstContact) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := f.next.RoundTrip(req)
	if err == nil {
		f.contacted.Store(true)
	}
	return resp, err
}

// paced waits before each attempt, retries included. The library calls this
// hook before an attempt's timeout starts; a wait that the caller ends is seen by
// the attempt itself.
func (c Config) paced() retryablehttp.RequestLogHook {
	if c.Rate <= 0 {
		return nil
	}
	limit := rate.NewLimiter(rate.Limit(c.Rate), max(1, int(math.Ceil(c.Rate))))
	return func(_ retryablehttp.Logger, req *http.Request, _ int) {
		_ = limit.Wait(req.Context())
	}
}

func (c Config) shouldRetry(ctx context.Context, contacted bool, resp *http.Response, err error) (bool, error) {
	switch {
	case ctx.Err() != nil, TimedOut(err):
		return false, nil
	case err != nil && !contacted && DialFailed(err):
		return false, nil
	case resp != nil && resp.StatusCode == http.StatusInternalServerError && c.Hopeless != nil && c.Hopeless(resp):
		return false, nil
	}
	retry, _ := retryablehttp.DefaultRetryPolicy(ctx, resp, err)
	return retry, nil
}

// TimedOut reports that a call ended because its time was over.
func TimedOut(err error) bool {
	if err == nil {
		return false
	}
	n, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || (ok && n.Timeout() && !DialFailed(err))
}

// DialFailed reports that no connection came about: no such name, nobody there.
func DialFailed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	_, noName := errors.AsType[*net.DNSError](err)
	return noName || (ok && op.Op == "dial")
}

// Innermost gives the words of the cause, without the address that net/http
// puts before it.
func Innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// RedactURL drops user, password, query and fragment from an address, so that
// it can be shown.
func RedactURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "(address not shown)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
