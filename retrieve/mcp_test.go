//go:build unix

package retrieve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// mcpMode makes this test binary an MCP server over its standard streams.
const mcpMode = "mcp"

// mcpTools is a server with the tools search (BM25 over the test corpus,
// structured), recall (the same as JSON text) and say (the query as text).
func mcpTools() (*mcp.Server, error) {
	chunks, err := retrievetest.Corpus()
	if err != nil {
		return nil, err
	}
	r, err := retrieve.NewBM25(retrievetest.Stream(chunks), retrieve.DefaultBM25())
	if err != nil {
		return nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "memory", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "search"}, func(ctx context.Context, _ *mcp.CallToolRequest, q retrieve.Query) (*mcp.CallToolResult, any, error) {
		found, err := r.Retrieve(ctx, q)
		return nil, map[string]any{"hits": found.Hits}, err
	})
	mcp.AddTool(s, &mcp.Tool{Name: "recall"}, recall(r))
	mcp.AddTool(s, &mcp.Tool{Name: "say"}, func(ctx context.Context, _ *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
		switch in.Query {
		case "exit":
			fmt.Fprintln(os.Stderr, "memory is gone")
			os.Exit(3)
		case "silent":
			<-ctx.Done()
		case "fail":
			return nil, nil, errors.New("no such memory")
		}
		return text(in.Query), nil, nil
	})
	return s, nil
}

type question struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func recall(r retrieve.Retriever) mcp.ToolHandlerFor[question, any] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
		found, err := r.Retrieve(ctx, retrieve.Query{ID: "x", Text: in.Query, K: in.Limit})
		if err != nil {
			return nil, nil, err
		}
		var records []map[string]any
		for _, h := range found.Hits {
			records = append(records, map[string]any{"record": map[string]any{"id": h.ChunkID}, "similarity": h.Score})
		}
		answer, err := json.Marshal(map[string]any{"records": records})
		return text(string(answer)), nil, err
	}
}

func serveMCP() error {
	s, err := mcpTools()
	if err != nil {
		return err
	}
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// mcpServer starts the server over HTTP; every request must carry the token.
func mcpServer(t *testing.T, token string) string {
	t.Helper()
	s, err := mcpTools()
	if err != nil {
		t.Fatal(err)
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != token {
			http.Error(w, "not "+req.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const allArguments = `arguments: '{"id": {{json .ID}}, "query": {{json .Query}}, "k": {{.K}}, "scope": {{json .Scope}}, "filters": {{json .Filters}}{{with .AsOf}}, "as_of": {{json .}}{{end}}}'`

// self is a command that starts this test binary.
func self(t *testing.T, mode string) string {
	t.Setenv(programMode, mode)
	return `'"` + os.Args[0] + `"'`
}

func TestMCPConformance(t *testing.T) {
	for name, where := range map[string]string{
		"HTTP":    "url: " + mcpServer(t, "Bearer s3cret") + `, headers: {Authorization: "Bearer ${TOKEN}"}`,
		"command": "command: " + self(t, mcpMode),
	} {
		t.Run(name, func(t *testing.T) {
			spec := configured(t, "{kind: mcp, "+where+", tool: search, "+allArguments+"}")
			r := build(t, spec, retrieve.Deps{AllowExec: true, Getenv: func(string) string { return "s3cret" }})
			retrievetest.TestRetriever(t, r, testCorpus(t))
		})
	}
}

// A tool of other arguments that answers with text is mapped both ways.
func TestMCPTextAnswer(t *testing.T) {
	spec := configured(t, "{kind: mcp, url: "+mcpServer(t, "")+`, tool: recall,
		arguments: '{"query": {{json .Query}}, "limit": {{.K}}}',
		answer: {hits: $.records, chunk_id: $.record.id, score: $.similarity}}`)
	got, err := build(t, spec, retrieve.Deps{}).Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "bisque firing", K: 2})
	if err != nil {
		t.Fatal(err)
	}
	want, err := newBM25(t).Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "bisque firing", K: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Hits, got.Hits); diff != "" || len(got.Hits) == 0 {
		t.Error(diff)
	}
}

// A bad answer fails its own query, and the next one is answered.
func TestMCPBadAnswers(t *testing.T) {
	spec := configured(t, "{kind: mcp, command: "+self(t, mcpMode)+`, tool: say, timeout: 2s, arguments: '{"query": {{json .Query}}}'}`)
	r := build(t, spec, retrieve.Deps{AllowExec: true})
	for query, want := range map[string]string{
		"Found nothing.":           `tool say: the answer is no JSON: "Found nothing.": invalid character 'F' looking for beginning of value`,
		"":                         `tool say: the answer is no JSON: "": unexpected EOF`,
		"fail":                     `tool say: the tool says: "no such memory"`,
		`{"memories": []}`:         `tool say: nothing at $.hits (answer.hits) in "{\"memories\":[]}"`,
		`{"id": "q9", "hits": []}`: `tool say: the answer is to query "q9" (answer.id $.id), not to this one`,
		`{"hits": [{"chunk_id": "a", "score": "NaN"}]}`: `tool say: hit 1: score "NaN": is no number`,
		"silent": `tool say: no answer in time (2s)`,
	} {
		_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: query, K: 1})
		if err == nil || err.Error() != "query q: "+want {
			t.Errorf("%q:\n got %v\nwant query q: %s", query, err, want)
		}
		if _, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: `{"hits": []}`, K: 1}); err != nil {
			t.Fatalf("after %q: %v", query, err)
		}
	}
	_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "exit", K: 1})
	if err == nil || !strings.HasPrefix(err.Error(), "query q: tool say: ") || !strings.HasSuffix(err.Error(), `; its standard error ends in "memory is gone"`) {
		t.Errorf("a server that ends: %v", err)
	}
}

