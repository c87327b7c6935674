package retrieve_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

var update = flag.Bool("update", false, "write the rankings under testdata anew")

func testCorpus(t testing.TB) []corpus.Chunk {
	t.Helper()
	chunks, err := retrievetest.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

// embedded builds every embedded retriever over chunks.
func embedded(t testing.TB, chunks []corpus.Chunk) map[string]retrieve.Retriever {
	t.Helper()
	e := retrievetest.WordEmbedder{Dim: 64}
	configured := map[string]retrieve.Spec{
		"plain":  bm25(func(c *retrieve.BM25Config) { c.Headings = false }),
		"fusion": hybrid([]float64{2, 1, 1}, "bm25", "ngram", "dense"),
	}
	b := retrieve.NewBuilder(retrieve.Deps{
		Chunks: retrievetest.Stream(chunks), Vectors: e.Vectors(chunks), Embedder: e, Configured: configured,
	})
	built := map[string]retrieve.Retriever{}
	for _, name := range []string{"bm25", "plain", "ngram", "dense", "hybrid", "fusion"} {
		spec, err := retrieve.ParseSpec(name, configured)
		if err != nil {
			t.Fatal(err)
		}
		if built[name], err = b.Build(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	return built
}

func TestConformance(t *testing.T) {
	chunks := testCorpus(t)
	for name, r := range embedded(t, chunks) {
		t.Run(name, func(t *testing.T) { retrievetest.TestRetriever(t, r, chunks) })
	}
}

// TestRankings compares what each retriever returns with the files under
// testdata: a change of ranking is a diff that can be read.
func TestRankings(t *testing.T) {
	queries, err := os.ReadFile("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range embedded(t, testCorpus(t)) {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for text := range strings.Lines(string(queries)) {
				writeRanking(t, &got, r, strings.TrimSpace(text))
			}
			compareWithFile(t, filepath.Join("testdata", name+".txt"), got.String())
		})
	}
}

func writeRanking(t *testing.T, w *strings.Builder, r retrieve.Retriever, text string) {
	result, err := r.Retrieve(t.Context(), retrieve.Query{ID: text, Text: text, K: 4, Scope: corpus.Scope{"team": {"north"}}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(w, "%s\n", text)
	for i, hit := range result.Hits {
		fmt.Fprintf(w, "  %d  %.6f  %s\n", i+1, hit.Score, hit.ChunkID)
	}
}

func compareWithFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
	}
}

// The order in which chunks are indexed decides nothing but which is read
// first.
func TestRankingsDoNotDependOnOrder(t *testing.T) {
	chunks := testCorpus(t)
	shuffled := append([]corpus.Chunk{}, chunks...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	others := embedded(t, shuffled)
	for name, r := range embedded(t, chunks) {
		for _, text := range []string{"kiln degrees", "the key", "firing", "kiln room glaze north"} {
			q := retrieve.Query{ID: text, Text: text, K: 20}
			want, err1 := r.Retrieve(t.Context(), q)
			got, err2 := others[name].Retrieve(t.Context(), q)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Hits, got.Hits); diff != "" {
				t.Errorf("%s %q: %s", name, text, diff)
			}
		}
	}
}

// Equal scores are ordered by id, whichever chunk came first.
func TestTiesByID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c#0-9]{1,4}`), 1, 12, rapid.ID).Draw(t, "ids")
		chunks := make([]corpus.Chunk, len(ids))
		for i, id := range ids {
			chunks[i] = corpus.Chunk{ID: id, DocID: "d", Text: "same words"}
		}
		r, err := retrieve.NewBM25(stream(chunks), retrieve.DefaultBM25())
		if err != nil {
			t.Fatal(err)
		}
		k := rapid.IntRange(1, 12).Draw(t, "k")
		result, err := r.Retrieve(context.Background(), retrieve.Query{ID: "q", Text: "words", K: k})
		if err != nil {
			t.Fatal(err)
		}
		if want := min(k, len(ids)); len(result.Hits) != want {
			t.Fatalf("%d hits, want %d", len(result.Hits), want)
		}
		below := 0
		for _, id := range ids {
			if id < result.Hits[len(result.Hits)-1].ChunkID {
				below++
			}
		}
		if below != len(result.Hits)-1 {
			t.Fatalf("the last hit is the %dth id, want the %dth", below+1, len(result.Hits))
		}
		for i := 1; i < len(result.Hits); i++ {
			if result.Hits[i].ChunkID < result.Hits[i-1].ChunkID {
				t.Fatalf("%v", result.Hits)
			}
		}
	})
}

