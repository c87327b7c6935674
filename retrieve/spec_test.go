package retrieve_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// bm25 is a configured retriever that is not as by default.
func bm25(change func(*retrieve.BM25Config)) retrieve.Spec {
	c := retrieve.DefaultBM25()
	change(&c)
	return retrieve.Spec{Kind: "bm25", Config: &c}
}

// hybrid is a configured hybrid of members.
func hybrid(weights []float64, members ...string) retrieve.Spec {
	c := retrieve.DefaultHybrid()
	c.Members, c.Weights = members, weights
	return retrieve.Spec{Kind: "hybrid", Config: &c}
}

func TestParseSpec(t *testing.T) {
	configured := map[string]retrieve.Spec{"mine": bm25(func(c *retrieve.BM25Config) { c.K1 = 1.2 })}
	for text, want := range map[string]retrieve.Spec{
		"bm25":        {Name: "bm25", Kind: "bm25", Config: &retrieve.BM25Config{K1: 0.9, B: 0.4, Headings: true}},
		"hybrid":      {Name: "hybrid", Kind: "hybrid", Config: &retrieve.HybridConfig{RRF: 60, Depth: 100}},
		"run:a:b.txt": {Name: "run:a:b.txt", Kind: "run", Config: &retrieve.RunConfig{File: "a:b.txt"}},
		"exec:python3 s.py --x": {Name: "exec:python3 s.py --x", Kind: "exec",
			Config: &retrieve.ExecConfig{Command: "python3 s.py --x", Timeout: time.Minute}},
		"mine": {Name: "mine", Kind: "bm25", Config: &retrieve.BM25Config{K1: 1.2, B: 0.4, Headings: true}},
	} {
		got, err := retrieve.ParseSpec(text, configured)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestParseSpecErrors(t *testing.T) {
	configured := map[string]retrieve.Spec{
		"steep":  bm25(func(c *retrieve.BM25Config) { c.B = 1.5 }),
		"uneven": hybrid([]float64{1}, "bm25", "ngram"),
	}
	for text, want := range map[string]string{
		"bm42":   `retriever "bm42": unknown; valid are bm25, ngram, lsa, dense, hybrid, run:FILE, exec:COMMAND, http:URL, qdrant:URL, pgvector:DSN, mcp:COMMAND, mcp:URL, steep, uneven`,
		"run":    "retriever run: nothing after run:, expected run:FILE",
		"run:":   "retriever run:: nothing after run:, expected run:FILE",
		"exec: ": "retriever exec: : nothing after exec:, expected exec:COMMAND",
		"bm25:x": "retriever bm25:x: bm25 takes no argument",
		"steep":  "retriever steep: b: 1.5 is not within 0 to 1",
		"uneven": "retriever uneven: weights: 1 for 2 members",
	} {
		_, err := retrieve.ParseSpec(text, configured)
		if err == nil || err.Error() != want || !errors.Is(err, retrieve.ErrSpec) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestSpecFromYAML(t *testing.T) {
	var got map[string]retrieve.Spec
	text := "mine: {kind: bm25, k1: 1.2, headings: false}\nours: {kind: exec, arg: ./search, timeout: 5s}\nboth: {kind: hybrid, members: [bm25, dense], weights: [2, 1], rrf: 10, depth: 50}\n"
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]map[string]string{
		"mine": {"k1": "1.2", "b": "0.4", "headings": "false", "analysis": retrieve.AnalysisVersion},
		"ours": {"command": "./search", "timeout": "5s"},
		"both": {
			"rrf": "10", "depth": "50",
			"member.bm25.kind": "bm25", "member.bm25.weight": "2", "member.bm25.k1": "0.9", "member.bm25.b": "0.4",
			"member.bm25.headings": "true", "member.bm25.analysis": retrieve.AnalysisVersion,
			"member.dense.kind": "dense", "member.dense.weight": "1", "member.dense.similarity": "cosine",
		},
	} {
		spec, err := retrieve.ParseSpec(name, got)
		if err != nil {
			t.Fatal(err)
		}
		d, err := spec.Describe(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, d.Settings); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Names and spelled-out defaults make no other retriever; a parameter does.
func TestDescriptions(t *testing.T) {
	describe := func(s retrieve.Spec) retrieve.Description {
		d, err := s.Describe(nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a := describe(retrieve.Spec{Name: "a", Kind: "bm25"})
	same := describe(retrieve.Spec{Name: "b", Kind: "bm25", Config: &retrieve.BM25Config{K1: 0.9, B: 0.4, Headings: true}})
	other := describe(retrieve.Spec{Name: "c", Kind: "bm25", Config: &retrieve.BM25Config{K1: 1.2, B: 0.4}})
	ngram := describe(retrieve.Spec{Name: "d", Kind: "ngram"})
	if a.Digest() != same.Digest() || a.Digest() == other.Digest() || a.Digest() == ngram.Digest() {
		t.Errorf("digests %s, %s, %s, %s", a.Digest(), same.Digest(), other.Digest(), ngram.Digest())
	}
	if diff := cmp.Diff([]string{"headings", "k1"}, a.Differs(other)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"kind", "n"}, a.Differs(ngram)); diff != "" {
		t.Error(diff)
	}
	if got := a.Differs(same); len(got) != 0 {
		t.Errorf("differs in %v", got)
	}
}

func TestBuildErrors(t *testing.T) {
	chunks := testCorpus(t)
	configured := map[string]retrieve.Spec{
		"loop":  hybrid(nil, "bm25", "loop"),
		"one":   hybrid(nil, "bm25"),
		"twice": hybrid(nil, "bm25", "bm25"),
		"zero":  hybrid([]float64{1, 0}, "bm25", "ngram"),
		"odd":   hybrid(nil, "bm25", "bm42"),
	}
	for text, want := range map[string]string{
		"dense":        "retriever dense: dense: needs the chunks' vectors and an embedder for queries",
		"exec:true":    `retriever exec:true: would start "true", which was not allowed`,
		"run:none.txt": "retriever run:none.txt: run: open ",
		"loop":         "retriever loop: members are nested over 8 deep, or contain themselves",
		"one":          "retriever one: hybrid: has 1 members, needs at least 2",
		"twice":        "retriever twice: hybrid: member bm25 is named twice",
		"zero":         "retriever zero: hybrid: member ngram: weight 0 is not above 0",
		"odd":          `odd: retriever "bm42": unknown; valid are bm25, `,
	} {
		spec, err := retrieve.ParseSpec(text, configured)
		if err != nil {
			t.Fatal(err)
		}
		_, err = retrieve.Build(t.Context(), spec, retrieve.Deps{Chunks: retrievetest.Stream(chunks), Dir: t.TempDir(), Configured: configured})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestBuilderShares(t *testing.T) {
	reads := 0
	chunks := func(yield func(chunk, error) bool) {
		reads++
		yield(chunk{ID: "a", Text: "kiln"}, nil)
	}
	b := retrieve.NewBuilder(retrieve.Deps{Chunks: chunks, Configured: map[string]retrieve.Spec{
		"again": bm25(func(c *retrieve.BM25Config) { c.B = 0.4 }),
	}})
	both := hybrid(nil, "again", "ngram")
	both.Name = "both"
	for _, spec := range []retrieve.Spec{{Name: "bm25", Kind: "bm25"}, both} {
		if _, err := b.Build(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	if reads != 2 {
		t.Errorf("chunks were read %d times, want 2: bm25 and ngram", reads)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestBuildCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("interrupted")
	cancel(stop)
	_, err := retrieve.Build(ctx, retrieve.Spec{Name: "bm25", Kind: "bm25"}, retrieve.Deps{Chunks: retrievetest.Stream(testCorpus(t))})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// lookup is a snapshot of documents and their chunks.
type lookup map[string][]string

func (l lookup) ChunksOf(doc string) []string { return l[doc] }
func (l lookup) HasChunk(id string) bool {
	for _, chunks := range l {
		for _, c := range chunks {
			if c == id {
				return true
			}
		}
	}
	return false
}

func TestSettle(t *testing.T) {
	snapshot := lookup{"one": {"one#0"}, "two": {"two#0", "two#1"}}
	for name, tc := range map[string]struct{ hit, want retrieve.Hit }{
		"a known chunk with its span":       {retrieve.Hit{ChunkID: "two#1", DocID: "two", Start: 3, End: 9, Score: 2}, retrieve.Hit{ChunkID: "two#1", Score: 2}},
		"its own id with a span":            {retrieve.Hit{ChunkID: "0f3a", DocID: "two", Start: 3, End: 9, Score: 2}, retrieve.Hit{DocID: "two", Start: 3, End: 9, Score: 2}},
		"its own id with a document of one": {retrieve.Hit{ChunkID: "0f3a", DocID: "one", Score: 2}, retrieve.Hit{DocID: "one", Score: 2}},
		"its own id with a document of two": {retrieve.Hit{ChunkID: "0f3a", DocID: "two"}, retrieve.Hit{ChunkID: "0f3a"}},
		"its own id alone":                  {retrieve.Hit{ChunkID: "0f3a", Score: 2}, retrieve.Hit{ChunkID: "0f3a", Score: 2}},
		"a span":                            {retrieve.Hit{DocID: "two", Start: 3, End: 9}, retrieve.Hit{DocID: "two", Start: 3, End: 9}},
		"a document":                        {retrieve.Hit{DocID: "two"}, retrieve.Hit{DocID: "two"}},
	} {
		if diff := cmp.Diff(tc.want, retrieve.Settle(tc.hit, snapshot)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestResolve(t *testing.T) {
	snapshot := lookup{"one": {"one#0"}, "two": {"two#0", "two#1"}}
	for name, tc := range map[string]struct {
		hit, want retrieve.Hit
		err       string
	}{
		"a chunk":                   {hit: retrieve.Hit{ChunkID: "two#1", Score: 2}, want: retrieve.Hit{ChunkID: "two#1", Score: 2}},
		"a document of one chunk":   {hit: retrieve.Hit{DocID: "one", Score: 2}, want: retrieve.Hit{ChunkID: "one#0", Score: 2}},
		"its id as a chunk's":       {hit: retrieve.Hit{ChunkID: "one"}, want: retrieve.Hit{ChunkID: "one#0"}},
		"a span":                    {hit: retrieve.Hit{DocID: "two", Start: 3, End: 9}, want: retrieve.Hit{DocID: "two", Start: 3, End: 9}},
		"a document of two chunks":  {hit: retrieve.Hit{DocID: "two"}, err: "hit two: document has 2 chunks, so a hit must name one"},
		"an unknown chunk":          {hit: retrieve.Hit{ChunkID: "two#9"}, err: "hit two#9: no such chunk or document in the snapshot"},
		"a span of an unknown text": {hit: retrieve.Hit{DocID: "six", Start: 3, End: 9}, err: "hit six: no such chunk or document in the snapshot"},
	} {
		got, err := retrieve.Resolve(tc.hit, snapshot)
		if tc.err != "" {
			if err == nil || err.Error() != tc.err {
				t.Errorf("%s: got %v, want %s", name, err, tc.err)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %s %v", name, diff, err)
		}
	}
}
