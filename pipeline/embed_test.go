package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/pipeline"
)

var (
	kiln = strings.Repeat("the kiln is hot and slow ", 8)
	pump = strings.Repeat("a pump needs pressure to run ", 8)
)

// embedded makes the snapshot of three documents, two of them longer than the
// 20 tokens that the embedder takes.
func embedded(t *testing.T, long string) (*corpus.Snapshot, *llmtest.Server, error) {
	t.Helper()
	server := llmtest.NewOllama(llmtest.Config{EmbedLimit: 20})
	t.Cleanup(server.Close)
	dir := t.TempDir()
	yaml := fmt.Sprintf("version: 1\nname: handbook\ncorpus: {source: docs}\nchunking: {method: document}\n"+
		"embedding: {provider: ollama, model: fake-embed, endpoints: [%q], long: %s}\n", server.URL, long)
	for name, text := range map[string]string{
		"goldgen.yaml":  yaml,
		"docs/kiln.md":  kiln,
		"docs/pump.md":  pump,
		"docs/short.md": "tiles cool on the rack",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := pipeline.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	s, _, err := p.MakeSnapshot(t.Context(), "")
	return s, server, err
}

func TestLongChunksAreCutOrSplit(t *testing.T) {
	for _, long := range []string{"cut", "split"} {
		t.Run(long, func(t *testing.T) {
			s, server, err := embedded(t, long)
			if err != nil {
				t.Fatal(err)
			}
			vectors := s.Manifest().Vectors
			if len(vectors) != 1 || vectors[0].Count != 3 || vectors[0].Cut != 2 {
				t.Errorf("vectors %+v, want 3, 2 of them of long chunks", vectors)
			}
			for _, text := range []string{kiln, pump} {
				sent := 0
				for _, r := range server.EmbedRequests() {
					if slices.Contains(r.Texts, text) {
						sent++
					}
				}
				if sent > 3 { // in the batch, in what is left of it, and to find out which text it is
					t.Errorf("%.20q was sent whole %d times", text, sent)
				}
			}
		})
	}
}

func TestLongChunksAreRefusedWhereAsked(t *testing.T) {
	_, _, err := embedded(t, "fail")
	if err == nil || !strings.Contains(err.Error(), "chunk kiln.md: longer than fake-embed takes (embedding.long: fail)") {
		t.Errorf("error %v", err)
	}
}