// BM25 by hand: two chunks with the terms cat and dog; N 2, lengths 1 and 3,
// average 2. "cat" is in both: idf ln(1+.5/2.5) = .182322; the first has tf 1
// and norm .9*(.6+.4*.5) = .72, the second tf 2 and norm .9*(.6+.4*1.5) = 1.08.
func TestBM25ByHand(t *testing.T) {
	r, err := retrieve.NewBM25(stream([]corpus.Chunk{
		{ID: "a", Text: "Cat."}, {ID: "b", Text: "cats, the cat and a dog"}, {ID: "empty"},
	}), retrieve.DefaultBM25())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]retrieve.Hit{
		"cat":       {{ChunkID: "b", Score: 0.118391}, {ChunkID: "a", Score: 0.106001}},
		"cat cats":  {{ChunkID: "b", Score: 0.236781}, {ChunkID: "a", Score: 0.212002}},
		"the dog's": {{ChunkID: "b", Score: 0.333244}},
		"the":       {},
		"bird":      {},
	}
	for text, hits := range want {
		got, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: text, K: 9})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(hits, got.Hits); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if diff := cmp.Diff([]float64{0.118391, 0, 0}, r.Scores("cat", []string{"b", "empty", "none"})); diff != "" {
		t.Error(diff)
	}
	// In two chunks, in one, in none.
	if cat, dog, bird := r.IDF("cat"), r.IDF("dog"), r.IDF("bird"); cat >= dog || dog >= bird {
		t.Errorf("idf %v, %v, %v", cat, dog, bird)
	}
}

func TestHeadings(t *testing.T) {
	chunks := []corpus.Chunk{{ID: "a", Text: "Within thirty days.", HeadingPath: []string{"Orders", "Returns"}}}
	for headings, want := range map[bool]int{true: 1, false: 0} {
		config := retrieve.DefaultBM25()
		config.Headings = headings
		r, err := retrieve.NewBM25(stream(chunks), config)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "return", K: 1})
		if err != nil || len(got.Hits) != want {
			t.Errorf("headings %v: %v, %v", headings, got.Hits, err)
		}
	}
}

func TestIndexingErrors(t *testing.T) {
	twice := stream([]corpus.Chunk{{ID: "a"}, {ID: "a"}})
	broken := func(yield func(corpus.Chunk, error) bool) { yield(corpus.Chunk{}, errors.New("row 7: is damaged")) }
	vectors := func(vs ...corpus.Vector) retrieve.Vectors {
		return func(yield func(corpus.Vector, error) bool) {
			for _, v := range vs {
				if !yield(v, nil) {
					return
				}
			}
		}
	}
	dense := func(vs ...corpus.Vector) error {
		_, err := retrieve.NewDense(stream([]corpus.Chunk{{ID: "a"}, {ID: "b"}}), vectors(vs...), retrievetest.WordEmbedder{Dim: 2})
		return err
	}
	_, duplicate := retrieve.NewBM25(twice, retrieve.DefaultBM25())
	_, damaged := retrieve.NewNGram(broken, retrieve.DefaultNGram())
	_, k1 := retrieve.NewBM25(twice, retrieve.BM25Config{K1: -1})
	_, none := retrieve.NewDense(stream(nil), nil, nil)
	inf := float32(1e38)
	for want, err := range map[string]error{
		"bm25: chunk a: duplicate id":                                  duplicate,
		"ngram: row 7: is damaged":                                     damaged,
		"bm25: k1: -1 is not within 0 to 100":                          k1,
		"dense: needs the chunks' vectors and an embedder for queries": none,
		"dense: vector of chunk c: no such chunk":                      dense(corpus.Vector{ChunkID: "c", Values: []float32{1, 0}}),
		"dense: vector of chunk a: duplicate":                          dense(corpus.Vector{ChunkID: "a", Values: []float32{1, 0}}, corpus.Vector{ChunkID: "a", Values: []float32{1, 0}}),
		"dense: vector of chunk b: 3 dimensions where others have 2":   dense(corpus.Vector{ChunkID: "a", Values: []float32{1, 0}}, corpus.Vector{ChunkID: "b", Values: []float32{1, 0, 0}}),
		"dense: vector of chunk a: is zero":                            dense(corpus.Vector{ChunkID: "a", Values: []float32{0, 0}}),
		"dense: vector of chunk a: a component is not finite":          dense(corpus.Vector{ChunkID: "a", Values: []float32{inf * 10, 0}}),
		"dense: vector of chunk a: has no components":                  dense(corpus.Vector{ChunkID: "a"}),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestEmptyCorpus(t *testing.T) {
	for name, r := range embedded(t, nil) {
		got, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3, Filters: []corpus.Filter{{Field: "version", Op: "eq", Values: []string{"2"}}}})
		if err != nil || len(got.Hits) != 0 {
			t.Errorf("%s: %v, %v", name, got.Hits, err)
		}
	}
}

