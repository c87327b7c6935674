package retrieve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"mvdan.cc/sh/v3/shell"

	"github.com/goldgen/goldgen/internal/httpretry"
)

// MCPConfig says which tool of an MCP server is called: one that a command
// starts, which speaks over its standard input and output, or one at an address
// (streamable HTTP). Arguments is a template that makes the tool's arguments;
// Answer reads its structured content, or else the JSON of its text.
type MCPConfig struct {
	Command    string            `yaml:"command"`
	URL        string            `yaml:"url"`
	Headers    map[string]string `yaml:"headers"` // with URL; values may name ${VARIABLES}
	Tool       string            `yaml:"tool"`    // "": the server's only one
	Arguments  string            `yaml:"arguments"`
	Answer     AnswerPaths       `yaml:"answer"`
	CallConfig `yaml:",inline"`
	Dir        string `yaml:"-"` // of the command, "" the current one
}

// DefaultMCP calls a tool with query and k.
func DefaultMCP() MCPConfig {
	return MCPConfig{
		Arguments: `{"query": {{json .Query}}, "k": {{.K}}}`, Answer: DefaultAnswer(), CallConfig: DefaultCalls(),
	}
}

// Validate names the field that is wrong.
func (c MCPConfig) Validate() error {
	switch {
	case (c.Command == "") == (c.URL == ""):
		return errors.New("command, url: want one of them")
	case c.Command != "" && len(c.Headers) > 0:
		return errors.New("headers: a command takes none")
	}
	if c.URL != "" {
		if err := (RequestConfig{URL: c.URL, Headers: c.Headers}).validate(sampleQuery()); err != nil {
			return err
		}
	}
	if _, err := c.sampleArguments(); err != nil {
		return err
	}
	if err := c.Answer.Validate(); err != nil {
		return err
	}
	return c.CallConfig.Validate()
}

// sampleArguments are the arguments of a query that needs quoting.
func (c MCPConfig) sampleArguments() (map[string]any, error) {
	t, err := parseTemplate("arguments", c.Arguments, environment{})
	if err != nil {
		return nil, err
	}
	return makeArguments(t, sampleQuery())
}

func makeArguments(t *template.Template, data queryData) (map[string]any, error) {
	text, err := renderJSON(t, data)
	if err != nil {
		return nil, err
	}
	var arguments map[string]any
	if err := json.Unmarshal(text, &arguments); err != nil {
		return nil, errors.New("arguments: want a JSON object")
	}
	return arguments, nil
}

func (MCPConfig) argument() string { return "COMMAND, or mcp:URL" }

func (c *MCPConfig) take(arg string) error {
	if strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://") {
		c.URL = arg
		return nil
	}
	c.Command = arg
	return nil
}

func (c MCPConfig) command() string { return c.Command }

func (c MCPConfig) settings() map[string]string {
	s := map[string]string{"command": c.Command, "url": c.URL, "tool": c.Tool, "arguments": c.Arguments}
	for name, value := range c.Headers {
		s["header."+strings.ToLower(name)] = value
	}
	c.Answer.addTo(s)
	return s
}

func (c MCPConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	if c.Command != "" {
		if err := b.mayStart(c.Command); err != nil {
			return nil, err
		}
	}
	if usesVector(c.Arguments) {
		if err := b.checkEmbedder("", 0); err != nil {
			return nil, err
		}
	}
	c.Dir = b.deps.Dir
	env := newEnvironment(b.deps.Getenv)
	transport, end, err := c.transport(env)
	if err != nil {
		return nil, err
	}
	r, err := NewMCP(ctx, c, transport, b.deps.Embedder)
	if err != nil {
		end()
		return nil, fmt.Errorf("%w%s", scrubbed(env, err), complaintOf(transport))
	}
	r.env, r.end = env, end
	return r, nil
}

// transport is the way to the server; end makes sure that a command, with
// whatever it started, has ended.
func (c MCPConfig) transport(env environment) (t mcp.Transport, end func(), err error) {
	if c.Command != "" {
		return c.commandTransport()
	}
	headers := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		value, err := parseTemplate("headers: "+name, c.Headers[name], env)
		if err == nil {
			headers[name], err = render(value, sampleQuery())
		}
		if err != nil {
			return nil, nil, wrong("%w", err)
		}
	}
	address, err := parseTemplate("url", c.URL, env)
	if err != nil {
		return nil, nil, wrong("%w", err)
	}
	endpoint, err := render(address, sampleQuery())
	if err != nil {
		return nil, nil, wrong("%w", err)
	}
	retries := c.Retries
	if retries == 0 {
		retries = -1 // httpretry's none
	}
	client := httpretry.NewClient(httpretry.Config{
		Timeout: max(c.Timeout, time.Second), Retries: retries, Connections: c.Concurrency,
		RoundTripper:  withHeaders{http.DefaultTransport, headers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	return &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}, func() {}, nil
}

// withHeaders sends headers with every request.
type withHeaders struct {
	next    http.RoundTripper
	headers map[string]string
}

func (w withHeaders) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	return w.next.RoundTrip(req)
}

func (c MCPConfig) commandTransport() (mcp.Transport, func(), error) {
	words, err := shell.Fields(c.Command, nil)
	if err == nil && len(words) == 0 {
		err = errors.New("no command")
	}
	if err != nil {
		return nil, nil, wrong("command: %q: %w", c.Command, err)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = c.Dir, &tail{}, drainDelay
	ownGroup(cmd)
	end := func() {
		if cmd.Process != nil {
			endGroup(cmd)
		}
	}
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: closeGrace}, end, nil
}

