package eval_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// example is one block of docs/metrics.md.
type example struct {
	c    eval.Case
	want map[string]float64
}

// TestDocs works every example of docs/metrics.md.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```example\n")[1:]
	if len(blocks) < 7 {
		t.Fatalf("found %d examples", len(blocks))
	}
	for i, block := range blocks {
		body, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatalf("example %d does not end", i+1)
		}
		e := parseExample(t, body)
		got := e.score(t)
		for name, want := range e.want {
			if !(math.Abs(got[name]-want) <= 5e-7) {
				t.Errorf("example %d: %s: got %.6f, want %.6f", i+1, name, got[name], want)
			}
		}
	}
}

// score gives the mean of each measure under its name, and what ties can do to
// it under "least NAME", "most NAME" and "expected NAME".
func (e *example) score(t *testing.T) map[string]float64 {
	in := eval.Input{Cases: []eval.Case{e.c}, MinGrade: 1, KeepEmpty: true}
	for name := range e.want {
		if !strings.Contains(name, " ") {
			in.Measures = append(in.Measures, must(eval.ParseMeasure(name)))
		}
	}
	got := map[string]float64{}
	for _, m := range evaluate(t, in).Metrics {
		for prefix, v := range map[string]*float64{"": m.Mean, "least ": m.Least, "most ": m.Most, "expected ": m.Expected} {
			if got[prefix+m.Name] = math.NaN(); v != nil {
				got[prefix+m.Name] = *v
			}
		}
	}
	return got
}

func parseExample(t *testing.T, body string) example {
	t.Helper()
	e := example{c: eval.Case{ID: "q"}, want: map[string]float64{}}
	for line := range strings.Lines(body) {
		switch key, rest, _ := strings.Cut(strings.TrimSpace(line), ":"); key {
		case "labels":
			for _, f := range strings.Fields(rest) {
				id, grade, _ := strings.Cut(f, "=")
				e.c.Labels = append(e.c.Labels, eval.Label{ID: id, Grade: int(parseFloat(t, grade))})
			}
		case "ranking":
			e.c.Ranking = strings.Fields(rest)
		case "evidence":
			e.c.Background = &eval.Background{Evidence: parseSpans(t, rest)}
		case "spans":
			e.c.Ranking, e.c.Spans = strings.Fields(rest), parseSpans(t, rest)
		case "run":
			e.c.Ranking, e.c.Scores = parseRun(t, strings.Fields(rest))
		default:
			name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
			e.want[name] = parseFloat(t, value)
		}
	}
	return e
}

// parseSpans reads spans of one document: 50-150 100-200.
func parseSpans(t *testing.T, text string) []eval.Span {
	var out []eval.Span
	for _, f := range strings.Fields(text) {
		from, to, _ := strings.Cut(f, "-")
		out = append(out, eval.Span{Doc: "d", Start: int(parseFloat(t, from)), End: int(parseFloat(t, to))})
	}
	return out
}

// parseRun orders id=score pairs as a run file is ordered.
func parseRun(t *testing.T, pairs []string) ([]string, []float64) {
	t.Helper()
	var lines strings.Builder
	for _, p := range pairs {
		id, score, _ := strings.Cut(p, "=")
		fmt.Fprintf(&lines, "q Q0 %s 0 %s docs\n", id, score)
	}
	run, err := retrieve.ReadTREC(strings.NewReader(lines.String()), "example")
	if err != nil {
		t.Fatal(err)
	}
	ranking, _ := run.Ranking("q")
	return ranking.IDs, ranking.Scores
}

func parseFloat(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// scoreOne scores a single case; a measure without a value is missing.
func scoreOne(t testing.TB, c eval.Case, names []string, minGrade int) map[string]float64 {
	t.Helper()
	var measures []eval.Measure
	for _, name := range names {
		measures = append(measures, must(eval.ParseMeasure(name)))
	}
	r := evaluate(t, eval.Input{Cases: []eval.Case{c}, Measures: measures, MinGrade: minGrade, KeepEmpty: true})
	out := map[string]float64{}
	for row := range r.Rows() {
		for _, v := range row.Metrics {
			out[v.Name] = v.Value
		}
	}
	return out
}
