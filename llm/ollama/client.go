// Package ollama asks an Ollama server through its native API. It owns how
// llm's requests are worded there and what its answers mean; cache, retry and
// limits are llm's.
package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/goldgen/goldgen/llm"
)

// DefaultEndpoint is where Ollama listens if nothing else is said.
const DefaultEndpoint = "http://127.0.0.1:11434"

// maxBody bounds what is read of an answer, in bytes.
const maxBody = 64 << 20

// Config says which server is asked.
type Config struct {
	Endpoint  string        // an address such as http://127.0.0.1:11434; "" means DefaultEndpoint
	HTTP      *http.Client  // from llm.NewHTTPClient; nil means one with its defaults
	KeepAlive time.Duration // how long the server keeps a model loaded; 0 means the server's own, negative for ever
}

// Client is an llm.Client and llm.Embedder over one Ollama server. It may be
// used concurrently.
type Client struct {
	base      *url.URL
	http      *http.Client
	api       *api.Client
	keepAlive *api.Duration

	mu     sync.Mutex
	models map[string]*known
}

// known is what was found out about a model; each part is found out once.
type known struct {
	mu           sync.Mutex
	asked        bool
	capabilities map[string]bool // nil where the server does not say
	probed       bool
	noSystem     error
}

// New makes a client. No call is made.
func New(cfg Config) (*Client, error) {
	if cfg.Endpoint == "" {
		cfg.Endpoint = DefaultEndpoint
	}
	base, err := url.Parse(cfg.Endpoint)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("ollama: endpoint is no http address")
	}
	if cfg.HTTP == nil {
		cfg.HTTP = llm.NewHTTPClient(llm.TransportConfig{})
	}
	c := &Client{base: base, http: cfg.HTTP, api: api.NewClient(base, cfg.HTTP), models: map[string]*known{}}
	if cfg.KeepAlive != 0 {
		c.keepAlive = &api.Duration{Duration: cfg.KeepAlive}
	}
	return c, nil
}

func (c *Client) model(name string) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.models[name]
	if k == nil {
		k = &known{}
		c.models[name] = k
	}
	return k
}

// post sends one call and reads its whole answer. The library's own Chat is not
// used for this: it takes an 8 MB buffer for each call and returns no error for
// an empty body, a 501, or a stream that ends early.
func (c *Client) post(ctx context.Context, path, model string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return &llm.Error{Kind: llm.KindBadRequest, Model: model, Detail: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return &llm.Error{Kind: llm.KindBadRequest, Model: model, Detail: "address cannot be used"}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return llm.CallError(ctx, model, c.base.String(), err)
	}
	defer resp.Body.Close()
	return c.decode(ctx, model, resp, out)
}

func (c *Client) decode(ctx context.Context, model string, resp *http.Response, out any) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		return llm.StatusError(model, c.base.String(), resp.StatusCode, said(body))
	case err != nil:
		return cut(llm.CallError(ctx, model, c.base.String(), err))
	}
	if err := json.Unmarshal(body, out); err != nil {
		return c.notUnderstood(model, resp.StatusCode, body, err)
	}
	return nil
}

// cut marks a body that broke off as worth asking again.
func cut(err error) error {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		e.Cut = e.Kind == llm.KindServerGone
	}
	return err
}

// notUnderstood tells an answer that was cut off from another protocol.
func (c *Client) notUnderstood(model string, status int, body []byte, err error) error {
	e := &llm.Error{Kind: llm.KindNotTheProtocol, Model: model, Endpoint: llm.RedactURL(c.base.String()), Status: status}
	text := strings.TrimSpace(string(body))
	switch {
	case text == "":
		e.Kind, e.Detail, e.Cut = llm.KindServerGone, "empty body", true
	case strings.HasPrefix(text, "{"):
		e.Kind, e.Detail, e.Cut = llm.KindServerGone, "body ended early: "+err.Error(), true
	default:
		e.Detail = "answer is not JSON: " + llm.Bounded(text)
	}
	return e
}

// said finds the words in an error body: a string under "error" here, an
// object under "error" in other servers' answers.
func said(body []byte) string {
	var s struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &s) != nil || len(s.Error) == 0 {
		return string(body)
	}
	var text string
	if json.Unmarshal(s.Error, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(s.Error, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(s.Error)
}
