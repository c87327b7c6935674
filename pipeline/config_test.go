package pipeline_test

import (
	"testing"

	"github.com/goldgen/goldgen/pipeline"
)

// Which of several mistakes a message names does not depend on the order of a
// map.
func TestConfigMistakesAreNamedInOneOrder(t *testing.T) {
	yaml := []byte("version: 1\nname: handbook\ncorpus: {source: docs}\n" +
		"generate: {num_ctx: -1, num_predict: -1}\njudge: {pool: {bm25: -1, dense: -2, ngram: -3, random: -4}}\n")
	const want = "configuration goldgen.yaml: generate: num_ctx: -1, want more than 0; judge: pool: bm25: -1, want 0 or more"
	for range 20 {
		if _, err := pipeline.ParseConfig(yaml, "goldgen.yaml"); err == nil || err.Error() != want {
			t.Fatalf("got  %v\nwant %s", err, want)
		}
	}
}
