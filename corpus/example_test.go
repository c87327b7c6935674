package corpus_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/corpus"
)

func ExampleBuild() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	docs := filepath.Join(dir, "docs.jsonl")
	if err := os.WriteFile(docs, []byte(`{"id":"pump","text":"# Pump\n\nThe pump needs two bar of pressure to start."}`), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	opts := corpus.BuildOptions{Source: corpus.Source{Documents: docs}}
	snapshot, _, err := corpus.Build(context.Background(), opts, filepath.Join(dir, "snapshots"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for chunk, err := range snapshot.Chunks() {
		fmt.Println(chunk.ID, chunk.HeadingPath, chunk.Tokens, err)
	}
	// Output: pump#0 [Pump] 13 <nil>
}
