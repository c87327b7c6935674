package retrieve_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

func variantsOf(t testing.TB, deps retrieve.Deps, n int) []retrieve.Variant {
	t.Helper()
	all, err := retrieve.Variants(t.Context(), deps, n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func namesOf(all []retrieve.Variant) []string {
	var names []string
	for _, v := range all {
		names = append(names, v.Name)
	}
	return names
}

func withVectors(chunks []corpus.Chunk) retrieve.Deps {
	e := retrievetest.WordEmbedder{Dim: 96}
	return retrieve.Deps{Chunks: stream(chunks), Vectors: e.Vectors(chunks), Embedder: e}
}

func TestVariantsConform(t *testing.T) {
	chunks := testCorpus(t)
	for _, v := range variantsOf(t, withVectors(chunks), retrieve.VariantCount) {
		if slices.Contains([]string{"title-bm25", "title-lsa", "beginning-bm25", "half-the-query"}, v.Name) {
			continue // they leave out words that the suite asks for
		}
		t.Run(v.Name, func(t *testing.T) { retrievetest.TestRetriever(t, v.Retriever, chunks) })
	}
}

func TestVariantsAreNamedOnceAndAsManyAsAsked(t *testing.T) {
	chunks := testCorpus(t)
	for name, deps := range map[string]retrieve.Deps{"no vectors": {Chunks: stream(chunks)}, "vectors": withVectors(chunks)} {
		all := namesOf(variantsOf(t, deps, retrieve.VariantCount))
		distinct := slices.Compact(slices.Sorted(slices.Values(all)))
		if len(all) != retrieve.VariantCount || len(distinct) != len(all) {
			t.Errorf("%s: %d variants, %d names: %v", name, len(all), len(distinct), all)
		}
		if dense := slices.Contains(all, "dense"); dense != (name == "vectors") {
			t.Errorf("%s: dense is %v", name, dense)
		}
	}
	deps := retrieve.Deps{Chunks: stream(chunks)}
	if diff := cmp.Diff(namesOf(variantsOf(t, deps, 24))[:5], namesOf(variantsOf(t, deps, 5))); diff != "" {
		t.Errorf("five are not the first of all: %s", diff)
	}
}

func TestVariantsRefuseCounts(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 25} {
		if _, err := retrieve.Variants(t.Context(), retrieve.Deps{Chunks: stream(nil)}, n); !errors.Is(err, retrieve.ErrSpec) {
			t.Errorf("%d variants: %v", n, err)
		}
	}
}

func TestVariantsReportABrokenStream(t *testing.T) {
	broken := func(yield func(corpus.Chunk, error) bool) { yield(corpus.Chunk{}, errBroken) }
	if _, err := retrieve.Variants(t.Context(), retrieve.Deps{Chunks: broken}, 24); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("the disk is gone")

// TestVariantsDiffer: on each collection the best variant is well above those
// that were made to be bad, as comparisons need both.
func TestVariantsDiffer(t *testing.T) {
	for _, name := range []string{"cranfield", "cacm", "cisi"} {
		t.Run(name, func(t *testing.T) {
			chunks, queries, qrels := collection(t, name)
			best, poor := 0.0, 0.0
			for _, v := range variantsOf(t, retrieve.Deps{Chunks: stream(chunks)}, retrieve.VariantCount) {
				m := meanAveragePrecision(t, v.Retriever, queries, qrels)
				t.Logf("%-28s %.4f", v.Name, m)
				best = max(best, m)
				if v.Poor {
					poor = max(poor, m)
				}
			}
			if best < 1.1*poor {
				t.Errorf("the best has %.4f, the best of the bad ones %.4f", best, poor)
			}
		})
	}
}
