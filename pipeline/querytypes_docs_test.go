package pipeline_test

import (
	"os"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/sample"
)

// TestExamplesOfQueryTypes reads the goldgen.yaml of docs/querytypes.md, and wants
// a line of its table for each type that a mix may name.
func TestExamplesOfQueryTypes(t *testing.T) {
	text, err := os.ReadFile("../docs/querytypes.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Error("no example")
	}
	for _, m := range blocks {
		if _, err := pipeline.ParseConfig(append([]byte("version: 1\nname: x\ncorpus: {source: docs}\n"), m[1]...), "goldgen.yaml"); err != nil {
			t.Errorf("%s\n%v", m[1], err)
		}
	}
	for _, queryType := range sample.QueryTypes() {
		if !strings.Contains(string(text), "\n| `"+queryType+"` | ") {
			t.Errorf("no line for %s", queryType)
		}
	}
}
