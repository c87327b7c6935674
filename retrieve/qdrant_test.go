package retrieve_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/qdrant/go-client/qdrant"
	"go.yaml.in/yaml/v4"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// vectorsOf is the configuration of a collection with named dense vectors of one
// size, and sparse ones.
func vectorsOf(size uint64, d qdrant.Distance, dense []string, sparse ...string) *qdrant.CollectionConfig {
	params := &qdrant.CollectionParams{}
	one := &qdrant.VectorParams{Size: size, Distance: d}
	if slices.Equal(dense, []string{""}) {
		params.VectorsConfig = qdrant.NewVectorsConfig(one)
	} else {
		byName := map[string]*qdrant.VectorParams{}
		for _, name := range dense {
			byName[name] = one
		}
		params.VectorsConfig = qdrant.NewVectorsConfigMap(byName)
	}
	byName := map[string]*qdrant.SparseVectorParams{}
	for _, name := range sparse {
		byName[name] = &qdrant.SparseVectorParams{}
	}
	params.SparseVectorsConfig = qdrant.NewSparseVectorsConfig(byName)
	return &qdrant.CollectionConfig{Params: params}
}

// handbookPoints are the test corpus as docs/retrievers.md lays payloads out.
func handbookPoints(t *testing.T, vector string) ([]corpus.Chunk, []retrievetest.Point) {
	t.Helper()
	// Qdrant takes an empty list for a missing key, so no chunk has one.
	chunks := slices.DeleteFunc(testCorpus(t), func(c corpus.Chunk) bool {
		for _, values := range c.Scope {
			if len(values) == 0 {
				return true
			}
		}
		return false
	})
	var points []retrievetest.Point
	for i, c := range chunks {
		p := retrievetest.Point{ID: uint64(i + 1), Text: c.Text, Payload: payload(c), Dense: map[string][]float32{}}
		if c.Text != "" {
			v, err := words.EmbedQuery(t.Context(), c.Text)
			if err != nil {
				t.Fatal(err)
			}
			p.Dense[vector] = v
		}
		points = append(points, p)
	}
	return chunks, points
}

func payload(c corpus.Chunk) map[string]any {
	metadata, scope := map[string]any{}, map[string]any{}
	for k, v := range c.Metadata {
		metadata[k] = v
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			metadata[k] = n
		}
	}
	for k, values := range c.Scope {
		var list []any
		for _, v := range values {
			list = append(list, v)
		}
		scope[k] = list
	}
	p := map[string]any{
		"chunk_id": c.ID, "doc_id": c.DocID, "start": int64(c.Start), "end": int64(c.End),
		"category": c.Category, "language": c.Language, "metadata": metadata, "scope": scope,
	}
	if c.ValidFrom != nil {
		p["valid_from"] = c.ValidFrom.Format(time.RFC3339)
	}
	if c.ValidTo != nil {
		p["valid_to"] = c.ValidTo.Format(time.RFC3339)
	}
	return p
}

// A search finds what dense finds, under every scope, filter and date.
func TestQdrantIsDense(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	chunks, points := handbookPoints(t, "text")
	server.Create("handbook", vectorsOf(64, qdrant.Distance_Cosine, []string{"text"}), points...)
	r := build(t, configured(t, "{kind: qdrant, url: "+address+"/handbook, hnsw_ef: 64, scope: {team: scope.team, role: scope.role}}"), wordDeps(chunks))
	retrievetest.TestRetriever(t, r, chunks)
	sameAsDense(t, r, chunks)
}

// Sparse and hybrid searches are sent as Qdrant takes them, filters with every
// part.
func TestQdrantSparseAndHybrid(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	chunks, points := handbookPoints(t, "text")
	server.Create("handbook", vectorsOf(64, qdrant.Distance_Cosine, []string{"text", "title"}, "words"), points...)
	q := retrieve.Query{
		ID: "q", Text: "thermocouple terminals", K: 3, Scope: corpus.Scope{"team": {"north"}},
		Filters: []corpus.Filter{{Field: "category", Op: "eq", Values: []string{"manual"}}},
	}
	for search, config := range map[string]string{
		"sparse": "search: sparse, sparse: words",
		"hybrid": "search: hybrid, vector: text, sparse: words, depth: 20",
	} {
		r := build(t, configured(t, fmt.Sprintf("{kind: qdrant, url: %s, collection: handbook, %s}", address, config)), wordDeps(chunks))
		got, err := r.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", search, err)
		}
		if len(got.Hits) == 0 || got.Hits[0].ChunkID != "kiln/install.md#1" {
			t.Errorf("%s: %+v", search, got.Hits)
		}
	}
	sent := server.Requests()
	sparse, hybrid := sent[len(sent)-1], sent[len(sent)-2]
	if len(sparse.GetPrefetch()) > 0 {
		sparse, hybrid = hybrid, sparse
	}
	if d := sparse.GetQuery().GetNearest().GetDocument(); d.GetText() != q.Text || d.GetModel() != "qdrant/bm25" || sparse.GetUsing() != "words" {
		t.Errorf("sparse: %v", sparse)
	}
	if len(hybrid.GetPrefetch()) != 2 || hybrid.GetPrefetch()[0].GetLimit() != 20 {
		t.Fatalf("hybrid: %v", hybrid)
	}
	for i, f := range []*qdrant.Filter{hybrid.GetFilter(), hybrid.GetPrefetch()[0].GetFilter(), hybrid.GetPrefetch()[1].GetFilter()} {
		if len(f.GetMust()) != 2 {
			t.Errorf("hybrid: part %d is filtered by %v", i, f)
		}
	}
}

