package retrieve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"github.com/goldgen/goldgen/internal/httpretry"
)

// RequestConfig is an HTTP request as templates. URL, Headers and Body see the
// query as .ID, .Query, .K, .Scope, .Filters, .AsOf and .Vector, quote with
// json, urlquery and join, and read environment variables as ${NAME}.
type RequestConfig struct {
	URL     string            `yaml:"url"`
	Method  string            `yaml:"method"` // default POST, GET without a body
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
}

// validate renders the templates with a query that needs quoting.
func (c RequestConfig) validate(sample any) error {
	if strings.TrimSpace(c.URL) == "" {
		return errors.New("url: empty")
	}
	for name, value := range c.Headers {
		if isSecretHeader(name) && !named.MatchString(value) {
			return fmt.Errorf("headers: %s: a secret must come from the environment, as in ${SEARCH_TOKEN}", name)
		}
	}
	r, err := c.compile(environment{})
	if err != nil {
		return err
	}
	_, err = r.make(context.Background(), sample)
	return err
}

// isSecretHeader tells by its name that a header identifies the caller.
func isSecretHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey"},
		func(part string) bool { return strings.Contains(name, part) })
}

// method is the configured one or the one that goes with the body.
func (c RequestConfig) method() string {
	switch {
	case c.Method != "":
		return strings.ToUpper(c.Method)
	case c.Body == "":
		return http.MethodGet
	}
	return http.MethodPost
}

// addTo adds the request to a description: variables by name only.
func (c RequestConfig) addTo(settings map[string]string) {
	settings["url"], settings["method"], settings["body"] = c.URL, c.method(), c.Body
	for name, value := range c.Headers {
		settings["header."+strings.ToLower(name)] = value
	}
}

// request is a RequestConfig that was read.
type request struct {
	method    string
	url, body *template.Template // body nil without one
	headers   map[string]*template.Template
}

func (c RequestConfig) compile(env environment) (r request, err error) {
	r = request{method: c.method(), headers: map[string]*template.Template{}}
	if r.url, err = parseTemplate("url", c.URL, env); err != nil {
		return r, err
	}
	if c.Body != "" {
		if r.body, err = parseTemplate("body", c.Body, env); err != nil {
			return r, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if r.headers[name], err = parseTemplate("headers: "+name, c.Headers[name], env); err != nil {
			return r, err
		}
	}
	return r, nil
}

// make fills the templates in.
func (r request) make(ctx context.Context, data any) (*http.Request, error) {
	address, err := render(r.url, data)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	var body io.Reader
	if r.body != nil {
		text, err := renderJSON(r.body, data)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("method: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	for name, t := range r.headers {
		value, err := render(t, data)
		if err != nil {
			return nil, err
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// checkAddress refuses what is no address of an HTTP server, and a password in
// one, which would reach results and errors.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return errors.New("url: want http://HOST/PATH or https://HOST/PATH")
	case u.User != nil:
		return errors.New("url: holds a user or password; send it in headers, as Authorization: Basic ${SEARCH_BASIC}")
	}
	return nil
}

// endpoint is a server that is asked over HTTP.
type endpoint struct {
	request
	env    environment
	name   string // the address without its query, for errors
	client *http.Client
}

// newEndpoint prepares a server; nothing is sent.
func newEndpoint(c RequestConfig, calls CallConfig, env environment) (*endpoint, error) {
	r, err := c.compile(env)
	if err != nil {
		return nil, wrong("%w", err)
	}
	address, _, _ := strings.Cut(c.URL, "?")
	retries := calls.Retries
	if retries == 0 {
		retries = -1 // httpretry's none
	}
	client := httpretry.NewClient(httpretry.Config{
		Timeout: calls.Timeout, Retries: retries, Connections: calls.Concurrency,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	return &endpoint{request: r, env: env, name: address, client: client}, nil
}

// call sends a request and reads the JSON of its answer. Errors name the
// endpoint and hold no secret.
func (e *endpoint) call(ctx context.Context, data any) (any, error) {
	answer, err := e.send(ctx, data)
	if err != nil {
		return nil, e.explain(ctx, err)
	}
	return answer, nil
}

// explain names the endpoint in an error and keeps secrets out of it.
func (e *endpoint) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case httpretry.TimedOut(err):
		return fmt.Errorf("%s: %w", e.name, errTimeout)
	case httpretry.DialFailed(err):
		return fmt.Errorf("%s: %w", e.name, downFor(err))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address, whose query may hold a secret
	}
	return fmt.Errorf("%s: %s", e.name, e.env.scrub(err.Error()))
}

func (e *endpoint) send(ctx context.Context, data any) (any, error) {
	req, err := e.make(ctx, data)
	if err != nil {
		return nil, err
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer broke off after %d bytes: %w", len(text), err)
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d MB", maxAnswer>>20)
	case resp.StatusCode/100 != 2:
		return nil, fmt.Errorf("status %d: %s", resp.StatusCode, e.env.excerpt(text))
	}
	v, err := parseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("status %d, but the answer%s is no JSON: %s: %w", resp.StatusCode, typeOf(resp), e.env.excerpt(text), err)
	}
	return v, nil
}

// typeOf says of which type an answer is that should have been JSON.
func typeOf(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind == "application/json" {
		return ""
	}
	return " (" + kind + ")"
}