// complaintOf is the end of what a command wrote to standard error.
func complaintOf(t mcp.Transport) string {
	c, ok := t.(*mcp.CommandTransport)
	if !ok {
		return ""
	}
	kept, _ := c.Command.Stderr.(*tail)
	if text := strings.TrimSpace(string(kept.bytes())); text != "" {
		return fmt.Sprintf("; its standard error ends in %q", text)
	}
	return ""
}

// MCP calls a tool of an MCP server.
type MCP struct {
	*gate
	session   *mcp.ClientSession
	transport mcp.Transport
	env       environment
	end       func()
	tool      string
	arguments *template.Template
	reader    *answerReader
	embedder  QueryEmbedder
}

// NewMCP connects, and holds the arguments against the tool's schema: a server
// that is down, a tool that is missing and an argument that it does not take are
// said at once. The embedder may be nil where Arguments has no .Vector.
func NewMCP(ctx context.Context, c MCPConfig, transport mcp.Transport, embedder QueryEmbedder) (*MCP, error) {
	reader, err := c.Answer.compile()
	if err != nil {
		return nil, wrong("mcp: %w", err)
	}
	arguments, err := parseTemplate("arguments", c.Arguments, environment{})
	if err != nil {
		return nil, wrong("mcp: %w", err)
	}
	r := &MCP{gate: newGate(c.CallConfig), transport: transport, arguments: arguments, reader: reader, embedder: embedder, end: func() {}}
	client := mcp.NewClient(&mcp.Implementation{Name: "goldgen", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	err = r.within(ctx, func(limited context.Context) (err error) {
		// The connection outlives the deadline of the first answer.
		r.session, err = connectWithin(ctx, limited, client, transport)
		if err == nil {
			err = r.findTool(limited, c)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mcp: %w", downOr(err)), r.Close())
	}
	return r, nil
}

// connectWithin connects with a context that lives on, but gives up with the
// limited one.
func connectWithin(ctx, limited context.Context, client *mcp.Client, transport mcp.Transport) (*mcp.ClientSession, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(limited, func() { cancel(context.Cause(limited)) })
	defer stop()
	return client.Connect(ctx, transport, nil)
}

// downOr says of a server that could not be reached that it is down.
func downOr(err error) error {
	if httpretry.DialFailed(err) {
		return downFor(err)
	}
	return err
}

// findTool picks the tool and tries the arguments on its schema.
func (r *MCP) findTool(ctx context.Context, c MCPConfig) error {
	tools := map[string]*mcp.Tool{}
	for tool, err := range r.session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list of tools: %w", err)
		}
		tools[tool.Name] = tool
	}
	r.tool = c.Tool
	if r.tool == "" && len(tools) == 1 {
		r.tool = sortedKeys(tools)[0]
	}
	tool := tools[r.tool]
	if tool == nil {
		return wrong("no tool %q; the server has %s", r.tool, strings.Join(sortedKeys(tools), ", "))
	}
	sample, err := c.sampleArguments()
	if err != nil {
		return wrong("%w", err)
	}
	if err := fitsSchema(tool.InputSchema, sample); err != nil {
		return wrong("tool %s does not take these arguments: %w", r.tool, err)
	}
	return nil
}

// fitsSchema checks arguments against a tool's schema; one that is written in
// another draft is left to the server.
func fitsSchema(schema any, arguments map[string]any) error {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved.Validate(arguments)
}

// Close ends the session, and the command with whatever it started.
func (r *MCP) Close() error {
	if r.session != nil {
		_ = r.session.Close() // a command that is ended by force is no failure
	}
	r.end()
	return nil
}

// Retrieve implements Retriever. The order of the answer is the ranking.
func (r *MCP) Retrieve(ctx context.Context, q Query) (Result, error) {
	return r.ask(ctx, q, func(ctx context.Context) ([]Hit, error) {
		data := dataOf(q, func() ([]float32, error) { return embedQuery(ctx, r.embedder, q.Text) })
		arguments, err := makeArguments(r.arguments, data)
		if err != nil {
			return nil, err
		}
		var result *mcp.CallToolResult
		err = r.within(ctx, func(ctx context.Context) (err error) {
			result, err = r.session.CallTool(ctx, &mcp.CallToolParams{Name: r.tool, Arguments: arguments})
			return err
		})
		if err != nil {
			return nil, r.explain(ctx, err)
		}
		hits, err := r.read(q, result)
		if err != nil {
			return nil, r.explain(ctx, err)
		}
		return hits, nil
	})
}

// read takes hits out of a tool's structured content, or of its text.
func (r *MCP) read(q Query, result *mcp.CallToolResult) ([]Hit, error) {
	var texts []string
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	text := strings.Join(texts, "\n")
	if result.IsError {
		return nil, fmt.Errorf("the tool says: %s", excerpt([]byte(text)))
	}
	if result.StructuredContent != nil {
		structured, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return nil, err
		}
		text = string(structured)
	}
	answer, err := parseJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the answer is no JSON: %s: %w", excerpt([]byte(text)), err)
	}
	return r.reader.read(q, answer)
}

// explain names the tool in an error, and says what a command complained of.
func (r *MCP) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, errTimeout) {
		return fmt.Errorf("tool %s: %w", r.tool, errTimeout)
	}
	if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		_ = r.session.Close() // waits for the command's last words
		err = fmt.Errorf("the server has ended: %w%s", err, complaintOf(r.transport))
	}
	return fmt.Errorf("tool %s: %w", r.tool, scrubbed(r.env, downOr(err)))
}

// scrubbed is an error without secrets; one that has none stays as it is.
func scrubbed(env environment, err error) error {
	clean := env.scrub(err.Error())
	if clean == err.Error() {
		return err
	}
	if errors.Is(err, ErrSpec) {
		return wrong("%s", clean)
	}
	return errors.New(clean)
}
