package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"
)

// TransportConfig says how one endpoint is spoken to. Zero values mean the
// defaults named.
type TransportConfig struct {
	Timeout       time.Duration // of one attempt, body included; 0 means 10 minutes
	Retries       int           // further attempts; 0 means 4, negative means none
	WaitMin       time.Duration // before the first retry; 0 means 500 ms
	WaitMax       time.Duration // cap of every wait, a server's Retry-After included; 0 means 60 s
	Rate          float64       // requests a second; 0 means no limit
	Connections   int           // kept open; 0 means 16
	RoundTripper  http.RoundTripper
	RandomFloat64 func() float64 // for jitter, in [0,1); nil means math/rand/v2
}

func (c TransportConfig) withDefaults() TransportConfig {
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

// NewHTTPClient makes the client that both providers use. It retries 429, 5xx
// and broken connections with capped and jittered waits, obeying Retry-After in
// seconds or as a date; never 400, 401, 403, 404 and 501, never a call that timed
// out, and never the first contact: a server that is down is said at once.
func NewHTTPClient(cfg TransportConfig) *http.Client {
	cfg = cfg.withDefaults()
	seen := &firstContact{next: cfg.RoundTripper}
	c := retryablehttp.NewClient()
	c.HTTPClient = &http.Client{Transport: seen, Timeout: cfg.Timeout}
	c.Logger = nil
	c.RequestLogHook = cfg.paced()
	c.RetryMax = cfg.Retries
	c.RetryWaitMin, c.RetryWaitMax = cfg.WaitMin, cfg.WaitMax
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.Backoff = cfg.backoff
	c.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		return shouldRetry(ctx, seen.contacted.Load(), resp, err)
	}
	return c.StandardClient()
}

// backoff is the library's, capped, with up to half of the wait added.
func (c TransportConfig) backoff(least, most time.Duration, attempt int, resp *http.Response) time.Duration {
	wait := retryablehttp.DefaultBackoff(least, most, attempt, resp)
	wait += time.Duration(float64(wait/2) * c.RandomFloat64())
	return min(wait, most)
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
func (c TransportConfig) paced() retryablehttp.RequestLogHook {
	if c.Rate <= 0 {
		return nil
	}
	limit := rate.NewLimiter(rate.Limit(c.Rate), max(1, int(math.Ceil(c.Rate))))
	return func(_ retryablehttp.Logger, req *http.Request, _ int) {
		_ = limit.Wait(req.Context())
	}
}

func shouldRetry(ctx context.Context, contacted bool, resp *http.Response, err error) (bool, error) {
	switch {
	case ctx.Err() != nil, timedOut(err):
		return false, nil
	case err != nil && !contacted && dialFailed(err):
		return false, nil
	case resp != nil && resp.StatusCode == http.StatusInternalServerError && hopeless(resp):
		return false, nil
	}
	retry, _ := retryablehttp.DefaultRetryPolicy(ctx, resp, err)
	return retry, nil
}

// hopeless looks into a 500 for what Ollama says of a schema that it cannot
// use: it would say so every time.
func hopeless(resp *http.Response) bool {
	head, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	return err == nil && badSchema(string(head))
}

func badSchema(body string) bool {
	body = strings.ToLower(body)
	return strings.Contains(body, "invalid json schema") || strings.Contains(body, "failed to parse grammar")
}

func timedOut(err error) bool {
	if err == nil {
		return false
	}
	n, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || (ok && n.Timeout() && !dialFailed(err))
}

func dialFailed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	_, noName := errors.AsType[*net.DNSError](err)
	return noName || (ok && op.Op == "dial")
}

// CallError turns what a transport returned into an *Error, or into the cause
// of the context's end.
func CallError(ctx context.Context, model, endpoint string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := &Error{Model: model, Endpoint: RedactURL(endpoint)}
	switch {
	case timedOut(err):
		e.Kind, e.Detail = KindTimeout, "no complete answer in the configured time"
	case dialFailed(err):
		e.Kind, e.Detail = KindServerDown, innermost(err)
	default:
		e.Kind, e.Detail = KindServerGone, innermost(err)
	}
	return e
}

// innermost gives the words of the cause, without the address that net/http
// puts before it.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// StatusError turns an HTTP status of 400 or more and what the server said of
// it into an *Error.
func StatusError(model, endpoint string, status int, said string) error {
	e := &Error{Kind: statusKind(status, said), Model: model, Endpoint: RedactURL(endpoint), Status: status, Detail: Bounded(said)}
	if e.Detail == "" {
		e.Detail = fmt.Sprintf("no further word (%s)", strings.ToLower(http.StatusText(status)))
	}
	return e
}

func statusKind(status int, said string) Kind {
	said = strings.ToLower(said)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return KindAuth
	case status == http.StatusNotFound && strings.Contains(said, "model"):
		return KindModelNotFound
	case status == http.StatusNotFound || status == http.StatusNotImplemented || status == http.StatusMethodNotAllowed:
		return KindNotTheProtocol
	case status == http.StatusTooManyRequests:
		return KindRateLimited
	case overflow(said):
		return KindPromptTooLong
	case strings.Contains(said, "does not support chat"):
		return KindNotAChatModel
	case strings.Contains(said, "does not support embeddings"):
		return KindNotAnEmbedder
	case status >= 500 && !badSchema(said):
		return KindServerError
	}
	return KindBadRequest
}

// overflow knows how servers word "longer than the window".
func overflow(said string) bool {
	for _, s := range []string{"exceeds the context length", "context_length_exceeded", "maximum context length", "exceeds the available context", "input length exceeds", "too many tokens"} {
		if strings.Contains(said, s) {
			return true
		}
	}
	return false
}
