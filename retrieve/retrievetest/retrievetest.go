// Package retrievetest holds what tests of retrievers share: a small corpus
// with scopes, dates and filters, an embedder without a model, and the
// conformance suite that every retriever passes.
package retrievetest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
)

//go:embed corpus.jsonl
var corpusLines []byte

// Corpus returns the chunks of the test corpus: the handbook of a pottery with
// two teams, two years of prices, three languages, an empty chunk and one of
// stop words.
func Corpus() ([]corpus.Chunk, error) {
	var chunks []corpus.Chunk
	for line := range bytes.Lines(corpusLines) {
		var c corpus.Chunk
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("corpus.jsonl: %w", err)
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// Stream gives chunks to an index.
func Stream(chunks []corpus.Chunk) retrieve.Chunks {
	return func(yield func(corpus.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// WordEmbedder embeds a text as counts of its hashed terms, at unit length: two
// texts are the more alike the more words they share. It has Dim dimensions.
type WordEmbedder struct{ Dim int }

// EmbedQuery implements retrieve.QueryEmbedder.
func (e WordEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, e.Dim)
	for _, term := range retrieve.Terms(text) {
		h := fnv.New32a()
		h.Write([]byte(term))
		v[int(h.Sum32())%e.Dim]++
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v, nil
}

// Vectors embeds every chunk that is not empty.
func (e WordEmbedder) Vectors(chunks []corpus.Chunk) iter.Seq2[corpus.Vector, error] {
	return func(yield func(corpus.Vector, error) bool) {
		for _, c := range chunks {
			if c.Text == "" {
				continue
			}
			v, err := e.EmbedQuery(context.Background(), c.Text)
			if !yield(corpus.Vector{ChunkID: c.ID, Values: v}, err) {
				return
			}
		}
	}
}

// TestRetriever runs the conformance suite on a retriever over chunks, which
// are those of Corpus: scope, dates and filters are never broken and apply
// before ranking, rankings are well formed and the same again, also when asked
// concurrently, and bad queries are errors.
func TestRetriever(t *testing.T, r retrieve.Retriever, chunks []corpus.Chunk) {
	t.Helper()
	s := suite{r: r, chunks: map[string]corpus.Chunk{}}
	for _, c := range chunks {
		s.chunks[c.ID] = c
	}
	t.Run("allowed", s.allowed)
	t.Run("before ranking", s.beforeRanking)
	t.Run("well formed", s.wellFormed)
	t.Run("concurrent", s.concurrent)
	t.Run("bad queries", s.badQueries)
	t.Run("empty query", s.emptyQuery)
	t.Run("cancelled", s.cancelled)
}

type suite struct {
	r      retrieve.Retriever
	chunks map[string]corpus.Chunk
}

var (
	texts   = []string{"kiln", "bisque firing degrees an hour", "key of the kiln room", "thermocouple terminals", "what does a firing cost members", "Temperatur im Ofen", "釉薬 窯", "set_ramp_rate"}
	scopes  = []corpus.Scope{nil, {"team": {"north"}}, {"team": {"south"}, "role": {"treasurer"}}, {"team": {"north", "south"}, "role": {"treasurer"}}, {"role": {"treasurer"}}, {"team": {}}}
	filters = [][]corpus.Filter{
		nil,
		{{Field: "category", Op: "eq", Values: []string{"manual"}}},
		{{Field: "language", Op: "ne", Values: []string{"en"}}},
		{{Field: "version", Op: "ge", Values: []string{"2"}}},
		{{Field: "version", Op: "exists", Values: []string{"false"}}, {Field: "category", Op: "in", Values: []string{"policy", "internal"}}},
		{{Field: "doc_id", Op: "in", Values: []string{"kiln/firing.md", "team/both/safety.md", "shop/prices-2026.md"}}},
		{{Field: "valid_from", Op: "lt", Values: []string{"2026-01-01"}}},
	}
	dates = []*time.Time{nil, date(2024), date(2025), date(2026)}
)

func date(year int) *time.Time {
	d := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
	return &d
}

// Queries yields all texts under all restrictions.
func Queries(k int) iter.Seq[retrieve.Query] {
	return func(yield func(retrieve.Query) bool) {
		n := 0
		for _, text := range texts {
			for _, scope := range scopes {
				for _, filter := range filters {
					for _, asOf := range dates {
						n++
						q := retrieve.Query{ID: fmt.Sprintf("q%d", n), Text: text, K: k, Scope: scope, Filters: filter, AsOf: asOf}
						if !yield(q) {
							return
						}
					}
				}
			}
		}
	}
}

func (s suite) ask(t *testing.T, q retrieve.Query) []retrieve.Hit {
	t.Helper()
	result, err := s.r.Retrieve(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	return result.Hits
}

// allowed: no hit that the query may not see, and some hit somewhere.
func (s suite) allowed(t *testing.T) {
	any := map[string]bool{}
	for q := range Queries(len(s.chunks)) {
		for _, hit := range s.ask(t, q) {
			c, ok := s.chunks[hit.ChunkID]
			if !ok {
				t.Fatalf("%+v: hit %q is no chunk of the corpus", q, hit.ChunkID)
			}
			if !corpus.Match(&c, q.Scope, q.Filters, q.AsOf) {
				t.Errorf("%q: leak: scope %v, filters %v, as of %v let through %s", q.Text, q.Scope, q.Filters, q.AsOf, c.ID)
			}
			any[c.ID] = true
		}
	}
	if len(any) < len(s.chunks)/2 {
		t.Errorf("all queries together found %d of %d chunks", len(any), len(s.chunks))
	}
}

// beforeRanking: what is allowed is found even where only one hit is asked for.
func (s suite) beforeRanking(t *testing.T) {
	for q := range Queries(len(s.chunks)) {
		all := s.ask(t, q)
		q.K = 1
		if best := s.ask(t, q); len(all) > 0 && len(best) != 1 {
			t.Errorf("%+v: %d hits, but %d of the best one", q, len(all), len(best))
		}
	}
}

// wellFormed: at most k hits, each once, finite scores that do not rise, the
// same again, and a smaller k a prefix.
func (s suite) wellFormed(t *testing.T) {
	for _, text := range texts {
		q := retrieve.Query{ID: "q", Text: text, K: 10, Scope: scopes[3]}
		hits := s.ask(t, q)
		if len(hits) == 0 || len(hits) > q.K {
			t.Errorf("%q: %d hits for k %d", text, len(hits), q.K)
		}
		seen := map[string]bool{}
		for i, hit := range hits {
			if seen[hit.ChunkID] || math.IsNaN(hit.Score) || math.IsInf(hit.Score, 0) || (i > 0 && hit.Score > hits[i-1].Score) {
				t.Errorf("%q: hit %d is repeated, rises or is not finite: %+v", text, i+1, hit)
			}
			seen[hit.ChunkID] = true
		}
		if diff := cmp.Diff(hits, s.ask(t, q)); diff != "" {
			t.Errorf("%q: asked again: %s", text, diff)
		}
		q.K = 3
		if diff := cmp.Diff(hits[:min(3, len(hits))], s.ask(t, q)); diff != "" {
			t.Errorf("%q: the first three: %s", text, diff)
		}
	}
}

// concurrent: the same answers when many ask at once.
func (s suite) concurrent(t *testing.T) {
	var asked []retrieve.Query
	for q := range Queries(5) {
		if len(asked)%7 == 0 || q.AsOf == nil {
			asked = append(asked, q)
		}
	}
	asked = asked[:min(200, len(asked))]
	want, got := make([][]retrieve.Hit, len(asked)), make([][]retrieve.Hit, len(asked))
	for i, q := range asked {
		want[i] = s.ask(t, q)
	}
	errs := make([]error, len(asked))
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for i := w; i < len(asked); i += 8 {
				var result retrieve.Result
				result, errs[i] = s.r.Retrieve(t.Context(), asked[i])
				got[i] = result.Hits
			}
		})
	}
	workers.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		t.Fatal(errs[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// badQueries: k under 1 and filters that make no sense are errors.
func (s suite) badQueries(t *testing.T) {
	for name, q := range map[string]retrieve.Query{
		"k 0":           {ID: "q", Text: "kiln"},
		"k -1":          {ID: "q", Text: "kiln", K: -1},
		"unknown op":    {ID: "q", Text: "kiln", K: 1, Filters: []corpus.Filter{{Field: "category", Op: "like", Values: []string{"m"}}}},
		"unknown field": {ID: "q", Text: "kiln", K: 1, Filters: []corpus.Filter{{Field: "colour", Op: "eq", Values: []string{"m"}}}},
		"no value":      {ID: "q", Text: "kiln", K: 1, Filters: []corpus.Filter{{Field: "category", Op: "eq"}}},
	} {
		if result, err := s.r.Retrieve(t.Context(), q); err == nil {
			t.Errorf("%s: %d hits, want an error", name, len(result.Hits))
		}
	}
}

// emptyQuery: no hits and no error.
func (s suite) emptyQuery(t *testing.T) {
	for _, text := range []string{"", " \n\t"} {
		if hits := s.ask(t, retrieve.Query{ID: "q", Text: text, K: 5}); len(hits) != 0 {
			t.Errorf("%q: %d hits", text, len(hits))
		}
	}
}

func (s suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	if _, err := s.r.Retrieve(ctx, retrieve.Query{ID: "q", Text: "kiln", K: 5}); err == nil {
		t.Error("a cancelled query has an answer")
	}
}

// errStopped is why the suite cancels.
var errStopped = fmt.Errorf("stopped by the test")