// What an approximate index misses is found by the exact search beside it.
func TestQdrantExact(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	server.Create("c", vectorsOf(2, qdrant.Distance_Cosine, []string{""}),
		retrievetest.Point{ID: 1, Dense: map[string][]float32{"": {1, 0}}, Payload: map[string]any{"chunk_id": "missed"}, Unindexed: true},
		retrievetest.Point{ID: 2, Dense: map[string][]float32{"": {1, 1}}, Payload: map[string]any{"chunk_id": "found"}})
	r := build(t, configured(t, "{kind: qdrant, url: "+address+"/c, hnsw_ef: 32}"), retrieve.Deps{Embedder: fixed{1, 0}})
	exact, ok := r.(retrieve.Approximate).Exact()
	if !ok {
		t.Fatal("no exact search")
	}
	q := retrieve.Query{ID: "q", Text: "x", K: 5}
	for name, tc := range map[string]struct {
		r    retrieve.Retriever
		want []string
	}{"index": {r, []string{"found"}}, "exact": {exact, []string{"missed", "found"}}} {
		got, err := tc.r.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, h := range got.Hits {
			ids = append(ids, h.ChunkID)
		}
		if diff := cmp.Diff(tc.want, ids); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if ef := server.Requests()[0].GetParams().GetHnswEf(); ef != 32 {
		t.Errorf("hnsw_ef %d was sent", ef)
	}
}

// Ids, spans and distances become hits.
func TestQdrantHits(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	for _, d := range []qdrant.Distance{qdrant.Distance_Euclid, qdrant.Distance_Dot} {
		server.Create(d.String(), vectorsOf(2, d, []string{""}),
			retrievetest.Point{ID: 7, Dense: map[string][]float32{"": {3, 0}}, Payload: map[string]any{
				"meta": map[string]any{"number": int64(9)}, "doc_id": "d", "start": int64(3), "end": int64(8),
			}})
	}
	for name, tc := range map[string]struct {
		config string
		want   retrieve.Hit
	}{
		"a distance":     {"url: " + address + "/Euclid, point_id: true", retrieve.Hit{ChunkID: "7", Score: -2}},
		"a dot product":  {"url: " + address + "/Dot, point_id: true", retrieve.Hit{ChunkID: "7", Score: 3}},
		"a nested id":    {"url: " + address + "/Dot, chunk_id: meta.number", retrieve.Hit{ChunkID: "9", Score: 3}},
		"a span instead": {"url: " + address + "/Dot, chunk_id: '', doc_id: doc_id, start: start, end: end", retrieve.Hit{DocID: "d", Start: 3, End: 8, Score: 3}},
	} {
		r := build(t, configured(t, "{kind: qdrant, "+tc.config+"}"), retrieve.Deps{Embedder: fixed{1, 0}})
		got, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 5})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]retrieve.Hit{tc.want}, got.Hits, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestQdrantBadPoints(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	for name, tc := range map[string]struct {
		point retrievetest.Point
		want  string
	}{
		"no id":   {retrievetest.Point{ID: 7, Dense: map[string][]float32{"": {1, 0}}}, "query q: hit 1: point 7: no payload chunk_id"},
		"no norm": {retrievetest.Point{ID: 7, Dense: map[string][]float32{"": {0, 0}}, Payload: map[string]any{"chunk_id": "a"}}, "query q: hit 1: point 7: score NaN is not finite"},
	} {
		server.Create("c", vectorsOf(2, qdrant.Distance_Cosine, []string{""}), tc.point)
		r := build(t, parse(t, "qdrant:"+address+"/c"), retrieve.Deps{Embedder: fixed{1, 0}})
		_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 5})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

