package eval_test

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// sharedData returns a folder of the test data; it is not part of the
// repository.
func sharedData(t testing.TB, folder string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "data", folder)
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("test data is missing: %v", err)
		}
		t.Skipf("test data is not here (put it at %s): %v", dir, err)
	}
	return dir
}

// lines yields the fields of each line of a file.
func lines(t testing.TB, path string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		for s.Scan() {
			if fields := strings.Fields(s.Text()); len(fields) > 0 && !yield(fields) {
				return
			}
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func trecCases(t testing.TB, qrelsPath, runPath string) []eval.Case {
	t.Helper()
	qrels, err := datasets.ReadQrels(qrelsPath)
	if err != nil {
		t.Fatal(err)
	}
	run, err := retrieve.ReadRun(runPath)
	if err != nil {
		t.Fatal(err)
	}
	cases := eval.FromQrels(qrels)
	for i := range cases {
		ranking, _ := run.Ranking(cases[i].ID)
		cases[i].Ranking, cases[i].Scores = ranking.IDs, ranking.Scores
	}
	return cases
}

// expected reads trec_eval's output: topic, then measure, then the text of its
// value. Rows that trec_eval computes wrongly and rows that are no numbers are
// left out.
func expected(t testing.TB, path string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for f := range lines(t, path) {
		name, topic, value := f[0], f[1], f[2]
		if name == "runid" || strings.HasPrefix(name, "relstring") || strings.HasPrefix(name, "rbp") {
			continue
		}
		if out[topic] == nil {
			out[topic] = map[string]string{}
		}
		out[topic][name] = value
	}
	return out
}

func TestAgreesWithTrecEval(t *testing.T) {
	dir := sharedData(t, "trec_eval")
	tests := []struct {
		out, qrels, run string
		minGrade, rows  int
	}{
		{"out.test", "qrels.test", "results.test", 1, 29},
		{"out.test.a", "qrels.test", "results.test", 1, 96},
		{"out.test.aq", "qrels.test", "results.test", 1, 375},
		{"out.test.aqc", "qrels.test", "results.trunc", 1, 375},
		{"out.test.aql", "qrels.rel_level", "results.test", 2, 375},
		{"out.comment.test", "qrels.comment.test", "results.comment.test", 1, 29},
	}
	for _, test := range tests {
		t.Run(test.out, func(t *testing.T) {
			want := expected(t, filepath.Join(dir, test.out))
			r := evaluate(t, eval.Input{
				Cases:    trecCases(t, filepath.Join(dir, test.qrels), filepath.Join(dir, test.run)),
				Measures: measuresOf(t, want), MinGrade: test.minGrade, KeepEmpty: true,
			})
			got := trecOutput(r)
			rows := 0
			for topic, values := range want {
				for name, value := range values {
					rows++
					if got[topic][name] != value {
						t.Errorf("%s %s: got %q, want %q", topic, name, got[topic][name], value)
					}
				}
			}
			if rows != test.rows {
				t.Errorf("compared %d rows, want %d", rows, test.rows)
			}
		})
	}
}

func measuresOf(t testing.TB, want map[string]map[string]string) []eval.Measure {
	seen := map[string]bool{}
	var out []eval.Measure
	for _, values := range want {
		for name := range values {
			if seen[name] {
				continue
			}
			seen[name] = true
			m, err := eval.ParseMeasure(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, m)
		}
	}
	return out
}

// trecOutput prints a result as trec_eval does: counts whole, all else to
// four decimals.
func trecOutput(r *eval.Result) map[string]map[string]string {
	out := map[string]map[string]string{"all": {}}
	for _, m := range r.Metrics {
		out["all"][m.Name] = trecValue(m.Name, *m.Mean)
	}
	for row := range r.Rows() {
		out[row.CaseID] = map[string]string{}
		for _, v := range row.Metrics {
			out[row.CaseID][v.Name] = trecValue(v.Name, v.Value)
		}
	}
	return out
}

func trecValue(name string, v float64) string {
	if strings.HasPrefix(name, "num_") {
		return strconv.Itoa(int(v))
	}
	return fmt.Sprintf("%.4f", v)
}

func evaluate(t testing.TB, in eval.Input) *eval.Result {
	t.Helper()
	r, err := eval.Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
