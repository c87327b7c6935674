package retrieve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v4"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// configured reads a retriever as goldgen.yaml has it.
func configured(t *testing.T, text string) retrieve.Spec {
	t.Helper()
	var all map[string]retrieve.Spec
	if err := yaml.Unmarshal([]byte("mine: "+text), &all); err != nil {
		t.Fatal(err)
	}
	spec, err := retrieve.ParseSpec("mine", all)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func build(t *testing.T, spec retrieve.Spec, deps retrieve.Deps) retrieve.Retriever {
	t.Helper()
	b := retrieve.NewBuilder(deps)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	r, err := b.Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// serving starts a server and returns its address.
func serving(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// saying is a server that always gives the same answer.
func saying(t *testing.T, status int, contentType, body string) string {
	return serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

func newBM25(t *testing.T) retrieve.Retriever {
	t.Helper()
	r, err := retrieve.NewBM25(retrievetest.Stream(testCorpus(t)), retrieve.DefaultBM25())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The defaults speak exec's protocol: a service over BM25 passes the suite.
func TestHTTPConformance(t *testing.T) {
	inner := newBM25(t)
	address := serving(t, func(w http.ResponseWriter, req *http.Request) {
		var q retrieve.Query
		if err := json.NewDecoder(req.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		json.NewEncoder(w).Encode(answerWith(inner, q))
	})
	retrievetest.TestRetriever(t, build(t, parse(t, "http:"+address), retrieve.Deps{}), testCorpus(t))
}

func answerWith(r retrieve.Retriever, q retrieve.Query) map[string]any {
	result, err := r.Retrieve(context.Background(), q)
	if err != nil {
		return map[string]any{"id": q.ID, "error": err.Error()}
	}
	return map[string]any{"id": q.ID, "hits": result.Hits}
}

func parse(t *testing.T, text string) retrieve.Spec {
	t.Helper()
	spec, err := retrieve.ParseSpec(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Templates make the request, paths read the answer: here Elasticsearch's.
func TestHTTPTemplatesAndPaths(t *testing.T) {
	var got struct{ line, tenant, auth, body string }
	address := serving(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		got.line, got.body = req.Method+" "+req.URL.String(), string(body)
		got.tenant, got.auth = req.Header.Get("X-Tenant"), req.Header.Get("Authorization")
		io.WriteString(w, `{"took": 3, "hits": {"total": {"value": 2}, "hits": [
			{"_id": "a", "_score": 12.5}, {"_id": 17, "_score": 3}]}}`)
	})
	spec := configured(t, `
  kind: http
  url: `+address+`/handbook/_search?routing={{join .Scope.team "," | urlquery}}
  headers: {X-Tenant: "{{.ID}}", Authorization: "Bearer ${SEARCH_TOKEN}"}
  body: '{"size": {{.K}}, "query": {"match": {"text": {{json .Query}}}}, "knn": {{json .Vector}}, "at": {{json .AsOf}}}'
  answer: {id: "", error: "", hits: "$.hits.hits[*]", chunk_id: $._id, score: $._score}
`)
	r := build(t, spec, retrieve.Deps{
		Embedder: fixed{0.5, 0.25}, Getenv: func(name string) string { return map[string]string{"SEARCH_TOKEN": "s3cret"}[name] },
	})
	at := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	result, err := r.Retrieve(t.Context(), retrieve.Query{
		ID: "q1", Text: `say "kiln" & <go>`, K: 7, Scope: corpus.Scope{"team": {"north east"}}, AsOf: &at,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]retrieve.Hit{{ChunkID: "a", Score: 12.5}, {ChunkID: "17", Score: 3}}, result.Hits); diff != "" {
		t.Error(diff)
	}
	want := struct{ line, tenant, auth, body string }{
		"POST /handbook/_search?routing=north+east", "q1", "Bearer s3cret",
		`{"size": 7, "query": {"match": {"text": "say \"kiln\" & <go>"}}, "knn": [0.5,0.25], "at": "2026-01-31T00:00:00Z"}`,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// fixed is an embedder whose vector is always itself.
type fixed []float32

func (f fixed) EmbedQuery(context.Context, string) ([]float32, error) { return f, nil }

func TestHTTPAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		answer, body string
		want         retrieve.Result
	}{
		"spans of documents": {
			"", `{"id": "q", "hits": [{"doc_id": "d", "start": 3, "end": 9, "score": 1.5}, {"doc_id": "e", "score": 1}]}`,
			retrieve.Result{Hits: []retrieve.Hit{{DocID: "d", Start: 3, End: 9, Score: 1.5}, {DocID: "e", Score: 1}}},
		},
		"chunks with their spans, usable or not": {
			"", `{"id": "q", "hits": [{"chunk_id": 7, "doc_id": "d", "start": 3, "end": 9, "score": 2}, {"chunk_id": "b", "doc_id": "d", "start": "?", "score": 1}]}`,
			retrieve.Result{Hits: []retrieve.Hit{{ChunkID: "7", DocID: "d", Start: 3, End: 9, Score: 2}, {ChunkID: "b", DocID: "d", Score: 1}}},
		},
		"bare ids in order": {
			"{hits: $, chunk_id: $, score: ''}", `["a", "b", "a", "c", "d"]`,
			retrieve.Result{
				Hits:    []retrieve.Hit{{ChunkID: "a", Score: 1}, {ChunkID: "b", Score: 0.5}, {ChunkID: "c", Score: 0.25}},
				Notices: retrieve.Notices{Duplicates: 1, Cut: 1},
			},
		},
		"distances": {
			"{score: $.distance, distance: true}", `{"hits": [{"chunk_id": "a", "distance": 0}, {"chunk_id": "b", "distance": 0.5}]}`,
			retrieve.Result{Hits: []retrieve.Hit{{ChunkID: "a"}, {ChunkID: "b", Score: -0.5}}},
		},
		"JSON as text within": {
			"{content: '$.choices[0].text'}", `{"choices": [{"text": "{\"hits\": [{\"chunk_id\": \"a\", \"score\": 2}]}"}]}`,
			retrieve.Result{Hits: []retrieve.Hit{{ChunkID: "a", Score: 2}}},
		},
		"a filter in the path": {
			`{hits: "$.hits[?@.type == 'chunk']"}`, `{"hits": [{"type": "ad", "chunk_id": "x", "score": 9}, {"type": "chunk", "chunk_id": "a", "score": 2}]}`,
			retrieve.Result{Hits: []retrieve.Hit{{ChunkID: "a", Score: 2}}},
		},
		"none": {"", `{"hits": [], "error": null}`, retrieve.Result{Hits: []retrieve.Hit{}}},
	} {
		t.Run(name, func(t *testing.T) {
			text := "{kind: http, url: " + saying(t, 200, "application/json", tc.body)
			if tc.answer != "" {
				text += ", answer: " + tc.answer
			}
			r := build(t, configured(t, text+"}"), retrieve.Deps{})
			got, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(retrieve.Result{}, "Took")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is no answer is an error that names query and server, never a ranking.
func TestHTTPBadAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		status     int
		kind, body string
		want       string
	}{
		"HTML with 200":   {200, "text/html; charset=utf-8", "<html><body>Sign in", `status 200, but the answer (text/html) is no JSON: "<html><body>Sign in": invalid character '<' looking for beginning of value`},
		"nothing":         {200, "application/json", "", `status 200, but the answer is no JSON: "": unexpected EOF`},
		"two values":      {200, "application/json", `{"hits":[]} {}`, `status 200, but the answer is no JSON: "{\"hits\":[]} {}": goes on after its JSON`},
		"cut off":         {200, "application/json", `{"hits":[{"chu`, `status 200, but the answer is no JSON: "{\"hits\":[{\"chu": unexpected EOF`},
		"a redirect":      {302, "text/html", "moved", `status 302: "moved"`},
		"404":             {404, "application/json", `{"detail":"no such index"}`, `status 404: "{\"detail\":\"no such index\"}"`},
		"a long error":    {400, "text/plain", strings.Repeat("é", 5000), `status 400: "` + strings.Repeat("é", 60) + `"...`},
		"a terminal code": {400, "text/plain", "\x1b[2J", `status 400: "\x1b[2J"`},
		"an error inside": {200, "application/json", `{"error": {"code": 7}}`, `the server says: "{\"code\":7}"`},
		"no hits":         {200, "application/json", `{"results": []}`, `nothing at $.hits (answer.hits) in "{\"results\":[]}"`},
		"hits no list":    {200, "application/json", `{"hits": 3}`, `no list at $.hits (answer.hits) but "3"`},
		"another query's": {200, "application/json", `{"id": "q7", "hits": []}`, `the answer is to query "q7" (answer.id $.id), not to this one`},
		"no score":        {200, "application/json", `{"hits": [{"chunk_id": "a"}]}`, `hit 1: no score at $.score in "{\"chunk_id\":\"a\"}"`},
		"NaN":             {200, "application/json", `{"hits": [{"chunk_id": "a", "score": "NaN"}]}`, `hit 1: score "NaN": is no number`},
		"infinity":        {200, "application/json", `{"hits": [{"chunk_id": "a", "score": 1e999}]}`, `hit 1: score "1e999": is not finite`},
		"no id":           {200, "application/json", `{"hits": [{"chunk_id": "a", "score": 1}, {"id": "b", "score": 1}]}`, `hit 2: no id at $.chunk_id or $.doc_id in "{\"id\":\"b\",\"score\":1}"`},
		"endless id":      {200, "application/json", `{"hits": [{"chunk_id": "` + strings.Repeat("x", 1<<17) + `", "score": 1}]}`, `hit 1: its id "` + strings.Repeat("x", 120) + `"... has more than 65536 bytes`},
		"no span":         {200, "application/json", `{"hits": [{"doc_id": "d", "start": 9, "end": 3, "score": 1}]}`, `hit 1: document d: [9, 3) is no span`},
		"no offset":       {200, "application/json", `{"hits": [{"doc_id": "d", "start": 1.5, "end": 3, "score": 1}]}`, `hit 1: document d: start "1.5": is no whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			address := saying(t, tc.status, tc.kind, tc.body) + "/search"
			r := build(t, configured(t, "{kind: http, url: "+address+"?key=1, retries: 0}"), retrieve.Deps{})
			_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3})
			if want := "query q: " + address + ": " + tc.want; err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

// A server that stumbles is asked again, one that refuses is not.
func TestHTTPRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		statuses []int
		retries  int
		want     string
		calls    int
	}{
		"busy, then well":   {[]int{503, 429, 200}, 2, "", 3},
		"busy for too long": {[]int{503, 503, 200}, 1, `status 503: ""`, 2},
		"no retries":        {[]int{503, 200}, 0, `status 503: ""`, 1},
		"a bad request":     {[]int{400, 200}, 2, `status 400: ""`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			address := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				status := tc.statuses[calls.Add(1)-1]
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(status)
				if status == 200 {
					io.WriteString(w, `{"hits": []}`)
				}
			})
			r := build(t, configured(t, fmt.Sprintf("{kind: http, url: %s, retries: %d}", address, tc.retries)), retrieve.Deps{})
			_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3})
			switch {
			case tc.want == "" && err != nil, tc.want != "" && (err == nil || err.Error() != "query q: "+address+": "+tc.want):
				t.Errorf("got %v, want %q", err, tc.want)
			case calls.Load() != int64(tc.calls):
				t.Errorf("%d calls, want %d", calls.Load(), tc.calls)
			}
		})
	}
}

// A server that never answers costs a few timeouts, not one for each query.
func TestHTTPNoAnswer(t *testing.T) {
	done := make(chan struct{})
	address := serving(t, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-done:
		}
	})
	t.Cleanup(func() { close(done) })
	r := build(t, configured(t, "{kind: http, url: "+address+", timeout: 20ms, concurrency: 1}"), retrieve.Deps{})
	want := "query q: " + address + ": no answer in time (20ms)"
	var err error
	for i := range 6 {
		_, err = r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3})
		if i < 5 && (err == nil || err.Error() != want) {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
	if want := "query q: not asked: 5 queries in a row went without an answer"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestHTTPServerDown(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	r := build(t, parse(t, s.URL), retrieve.Deps{})
	_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3})
	if want := "query q: " + s.URL + ": no server answers: connection refused"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestHTTPCancelled(t *testing.T) {
	asked := make(chan struct{})
	address := serving(t, func(_ http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body) // else the server does not see its client go
		close(asked)
		<-req.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("interrupted")
	go func() {
		<-asked
		cancel(stop)
	}()
	r := build(t, parse(t, address), retrieve.Deps{})
	if _, err := r.Retrieve(ctx, retrieve.Query{ID: "q", Text: "kiln", K: 3}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// No more queries are in flight than configured.
func TestHTTPConcurrency(t *testing.T) {
	var now, most atomic.Int64
	full := make(chan struct{})
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 3 {
			close(full)
		}
		<-full
		io.WriteString(w, `{"hits": []}`)
	})
	r := build(t, configured(t, "{kind: http, url: "+address+", concurrency: 3}"), retrieve.Deps{})
	if n := r.(interface{ Concurrency() int }).Concurrency(); n != 3 {
		t.Errorf("concurrency %d, want 3", n)
	}
	errs := make(chan error)
	for range 9 {
		go func() {
			_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3})
			errs <- err
		}()
	}
	for range 9 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if most.Load() > 3 {
		t.Errorf("%d queries at once, want at most 3", most.Load())
	}
}

// A secret is sent and stands nowhere else: not in the description, nor in the
// error of a server that shows it.
func TestHTTPSecrets(t *testing.T) {
	address := serving(t, func(w http.ResponseWriter, req *http.Request) {
		http.Error(w, "bad key "+req.Header.Get("X-Api-Key")+" and "+req.URL.RawQuery, http.StatusForbidden)
	})
	spec := configured(t, `{kind: http, url: "`+address+`/s?token=${TOKEN}", headers: {X-Api-Key: "${KEY}"}}`)
	r := build(t, spec, retrieve.Deps{Getenv: func(name string) string { return "value-of-" + strings.ToLower(name) }})
	_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3})
	if want := "query q: " + address + "/s: status 403: \"bad key ${KEY} and token=${TOKEN}\""; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	d, err := spec.Describe(nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Settings["header.x-api-key"] != "${KEY}" || d.Settings["url"] != address+"/s?token=${TOKEN}" {
		t.Errorf("%v", d.Settings)
	}
}

// However a server or an error writes a secret, in quotes, escaped or where the
// text is cut, it does not show; nor does one that begins with another.
func TestHTTPSecretsQuoted(t *testing.T) {
	secret := `ke"y\/+<> %s`
	address := serving(t, func(w http.ResponseWriter, req *http.Request) {
		key, status := req.Header.Get("X-Api-Key"), http.StatusForbidden
		var body string
		switch q := req.URL.Query().Get("q"); q {
		case "raw":
			body = key
		case "json":
			text, _ := json.Marshal(map[string]string{"error": key})
			body, status = string(text), http.StatusOK
		case "json text":
			text, _ := json.Marshal(map[string]string{"reason": key})
			body = string(text)
		case "address":
			body = "/?k=" + url.QueryEscape(key) + "&p=" + url.PathEscape(key)
		case "cut":
			body = strings.Repeat("x", 115) + key
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	spec := configured(t, `{kind: http, method: GET, url: "`+address+`/s?q={{urlquery .Query}}&t=${SHORT}", headers: {X-Api-Key: "${KEY}"}}`)
	r := build(t, spec, retrieve.Deps{Getenv: func(name string) string { return map[string]string{"SHORT": "ke", "KEY": secret}[name] }})
	for _, how := range []string{"raw", "json", "json text", "address", "cut"} {
		_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: how, K: 3})
		if err == nil || strings.Contains(err.Error(), "ke") || strings.Contains(err.Error(), "y\\") {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// What cannot work is said when the configuration is read, or before the first
// query.
func TestHTTPConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{kind: http}`:                          `retriever mine: url: empty`,
		`{kind: http, url: localhost/x}`:        `retriever mine: url: want http://HOST/PATH or https://HOST/PATH`,
		`{kind: http, url: "http://me:pw@h/x"}`: `retriever mine: url: holds a user or password; send it in headers, as Authorization: Basic ${SEARCH_BASIC}`,
		`{kind: http, url: "http://h", headers: {Authorization: Bearer abc}}`:          `retriever mine: headers: Authorization: a secret must come from the environment, as in ${SEARCH_TOKEN}`,
		`{kind: http, url: "http://h", body: '{"q": "{{.Query}}"}'}`:                   `retriever mine: body: makes no JSON: invalid character 'q' after object key:value pair (write text as {{json .Query}}, without quotes)`,
		`{kind: http, url: "http://h", body: '{"q": {{json .Text}}}'}`:                 `retriever mine: body: 1:13: executing "body" at <.Text>: can't evaluate field Text in type retrieve.queryData`,
		`{kind: http, url: "http://h", body: '{{'}`:                                    `retriever mine: body: 1: unclosed action`,
		`{kind: http, url: "http://h", method: "GE T"}`:                                `retriever mine: method: net/http: invalid method "GE T"`,
		`{kind: http, url: "http://h", answer: {hits: "hits["}}`:                       `retriever mine: answer.hits: "hits[": unexpected identifier at position 1`,
		`{kind: http, url: "http://h", answer: {hits: ""}}`:                            `retriever mine: answer.hits: empty`,
		`{kind: http, url: "http://h", timeout: 0s}`:                                   `retriever mine: timeout: 0s is not above 0`,
		`{kind: http, url: "http://h", concurrency: 0}`:                                `retriever mine: concurrency: 0 is not within 1 to 1024`,
		`{kind: http, url: "http://h", rate: -1}`:                                      `retriever mine: rate: -1 is not 0 or more`,
		`{kind: http, url: "http://h", headers: {X-A: "${A}"}}`:                        `retriever mine: headers: X-A: environment variable A is not set`,
		`{kind: http, url: "http://h", body: '{"v": {{json .Vector}}}'}`:               `retriever mine: needs the vectors of queries, and no embedding is configured`,
		`{kind: http, url: "http://h", method: GET, body: "", answer: {chunk_id: ""}}`: ``,
	} {
		err := buildError(t, text, retrieve.Deps{})
		switch {
		case want == "" && err == nil:
		case err == nil || err.Error() != want || !errors.Is(err, retrieve.ErrSpec):
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// The model that made a service's vectors is held against the embedder's.
func TestHTTPWrongModel(t *testing.T) {
	spec := configured(t, `{kind: http, url: "http://h", model: other, body: '{"v": {{json .Vector}}}'}`)
	_, err := retrieve.Build(t.Context(), spec, retrieve.Deps{Embedder: fixed{1}, Embedding: &corpus.Embedding{Model: "minilm:latest", Dimensions: 1}})
	if want := "retriever mine: its vectors are of model other, the configured embedding is minilm:latest"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Whatever a server says is an error, or a ranking that is one.
func FuzzHTTPAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"id": "q", "hits": [{"chunk_id": "a", "score": 1}, {"doc_id": "d", "start": 1, "end": 3, "score": 2}]}`,
		`{"hits": [{"chunk_id": 1e400, "score": -0}]}`, `[]`, `{"hits": {"0": 1}}`, `{"error": []}`, `{"hits": [null, 3, "a"]}`, "\xff{",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		r := build(t, parse(t, "http:"+saying(t, 200, "application/json", answer)), retrieve.Deps{})
		result, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 2})
		if err != nil {
			return
		}
		if len(result.Hits) > 2 {
			t.Errorf("%d hits for k 2", len(result.Hits))
		}
		for _, h := range result.Hits {
			if (h.ChunkID == "" && h.DocID == "") || math.IsNaN(h.Score) || math.IsInf(h.Score, 0) || h.End < h.Start {
				t.Errorf("%+v", h)
			}
		}
	})
}

// Retrievers that only differ in how they are asked are two.
func TestHTTPNotShared(t *testing.T) {
	b := retrieve.NewBuilder(retrieve.Deps{})
	for _, n := range []int{2, 7} {
		r, err := b.Build(t.Context(), configured(t, fmt.Sprintf("{kind: http, url: 'http://h', concurrency: %d}", n)))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.(interface{ Concurrency() int }).Concurrency(); got != n {
			t.Errorf("concurrency %d, want %d", got, n)
		}
	}
}
