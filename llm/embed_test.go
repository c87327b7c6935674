package llm_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

func TestVectorsSurvive(t *testing.T) {
	cache := openCache(t, cachePath(t))
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(rapid.Float32(), 1, 20).Draw(rt, "vector")
		n++
		key := llm.EmbedRequest{Model: model, Texts: []string{strconv.Itoa(n)}}.Key(0)
		if err := cache.PutVector(key, model, want); err != nil {
			rt.Fatal(err)
		}
		if n%10 == 0 {
			cache.Flush()
		}
		got, ok, err := cache.Vector(t.Context(), key)
		if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
			rt.Fatalf("%v, %v\n%s", ok, err, diff)
		}
	})
}

func TestEmbeddingsAreCachedByText(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	defer server.Close()
	counter := &llm.Counter{}
	embedder := llm.CachedEmbedder(ollamaClient(t, server.URL, -1), openCache(t, cachePath(t)))
	embedder.Counter, embedder.Batch = counter, 2
	embed := func(prefix string, texts ...string) [][]float32 {
		t.Helper()
		v, err := embedder.Embed(t.Context(), llm.EmbedRequest{Model: llm.Model{Name: "fake-embed"}, Prefix: prefix, Texts: texts})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := embed("", "one", "two", "three")
	again := embed("", "three", "four", "one")
	if diff := cmp.Diff([][]float32{first[2], first[0]}, [][]float32{again[0], again[2]}); diff != "" {
		t.Error(diff)
	}
	embed("query: ", "one")
	var asked [][]string
	for _, r := range server.EmbedRequests() {
		asked = append(asked, r.Texts)
	}
	want := [][]string{{"one", "two"}, {"three"}, {"four"}, {"query: one"}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("texts asked for:\n%s", diff)
	}
	if got := counter.Calls().Cached; got != 2 {
		t.Errorf("%d texts counted as cached, want 2", got)
	}
}

// Texts that are too long do not waste the rest of their batch.
func TestLongTextsKeepTheBatch(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{EmbedLimit: 20})
	defer server.Close()
	embedder := llm.CachedEmbedder(ollamaClient(t, server.URL, -1), openCache(t, cachePath(t)))
	long := strings.Repeat("word ", 50)
	req := llm.EmbedRequest{Model: llm.Model{Name: "fake-embed"}, Texts: []string{"a", long, "b", "c", long + "x", "d"}}
	_, err := embedder.Embed(t.Context(), req)
	if diff := cmp.Diff([]int{1, 4}, llm.TooLong(err)); diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	calls := server.Calls()
	if _, err := embedder.Embed(t.Context(), llm.EmbedRequest{Model: req.Model, Texts: []string{"a", "b", "c", "d"}}); err != nil || server.Calls() != calls {
		t.Errorf("%v, %d further calls: the others were not kept", err, server.Calls()-calls)
	}
}