// What cannot work is said before the first query.
func TestQdrantErrors(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	host := strings.TrimPrefix(address, "http://")
	server.Create("c", vectorsOf(64, qdrant.Distance_Cosine, []string{"a", "b"}, "s"))
	with := vectorsOf(64, qdrant.Distance_Cosine, []string{""})
	with.Metadata = qdrant.NewValueMap(map[string]any{"embedding_model": "minilm"})
	server.Create("of-minilm", with)
	server.Create("small", vectorsOf(3, qdrant.Distance_Cosine, []string{""}))
	for text, want := range map[string]string{
		"{kind: qdrant}":                                                       "url: empty",
		"{kind: qdrant, url: localhost}":                                       "url: want http://HOST:6334/COLLECTION, or https",
		"{kind: qdrant, url: 'http://h'}":                                      "collection: empty",
		"{kind: qdrant, url: 'http://me:pw@h/c'}":                              "url: holds a user or password; a key goes into api_key, as ${QDRANT_API_KEY}",
		"{kind: qdrant, url: 'http://h/c', api_key: abc}":                      "api_key: a secret must come from the environment, as in ${QDRANT_API_KEY}",
		"{kind: qdrant, url: 'http://h/c', api_key: '${NONE}'}":                "qdrant: api_key: environment variable NONE is not set",
		"{kind: qdrant, url: 'http://h/c', search: all}":                       `search: "all", valid are dense, sparse, hybrid`,
		"{kind: qdrant, url: 'http://h/c', search: hybrid}":                    "sparse, sparse_model: search hybrid needs both",
		"{kind: qdrant, url: " + address + "/none}":                            "qdrant " + host + "/none: notfound: \"Not found: Collection `none` doesn't exist!\"",
		"{kind: qdrant, url: " + address + "/c}":                               "qdrant " + host + `/c: no vector ""; there are a, b`,
		"{kind: qdrant, url: " + address + "/c, search: sparse, sparse: t}":    "qdrant " + host + "/c: no sparse vector t; there are s",
		"{kind: qdrant, url: " + address + "/small}":                           "its vectors have 3 dimensions, those of the configured embedding (words) have 64",
		"{kind: qdrant, url: " + address + "/of-minilm}":                       "its vectors are of model minilm, the configured embedding is words",
		"{kind: qdrant, url: " + address + "/c, vector: a, model: other}":      "its vectors are of model other, the configured embedding is words",
		"{kind: qdrant, url: " + address + "/c, vector: a, concurrency: 5000}": "concurrency: 5000 is not within 1 to 1024",
	} {
		err := buildError(t, text, wordDeps(nil))
		if err == nil || err.Error() != "retriever mine: "+want || !errors.Is(err, retrieve.ErrSpec) {
			t.Errorf("%s\n got %v\nwant retriever mine: %s", text, err, want)
		}
	}
}

func TestQdrantServerDown(t *testing.T) {
	err := buildError(t, "{kind: qdrant, url: 'http://127.0.0.1:6333/c'}", wordDeps(nil))
	if err == nil || !strings.HasPrefix(err.Error(), "retriever mine: qdrant 127.0.0.1:6333/c: no server answers: ") ||
		!strings.HasSuffix(err.Error(), "(6333 is Qdrant's HTTP port; goldgen asks the gRPC port, by default 6334)") {
		t.Errorf("got %v", err)
	}
}

// A server that stumbles is asked again; one that refuses is not, and its words
// are shown without the key.
func TestQdrantRetries(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	server.Create("c", vectorsOf(2, qdrant.Distance_Cosine, []string{""}))
	spec := configured(t, "{kind: qdrant, url: "+address+"/c, retries: 1, api_key: '${KEY}'}")
	r := build(t, spec, retrieve.Deps{Embedder: fixed{1, 0}, Getenv: func(string) string { return "s3cret" }})
	for name, tc := range map[string]struct {
		fail  []error
		want  string
		calls int
	}{
		"once":    {[]error{status.Error(codes.Unavailable, "starting")}, "", 2},
		"twice":   {[]error{status.Error(codes.ResourceExhausted, "busy"), status.Error(codes.ResourceExhausted, "busy")}, `resourceexhausted: "busy"`, 2},
		"refused": {[]error{status.Error(codes.PermissionDenied, "key s3cret may not")}, `permissiondenied: "key ${KEY} may not"`, 1},
	} {
		before := len(server.Requests())
		server.Fail(tc.fail...)
		_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 5})
		want := "query q: qdrant " + strings.TrimPrefix(address, "http://") + "/c: " + tc.want
		if (tc.want == "") != (err == nil) || (err != nil && err.Error() != want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
		if calls := len(server.Requests()) - before; calls != tc.calls {
			t.Errorf("%s: %d calls, want %d", name, calls, tc.calls)
		}
	}
}

// buildError is why a configured retriever cannot be built.
func buildError(t *testing.T, text string, deps retrieve.Deps) error {
	t.Helper()
	specs := map[string]retrieve.Spec{}
	if err := yaml.Unmarshal([]byte("mine: "+text), &specs); err != nil {
		return err
	}
	spec, err := retrieve.ParseSpec("mine", specs)
	if err != nil {
		return err
	}
	_, err = retrieve.Build(t.Context(), spec, deps)
	return err
}