func randomVectors(n, dim int) []corpus.Vector {
	rnd := rand.New(rand.NewPCG(7, 7))
	vectors := make([]corpus.Vector, n)
	for i := range vectors {
		vectors[i] = corpus.Vector{ChunkID: fmt.Sprintf("doc%06d#0", i), Values: make([]float32, dim)}
		for j := range vectors[i].Values {
			vectors[i].Values[j] = float32(rnd.NormFloat64())
		}
	}
	return vectors
}

type fixedEmbedder []float32

func (e fixedEmbedder) EmbedQuery(context.Context, string) ([]float32, error) { return e, nil }

func buildDense(t testing.TB, vectors []corpus.Vector, query []float32) *retrieve.Dense {
	t.Helper()
	chunks := func(yield func(corpus.Chunk, error) bool) {
		for _, v := range vectors {
			if !yield(corpus.Chunk{ID: v.ChunkID, DocID: v.ChunkID}, nil) {
				return
			}
		}
	}
	given := func(yield func(corpus.Vector, error) bool) {
		for _, v := range vectors {
			if !yield(v, nil) {
				return
			}
		}
	}
	d, err := retrieve.NewDense(chunks, given, fixedEmbedder(query))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The cosine of two chunks is that of the one with the other's vector as a query.
func TestCosinesOfChunks(t *testing.T) {
	vectors := randomVectors(20, 5)
	d := buildDense(t, vectors, vectors[7].Values)
	ids := []string{vectors[7].ChunkID, vectors[3].ChunkID, vectors[11].ChunkID, "unknown"}
	want, err := d.Scores(t.Context(), "x", ids)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d.Cosines(ids[0], ids), cmpopts.EquateNaNs()); diff != "" || want[0] != 1 || !math.IsNaN(want[3]) {
		t.Errorf("of a vector %v, of chunks (-want +got):\n%s", want, diff)
	}
	nothing := []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if diff := cmp.Diff(nothing, d.Cosines("unknown", ids), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("of no chunk (-want +got):\n%s", diff)
	}
}

// Dense finds what a plain cosine in double precision finds.
func TestDenseIsExact(t *testing.T) {
	vectors := randomVectors(500, 37)
	query := vectors[123].Values
	d := buildDense(t, vectors, query)
	got, err := d.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 500})
	if err != nil {
		t.Fatal(err)
	}
	if got.Hits[0] != (retrieve.Hit{ChunkID: vectors[123].ChunkID, Score: 1}) {
		t.Errorf("the vector itself: %+v", got.Hits[0])
	}
	exact := map[string]float64{}
	for _, v := range vectors {
		exact[v.ChunkID] = cosine(v.Values, query)
	}
	for i, hit := range got.Hits {
		if d := hit.Score - exact[hit.ChunkID]; d > 2e-6 || d < -2e-6 {
			t.Errorf("hit %d: cosine %v, want %v", i+1, hit.Score, exact[hit.ChunkID])
		}
	}
}

func BenchmarkDense(b *testing.B) {
	vectors := randomVectors(100_000, 384)
	d := buildDense(b, vectors, vectors[5].Values)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Retrieve(b.Context(), retrieve.Query{ID: "q", Text: "x", K: 10}); err != nil {
			b.Fatal(err)
		}
	}
}
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}
