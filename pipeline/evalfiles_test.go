package pipeline_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
)

// Repeated results of topics that the qrels lack are no part of what was scored.
func TestFilesCountTheSameWhetherTheResultIsKept(t *testing.T) {
	dir := t.TempDir()
	qrels, run := filepath.Join(dir, "qrels"), filepath.Join(dir, "run")
	for path, text := range map[string]string{
		qrels: "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n",
		run: "q3 Q0 d1 1 3 t\nq1 Q0 d1 1 3 t\nq3 Q0 d1 2 2 t\nq1 Q0 d2 2 2 t\n" +
			"q1 Q0 d1 3 1 t\nq3 Q0 d1 3 1 t\nq1 Q0 d9 4 .5 t\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := eval.Counts{Cases: 2, Scored: 2, Results: 3, Judged: 2, Unjudged: 1, Duplicates: 1}
	for _, out := range []string{"", filepath.Join(dir, "out")} {
		e, err := pipeline.EvalFiles(pipeline.FilesOptions{Qrels: qrels, Run: run, K: []int{10}, Measures: "ndcg@10", Out: out, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, e.Result.Counts); diff != "" {
			t.Errorf("kept in %q (-want +got):\n%s", out, diff)
		}
	}
}
