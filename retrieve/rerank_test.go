package retrieve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// crossEncoder scores texts as rerankers do: here by their number of words in
// common with the query, and the shorter of two alike first.
func crossEncoder(t *testing.T, calls *atomic.Int64) string {
	return serving(t, func(w http.ResponseWriter, req *http.Request) {
		calls.Add(1)
		var in struct {
			Model, Query string
			Documents    []string
		}
		if err := json.NewDecoder(req.Body).Decode(&in); err != nil || in.Model != "cross" {
			http.Error(w, fmt.Sprint(in.Model, err), http.StatusBadRequest)
			return
		}
		var results []map[string]any
		for i, text := range in.Documents {
			score := -float64(len(text)) / 1e6
			for _, term := range retrieve.Terms(text) {
				if slices.Contains(retrieve.Terms(in.Query), term) {
					score++
				}
			}
			results = append(results, map[string]any{"index": i, "relevance_score": score})
		}
		slices.Reverse(results) // their order must not matter
		json.NewEncoder(w).Encode(map[string]any{"results": results})
	})
}

func TestRerankConformance(t *testing.T) {
	var calls atomic.Int64
	for name, extra := range map[string]string{"at once": "", "in batches": ", batch: 3"} {
		t.Run(name, func(t *testing.T) {
			spec := configured(t, "{kind: rerank, of: bm25, depth: 20, model: cross, url: "+crossEncoder(t, &calls)+extra+"}")
			chunks := testCorpus(t)
			retrievetest.TestRetriever(t, build(t, spec, retrieve.Deps{Chunks: retrievetest.Stream(chunks)}), chunks)
		})
	}
}

// The best hits below are put in order, no others; each text is scored once.
func TestRerankOrder(t *testing.T) {
	run := "q1 Q0 a 1 9 x\nq1 Q0 b 2 8 x\nq1 Q0 c 3 7 x\nq1 Q0 d 4 6 x\n"
	dir := t.TempDir()
	writeFile(t, dir+"/run.txt", run)
	chunks := []corpus.Chunk{{ID: "a", Text: "pots"}, {ID: "b", Text: "kiln room key"}, {ID: "c", Text: "kiln"}, {ID: "d", Text: "kiln room key code"}}
	var calls atomic.Int64
	spec := configured(t, "{kind: rerank, of: 'run:run.txt', depth: 3, batch: 2, model: cross, url: "+crossEncoder(t, &calls)+"}")
	r := build(t, spec, retrieve.Deps{Chunks: retrievetest.Stream(chunks), Dir: dir})
	got, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q1", Text: "key of the kiln room", K: 10})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, h := range got.Hits {
		ids = append(ids, h.ChunkID)
	}
	if diff := cmp.Diff([]string{"b", "c", "a"}, ids); diff != "" {
		t.Error(diff)
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls for 3 texts in batches of 2", calls.Load())
	}
	if before := r.(*retrieve.Rerank).Before(); before == nil {
		t.Error("no retriever below")
	}
	none, err := r.Retrieve(t.Context(), retrieve.Query{ID: "unknown", Text: "kiln", K: 10})
	if err != nil || len(none.Hits) != 0 || calls.Load() != 2 {
		t.Errorf("no hits below: %v, %v, %d calls", none, err, calls.Load())
	}
}

// Paths and templates map other servers: a bare list in the order of the
// texts, and a chat model that writes JSON.
func TestRerankPaths(t *testing.T) {
	chunks := []corpus.Chunk{{ID: "a", Text: "kiln a"}, {ID: "b", Text: "kiln b"}}
	for name, tc := range map[string]struct{ config, answer string }{
		"a bare list": {`body: '{"query": {{json .Query}}, "texts": {{json .Documents}}}', results: $, index: "", score: $`, `[0.1, 0.9]`},
		"a chat model": {
			`body: '{"messages": [{"role": "user", "content": {{printf "%s\n%s" .Query (join .Documents "\n") | json}}}]}', content: "$.choices[0].message.content", results: $, index: $.i, score: $.s`,
			`{"choices": [{"message": {"content": "[{\"i\": 1, \"s\": 3}, {\"i\": 0, \"s\": 1}]"}}]}`,
		},
	} {
		spec := configured(t, "{kind: rerank, of: bm25, url: "+saying(t, 200, "application/json", tc.answer)+", "+tc.config+"}")
		got, err := build(t, spec, retrieve.Deps{Chunks: retrievetest.Stream(chunks)}).Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 2})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Hits) != 2 || got.Hits[0].ChunkID != "b" {
			t.Errorf("%s: %+v", name, got.Hits)
		}
	}
}

