package llm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/goldgen/goldgen/internal/httpretry"
)

// TransportConfig says how one endpoint is spoken to. Zero values mean the
// defaults named.
type TransportConfig = httpretry.Config

// NewHTTPClient makes the client that both providers use: httpretry's, which
// also does not repeat a call with a schema that the server cannot use.
func NewHTTPClient(cfg TransportConfig) *http.Client {
	cfg.Hopeless = hopeless
	return httpretry.NewClient(cfg)
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

// CallError turns what a transport returned into an *Error, or into the cause
// of the context's end.
func CallError(ctx context.Context, model, endpoint string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := &Error{Model: model, Endpoint: RedactURL(endpoint)}
	switch {
	case httpretry.TimedOut(err):
		e.Kind, e.Detail = KindTimeout, "no complete answer in the configured time"
	case httpretry.DialFailed(err):
		e.Kind, e.Detail = KindServerDown, httpretry.Innermost(err)
	default:
		e.Kind, e.Detail = KindServerGone, httpretry.Innermost(err)
	}
	return e
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
	case badSchema(said):
		return KindBadSchema
	case status >= 500:
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
