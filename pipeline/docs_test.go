package pipeline_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/goldgen/goldgen/pipeline"
)

var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?)```\n")

// TestExamplesOfRetrievers reads every goldgen.yaml of docs/retrievers.md.
func TestExamplesOfRetrievers(t *testing.T) {
	text, err := os.ReadFile("../docs/retrievers.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, m := range yamlBlock.FindAllSubmatch(text, -1) {
		c, err := pipeline.ParseConfig(append([]byte("version: 1\nname: x\ncorpus: {source: docs}\n"), m[1]...), "goldgen.yaml")
		if err != nil {
			t.Errorf("%s\n%v", m[1], err)
		}
		for _, spec := range c.Retrievers {
			kinds[spec.Kind] = true
		}
	}
	for _, kind := range []string{"exec", "http", "qdrant", "pgvector", "mcp", "rerank"} {
		if !kinds[kind] {
			t.Errorf("no example of %s", kind)
		}
	}
}
