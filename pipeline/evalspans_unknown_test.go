package pipeline_test

import (
	"strings"
	"testing"

	"github.com/goldgen/goldgen/pipeline"
)

// TestSpansOfAnUnknownDocument holds that an index with a document that the
// snapshot lacks is scored as it is: the result is kept at its rank, finds
// nothing, and is counted. It is no failed query.
func TestSpansOfAnUnknownDocument(t *testing.T) {
	b, spec := spanBench(t)
	known := b.score(t, spec, pipeline.EvalOptions{K: []int{1, 3}, AllowExec: true}).Result
	stranger := strings.Replace(spanProgram, `"hits":[`, `"hits":[{"doc_id":"new","start":0,"end":9000,"score":4},`, 1)
	write(t, strings.TrimPrefix(spec, "exec:sh "), stranger)
	e := b.score(t, spec, pipeline.EvalOptions{K: []int{1, 3}, AllowExec: true, Out: t.TempDir() + "/r"})
	if len(e.Result.Failed) != 0 || !strings.Contains(strings.Join(e.Result.Notes, "\n"), "the snapshot does not have") {
		t.Errorf("%d failed, notes %q", len(e.Result.Failed), e.Result.Notes)
	}
	before, _ := known.Metrics.Get("span_recall@1")
	first, _ := e.Result.Metrics.Get("span_recall@1")
	later, _ := e.Result.Metrics.Get("span_recall@3")
	if *before.Mean != 1 || *first.Mean != 0 || *later.Mean != 1 {
		t.Errorf("span recall@1 %v without the stranger; with it %v@1, %v@3", *before.Mean, *first.Mean, *later.Mean)
	}
}
