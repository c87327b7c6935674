package retrieve_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

func lsa(t testing.TB, chunks []corpus.Chunk, change func(*retrieve.LSAConfig)) *retrieve.LSA {
	t.Helper()
	c := retrieve.DefaultLSA()
	if change != nil {
		change(&c)
	}
	r, err := retrieve.NewLSA(stream(chunks), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLSAConformance(t *testing.T) {
	chunks := testCorpus(t)
	for name, change := range map[string]func(*retrieve.LSAConfig){
		"default": nil,
		"reduced": func(c *retrieve.LSAConfig) { c.Rank = 8 },
	} {
		t.Run(name, func(t *testing.T) { retrievetest.TestRetriever(t, lsa(t, chunks, change), chunks) })
	}
}

func TestLSAIsAKind(t *testing.T) {
	spec, err := retrieve.ParseSpec("lsa", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := retrieve.Build(t.Context(), spec, retrieve.Deps{Chunks: stream(testCorpus(t))})
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "bisque firing degrees an hour", K: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Hits) != 1 || !strings.HasPrefix(result.Hits[0].ChunkID, "kiln/firing.md") {
		t.Errorf("best is %+v, want a chunk of kiln/firing.md", result.Hits)
	}
}

// TestLSAFindsWithoutASharedWord: car and automobile never stand in one chunk,
// but beside the same words.
func TestLSAFindsWithoutASharedWord(t *testing.T) {
	var chunks []corpus.Chunk
	add := func(text string) {
		id := fmt.Sprintf("c%d", len(chunks))
		chunks = append(chunks, corpus.Chunk{ID: id, DocID: id, Text: text})
	}
	for _, word := range []string{"car", "automobile"} {
		add(word + " engine wheel brake")
		add(word + " brake motor road")
		add(word + " wheel motor engine")
	}
	add("apple pear plum orchard")
	add("pear plum cherry orchard")
	add("cherry apple orchard harvest")
	r := lsa(t, chunks, func(c *retrieve.LSAConfig) { c.Rank = 2 })
	result, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "car", K: 9})
	if err != nil {
		t.Fatal(err)
	}
	for i, hit := range result.Hits {
		if orchard := hit.ChunkID >= "c6"; orchard != (i >= 6) {
			t.Errorf("hit %d is %+v: all six about cars come first", i+1, hit)
		}
	}
}

func TestLSAIsTheSameForAnyNumberOfThreads(t *testing.T) {
	chunks := randomChunks(600)
	ask := func(threads int) []retrieve.Hit {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		r := lsa(t, chunks, func(c *retrieve.LSAConfig) { c.Rank, c.Sample = 50, 400 })
		result, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "w1 w2 w30 w300", K: 600})
		if err != nil {
			t.Fatal(err)
		}
		return result.Hits
	}
	if diff := cmp.Diff(ask(1), ask(4)); diff != "" {
		t.Error(diff)
	}
}

// randomChunks have words w0, w1, ... by Zipf's law.
func randomChunks(n int) []corpus.Chunk {
	rng := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(rng, 1.1, 8, 60_000)
	chunks := make([]corpus.Chunk, n)
	for i := range chunks {
		var text strings.Builder
		for range 80 {
			fmt.Fprintf(&text, "w%d ", words.Uint64())
		}
		id := fmt.Sprintf("c%06d", i)
		chunks[i] = corpus.Chunk{ID: id, DocID: id, Text: text.String()}
	}
	return chunks
}

func TestLSAOfDegenerateCorpora(t *testing.T) {
	for name, texts := range map[string][]string{
		"none": nil, "empty texts": {"", " "}, "stop words": {"the of and"},
		"one": {"kiln"}, "all the same": {"kiln room", "kiln room", "kiln room"},
	} {
		t.Run(name, func(t *testing.T) {
			var chunks []corpus.Chunk
			for i, text := range texts {
				chunks = append(chunks, corpus.Chunk{ID: fmt.Sprint(i), DocID: "d", Text: text})
			}
			result, err := lsa(t, chunks, nil).Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 5})
			if err != nil {
				t.Fatal(err)
			}
			var want []retrieve.Hit
			for i, text := range texts {
				if strings.Contains(text, "kiln") {
					want = append(want, retrieve.Hit{ChunkID: fmt.Sprint(i), Score: 1})
				}
			}
			if diff := cmp.Diff(want, append([]retrieve.Hit(nil), result.Hits...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLSARefusesConfigurations(t *testing.T) {
	for want, c := range map[string]retrieve.LSAConfig{
		"lsa: rank: 0 is not within 1 to 1000":      {Sample: 1},
		"lsa: rank: 2000 is not within 1 to 1000":   {Rank: 2000, Sample: 1},
		"lsa: sample: 0 is not within 1 to 1000000": {Rank: 2},
	} {
		if _, err := retrieve.NewLSA(stream(nil), c); err == nil || err.Error() != want || !errors.Is(err, retrieve.ErrSpec) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// collection reads one of the shared collections as chunks, queries and qrels.
func collection(t testing.TB, name string) ([]corpus.Chunk, []retrieve.Query, map[string]map[string]bool) {
	c, err := collections.Load("../../shared/data", name)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skipf("shared test data is not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	chunks := make([]corpus.Chunk, len(c.Documents))
	for i, d := range c.Documents {
		chunks[i] = corpus.Chunk{ID: d.ID, DocID: d.ID, Text: d.Text, Unit: corpus.UnitDocument}
	}
	var queries []retrieve.Query
	qrels := map[string]map[string]bool{}
	for _, q := range c.Queries {
		queries = append(queries, retrieve.Query{ID: q.ID, Text: q.Text, K: 1000})
		qrels[q.ID] = map[string]bool{}
		for id, grade := range c.Qrels[q.ID] {
			if grade > 0 {
				qrels[q.ID][id] = true
			}
		}
	}
	return chunks, queries, qrels
}

// TestLSAFoldsIn: chunks that the space was not fitted on are found by the words
// of those that it was.
func TestLSAFoldsIn(t *testing.T) {
	chunks := randomChunks(400)
	all := lsa(t, chunks, func(c *retrieve.LSAConfig) { c.Rank, c.Sample = 20, 100 })
	for _, c := range chunks[:20] {
		result, err := all.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: c.Text, K: 1})
		if err != nil {
			t.Fatal(err)
		}
		if want := []retrieve.Hit{{ChunkID: c.ID, Score: 1}}; cmp.Diff(want, result.Hits) != "" {
			t.Errorf("asked with the text of %s: %+v", c.ID, result.Hits)
		}
	}
}

// TestLSAOnCollections holds the mean average precision of docs/trust.md, less
// what another machine may round.
func TestLSAOnCollections(t *testing.T) {
	for name, least := range map[string]float64{"cranfield": 0.34, "cacm": 0.18, "cisi": 0.23} {
		t.Run(name, func(t *testing.T) {
			chunks, queries, qrels := collection(t, name)
			got := meanAveragePrecision(t, lsa(t, chunks, nil), queries, qrels)
			t.Logf("MAP %.4f", got)
			if got < least {
				t.Errorf("MAP %.4f, want at least %.2f", got, least)
			}
		})
	}
}

func BenchmarkLSABuild100k(b *testing.B) {
	chunks := randomChunks(100_000)
	b.ReportAllocs()
	for b.Loop() {
		lsa(b, chunks, nil)
	}
}

func BenchmarkLSAQuery100k(b *testing.B) {
	r := lsa(b, randomChunks(100_000), nil)
	benchmarkQueries(b, r, []retrieve.Query{{ID: "q", Text: "w1 w20 w300 w4000", K: 10}})
}