// An answer that does not score every text once is no ranking.
func TestRerankBadAnswers(t *testing.T) {
	chunks := []corpus.Chunk{{ID: "a", Text: "kiln a"}, {ID: "b", Text: "kiln b"}}
	for answer, want := range map[string]string{
		`<html>`:                            `status 200, but the answer is no JSON: "<html>": invalid character '<' looking for beginning of value`,
		`{"data": []}`:                      `nothing at $.results (results) in "{\"data\":[]}"`,
		`{"results": []}`:                   `2 texts were sent, and at $.results (results) is "[]"`,
		`{"results": [{"index": 0}, {}]}`:   `result 1: no score at $.relevance_score in "{\"index\":0}"`,
		results(`0`, `1`, `0`, `2`):         `result 2: "{\"index\":0,\"relevance_score\":2}" names no text of 2, or one again`,
		results(`0`, `1`, `2`, `2`):         `result 2: "{\"index\":2,\"relevance_score\":2}" names no text of 2, or one again`,
		results(`0`, `1`, `"x"`, `2`):       `result 2: "{\"index\":\"x\",\"relevance_score\":2}" names no text of 2, or one again`,
		results(`0`, `"NaN"`, `1`, `2`):     `result 1: score "NaN": is no number`,
		results(`0`, `1e999`, `1`, `2`):     `result 1: score "1e999": is not finite`,
		`{"error": "model is loading"}`:     `nothing at $.results (results) in "{\"error\":\"model is loading\"}"`,
		results(`0`, `1`, `1`, `2`) + `{} `: `goes on after its JSON`,
	} {
		address := saying(t, 200, "application/json", answer)
		r := build(t, configured(t, "{kind: rerank, of: bm25, url: "+address+"}"), retrieve.Deps{Chunks: retrievetest.Stream(chunks)})
		_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 2})
		if err == nil || !strings.HasPrefix(err.Error(), "query q: "+address+": ") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", answer, err, want)
		}
	}
}

func results(index1, score1, index2, score2 string) string {
	return fmt.Sprintf(`{"results": [{"index": %s, "relevance_score": %s}, {"index": %s, "relevance_score": %s}]}`, index1, score1, index2, score2)
}

func TestRerankErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{kind: rerank, url: 'http://h'}":                                        "retriever mine: of: empty, want the retriever whose hits are put in order",
		"{kind: rerank, of: bm25}":                                               "retriever mine: url: empty",
		"{kind: rerank, of: bm25, url: 'http://h', depth: 0}":                    "retriever mine: depth: 0 is not within 1 to 1000000",
		"{kind: rerank, of: bm25, url: 'http://h', results: 'x['}":               `retriever mine: results: "x[": unexpected identifier at position 1`,
		"{kind: rerank, of: bm25, url: 'http://h', body: '{{json .Docs}}'}":      "retriever mine: body: 1:7: executing \"body\" at <.Docs>: can't evaluate field Docs in type retrieve.rerankData",
		"{kind: rerank, of: mine, url: 'http://h'}":                              "retriever mine: members are nested over 8 deep, or contain themselves",
		"{kind: rerank, of: nosuch, url: 'http://h'}":                            `mine: retriever "nosuch": unknown; valid are `,
		"{kind: rerank, of: bm25, url: 'http://h', headers: {X-Token: secret1}}": "retriever mine: headers: X-Token: a secret must come from the environment, as in ${SEARCH_TOKEN}",
	} {
		specs := map[string]retrieve.Spec{"mine": {}}
		err := buildError(t, text, retrieve.Deps{Configured: specs})
		if text == "{kind: rerank, of: mine, url: 'http://h'}" {
			specs["mine"] = configured(t, text)
			_, err = specs["mine"].Describe(specs)

		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, retrieve.ErrSpec) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// A description says of a stage what is below it; kinds are found through it.
func TestRerankDescription(t *testing.T) {
	spec := configured(t, "{kind: rerank, of: hybrid, url: 'http://h/rerank', depth: 20}")
	d, err := spec.Describe(nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"of.kind": "hybrid", "of.member.bm25.k1": "0.9", "depth": "20", "url": "http://h/rerank", "method": "POST"} {
		if d.Settings[key] != want {
			t.Errorf("%s: %q, want %q", key, d.Settings[key], want)
		}
	}
	if !spec.Uses(retrieve.KindDense, nil) || spec.Uses(retrieve.KindExec, nil) || spec.Starts(nil) != "" {
		t.Error("what it is made of")
	}
	over := configured(t, "{kind: rerank, of: 'exec:./search --x', url: 'http://h'}")
	if got := over.Starts(nil); got != "./search --x" {
		t.Errorf("starts %q", got)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
