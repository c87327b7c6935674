package pipeline_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
)

// spanProgram answers every query with a part of d02, a hidden document, and
// the part of d02 once more, beyond its middle.
const spanProgram = `while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  printf '{"id":"%s","hits":[{"doc_id":"d02","start":0,"end":30,"score":3},{"doc_id":"d37","start":4,"end":20,"score":2},{"doc_id":"d02","start":20,"end":49,"score":1}]}\n' "$id"
done
`

func spanBench(t *testing.T) (*bench, string) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	b := newBench(t, everyField)
	path := filepath.Join(b.Dir, "spans.sh")
	write(t, path, spanProgram)
	return b, "exec:sh " + path
}

// TestSpansOfAnotherChunking holds that spans are scored against evidence, that
// what they show of hidden chunks leaks, and that the folder keeps all of it.
func TestSpansOfAnotherChunking(t *testing.T) {
	b, spec := spanBench(t)
	e := b.score(t, spec, pipeline.EvalOptions{K: []int{1, 3}, AllowExec: true})
	// The evidence is d02 from 0 to 6, one token of the seven or so returned.
	if m, _ := e.Result.Metrics.Get("span_recall@1"); m.N != 1 || *m.Mean != 1 {
		t.Errorf("span recall %v of %d cases", *m.Mean, m.N)
	}
	if m, _ := e.Result.Metrics.Get("span_precision@1"); *m.Mean <= 0 || *m.Mean > 0.34 {
		t.Errorf("span precision %v", *m.Mean)
	}
	kinds := map[string]int{}
	for _, l := range e.Result.Leaks {
		kinds[l.Kind+" "+l.Chunk]++
	}
	want := map[string]int{"scope d37": benchCases, "forbidden d02": 1}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("leaks (-want +got):\n%s", diff)
	}
	if n := len(e.Result.FilterErrors); n != benchCases {
		t.Errorf("%d filter errors: 12 cases have a filter, and two documents violate it", n)
	}
	again, err := eval.Evaluate(read(t, e.Path).Input)
	if err != nil {
		t.Fatal(err)
	}
	again.Notes = e.Result.Notes
	if diff := cmp.Diff(asJSON(t, e.Result), asJSON(t, again)); diff != "" {
		t.Errorf("scored again (-first +again):\n%s", diff)
	}
}

func TestDeclaredFalseAnswers(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		for i := range 4 {
			d.Cases[i].ExpectedAbstention = true
		}
	})
	b.Config.Eval.FalseAnswers = 1
	e := b.score(t, b.run(t, "mine", func(int) int { return 1 }), pipeline.EvalOptions{})
	if th := e.Result.Abstention.Threshold; th.Target != 1 || th.Value != 99 || th.FalseAnswer != 1 {
		t.Errorf("%+v", th)
	}
	if again := read(t, e.Path).Input.FalseAnswers; again == nil || *again != 1 {
		t.Errorf("kept: %v", again)
	}
}
