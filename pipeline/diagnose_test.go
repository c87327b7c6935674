package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/qdrant/go-client/qdrant"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// wharf are chunks whose words are all their own, and what asks for each.
var wharf = []struct{ id, text string }{
	{"crane", "cranes lift twelve tonnes"}, {"pilot", "pilots board long vessels"}, {"fee", "berthing invoices follow monthly"},
	{"tug", "tugs tow barges southward"}, {"rope", "mooring lines get doubled"},
}

// newWharf is a project with those chunks and a golden set that asks for each
// by its text.
func newWharf(t *testing.T, config string) *pipeline.Project {
	t.Helper()
	dir := t.TempDir()
	var chunks, cases strings.Builder
	for _, w := range wharf {
		fmt.Fprintf(&chunks, "{\"chunk_id\": %[1]q, \"doc_id\": %[1]q, \"text\": %[2]q}\n", w.id, w.text)
		fmt.Fprintf(&cases, "{\"case_id\": %[1]q, \"query\": %[2]q, \"relevant_chunk_ids\": [%[1]q]}\n", w.id, w.text)
	}
	write(t, filepath.Join(dir, "chunks.jsonl"), chunks.String())
	write(t, filepath.Join(dir, "cases.jsonl"), cases.String())
	write(t, filepath.Join(dir, "goldgen.yaml"), "version: 1\nname: wharf\ncorpus: {chunks: chunks.jsonl}\n"+config)
	p, err := pipeline.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	p.Now = func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	if _, _, err := p.MakeSnapshot(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Import(t.Context(), "wharf", "", datasets.ImportOptions{Format: "jsonl", Queries: filepath.Join(dir, "cases.jsonl")}); err != nil {
		t.Fatal(err)
	}
	return p
}

func diagnosed(t *testing.T, p *pipeline.Project, spec string) *eval.Diagnosis {
	t.Helper()
	e, err := p.Eval(t.Context(), pipeline.EvalOptions{Retriever: spec, K: []int{1}, Diagnose: true, Out: filepath.Join(t.TempDir(), "r")})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := pipeline.ReadDiagnosis(e.Path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e.Diagnosis.All, kept.All, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("kept (-made +read):\n%s", diff)
	}
	return e.Diagnosis
}

// What an approximate index misses is told by the exact search of the same
// collection, which every case is asked.
func TestDiagnoseAnApproximateIndex(t *testing.T) {
	ollama := llmtest.NewOllama(llmtest.Config{})
	defer ollama.Close()
	server, address := retrievetest.StartQdrant(t)
	p := newWharf(t, "embedding: {provider: ollama, model: fake-embed}\nendpoints: ["+ollama.URL+"]\n"+
		"retrievers: {near: {kind: qdrant, url: "+address+"/wharf}}\n")
	var points []retrievetest.Point
	for i, w := range wharf {
		vectors, err := new(llmtest.Model).Embed(t.Context(), llm.EmbedRequest{Texts: []string{w.text}})
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, retrievetest.Point{
			ID: uint64(i + 1), Dense: map[string][]float32{"": vectors[0]}, Payload: map[string]any{"chunk_id": w.id}, Unindexed: w.id == "tug",
		})
	}
	params := &qdrant.CollectionParams{VectorsConfig: qdrant.NewVectorsConfig(&qdrant.VectorParams{Size: 64, Distance: qdrant.Distance_Cosine})}
	server.Create("wharf", &qdrant.CollectionConfig{Params: params}, points...)
	d := diagnosed(t, p, "near")
	if diff := cmp.Diff(&eval.ExactRecall{N: 5, K: 1, Recall: 0.8}, d.Exact); diff != "" {
		t.Errorf("recall of the index (-want +got):\n%s", diff)
	}
	if len(d.All) != 1 || d.All[0].CaseID != "tug" || d.All[0].Cause != eval.CauseApproximate ||
		d.All[0].Why != "at rank 1 by the exact search of the same index, not among 4 hits by the approximate one" {
		t.Errorf("%+v", d.All)
	}
}

// What a reranker pushes down is told by the stage before it.
func TestDiagnoseAReranker(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Query     string
			Documents []string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		type result struct {
			Index int     `json:"index"`
			Score float64 `json:"relevance_score"`
		}
		var results []result
		for i, text := range asked.Documents { // right about all but tugs
			score := 0.0
			if text == asked.Query && !strings.HasPrefix(text, "tugs") {
				score = 1
			}
			results = append(results, result{i, score + float64(i)/100})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"results": results}); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	p := newWharf(t, "retrievers: {ordered: {kind: rerank, of: ngram, url: "+server.URL+"}}\n")
	d := diagnosed(t, p, "ordered")
	if len(d.All) != 1 || d.All[0].CaseID != "tug" || d.All[0].Cause != eval.CauseReranker || !strings.HasPrefix(d.All[0].Why, "at rank 1 before the reranker, at rank ") {
		t.Errorf("%+v", d.All)
	}
	if d.Exact != nil {
		t.Errorf("an exact search of what has none: %+v", d.Exact)
	}
}

// stopper cancels when a stage begins.
type stopper struct {
	stage  string
	cancel context.CancelFunc
}

func (s stopper) Begin(stage string, _ int) {
	if stage == s.stage {
		s.cancel()
	}
}
func (stopper) Step(pipeline.Step) {}
func (stopper) Grow(int)           {}
func (stopper) End()               {}

// Scoring is done when diagnosis begins: stopped there, the result is kept
// without one.
func TestDiagnosisInterrupted(t *testing.T) {
	p := newWharf(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.Progress = stopper{"diagnose", cancel}
	// Nothing is in a run file's rankings, so every case fails.
	run := filepath.Join(p.Dir, "run.txt")
	write(t, run, "crane Q0 fee 1 1 x\n")
	out := filepath.Join(t.TempDir(), "r")
	_, err := p.Eval(ctx, pipeline.EvalOptions{Retriever: "run:" + run, K: []int{1}, Diagnose: true, Out: out})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the result without one is kept in "+out) {
		t.Fatalf("%v", err)
	}
	kept, err := pipeline.ReadResult(out)
	if err != nil {
		t.Fatal(err)
	}
	d, err := pipeline.ReadDiagnosis(out)
	if err != nil || d != nil || kept.Result.Diagnosis != nil || kept.Result.Missing != 4 {
		t.Errorf("%+v, %v, %+v", d, err, kept.Result)
	}
}