// What cannot work is said before the first query.
func TestMCPErrors(t *testing.T) {
	address := mcpServer(t, "")
	closed := httptest.NewServer(nil)
	closed.Close()
	html := saying(t, 200, "text/html", "<html>Sign in")
	for text, want := range map[string]string{
		"{kind: mcp}": "command, url: want one of them",
		"{kind: mcp, url: " + address + ", arguments: '[1]'}":                                 "arguments: want a JSON object",
		"{kind: mcp, url: " + address + `, arguments: '{"q": "{{.Query}}"}'}`:                 "arguments: makes no JSON: ",
		"{kind: mcp, url: " + address + "}":                                                   `mcp: no tool ""; the server has recall, say, search`,
		"{kind: mcp, url: " + address + ", tool: find}":                                       `mcp: no tool "find"; the server has recall, say, search`,
		"{kind: mcp, url: " + address + ", tool: say}":                                        `mcp: tool say does not take these arguments: `,
		"{kind: mcp, url: " + address + `, headers: {X-Api-Key: abc}, tool: say}`:             "headers: X-Api-Key: a secret must come from the environment",
		"{kind: mcp, url: " + address + `, headers: {X-Api-Key: "${NONE}"}, tool: say}`:       "headers: X-Api-Key: environment variable NONE is not set",
		"{kind: mcp, url: " + closed.URL + "}":                                                "mcp: no server answers: connection refused",
		"{kind: mcp, url: " + html + "}":                                                      "mcp: ",
		"{kind: mcp, command: goldgen-none}":                                                  `mcp: `,
		"{kind: mcp, command: \"sh -c 'echo no index >&2; exit 3'\"}":                         "mcp: ",
		"{kind: mcp, url: " + mcpServer(t, "other") + `, headers: {Authorization: "${KEY}"}}`: "mcp: ",
	} {
		err := buildError(t, text, retrieve.Deps{AllowExec: true, Getenv: func(name string) string { return map[string]string{"KEY": "s3cret"}[name] }})
		if err == nil || !strings.HasPrefix(err.Error(), "retriever mine: "+want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s\n got %v\nwant retriever mine: %s", text, err, want)
		}
	}
	err := buildError(t, "{kind: mcp, command: true}", retrieve.Deps{})
	if want := `retriever mine: would start "true", which was not allowed`; err == nil || err.Error() != want || !errors.Is(err, retrieve.ErrSpec) {
		t.Errorf("got %v, want %s", err, want)
	}
}
