package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func p(v float64) *float64 { return &v }

// full is a result with every part filled.
func full() *eval.Result {
	metrics := func(mean float64) eval.Metrics {
		return eval.Metrics{
			{Name: "recall@10", Metric: eval.Metric{Mean: p(mean), N: 40, Low: p(mean - 0.1), High: p(mean + 0.1)}},
			{Name: "ndcg@10", Metric: eval.Metric{Mean: p(mean / 2), N: 40, Low: p(mean/2 - 0.1), High: p(mean/2 + 0.1)}},
		}
	}
	return &eval.Result{
		Golden:    &eval.GoldenRef{Name: "handbook", Version: 3, Ref: "handbook@v3", Digest: "sha256:0123456789abcdef0123"},
		Trust:     "source_only",
		Retriever: eval.RetrieverRef{Spec: "bm25", Name: "bm25"},
		Conventions: eval.Conventions{
			MinGrade: 2, Source: "in", K: []int{1, 10}, Labels: "certain",
			Cluster: "cases that share a source document", Clusters: 31, Interval: "95 % t over clusters",
		},
		Metrics: append(metrics(0.8125), eval.NamedMetric{Name: "rbp", Metric: eval.Metric{Mean: p(0.4), N: 40, Residual: p(0.05)}}),
		Slices: eval.Slices{
			{Name: "query_type", Slices: []eval.Slice{
				{Value: "factual", N: 30, Metrics: metrics(0.9)}, {Value: "keyword", N: 10, Metrics: metrics(0.55)},
			}},
			{Name: "category", Slices: []eval.Slice{{Value: "a|b\x1b[31m @team", N: 40, Metrics: metrics(0.8125)}}},
		},
		Leaks: []eval.Leak{{
			Case: "c1", Query: "who is paid\nwhat?\x1b[2J", Scope: corpus.Scope{"team": {"sales"}, "tenant": {"a", "b"}},
			Chunk: "hr.md#3", Rank: 2, Kind: "scope",
		}},
		Failed:     []eval.Failure{{Case: "c2", Error: "connection refused"}},
		Abstention: &eval.Abstention{Cases: 5, Answerable: 40, AnswerRate: p(1), FalseAnswer: p(0.8), Why: "AUROC: the retriever gives no scores"},
		Latency:    &eval.Latency{P50: 1.5, P95: 12.25, P99: 30, N: 45},
		Missing:    2,
		Counts:     eval.Counts{Cases: 46, Scored: 40, Dropped: 1, Abstain: 5, Results: 400, Judged: 300, Unknown: 3, Unjudged: 97, Duplicates: 4},
		Saturated:  true,
		Notes:      []string{"only 12 source documents"},
		Hints:      []string{"36 of 40 cases have a relevant chunk in the top 10, 20 of them not first: a reranker may help"},
	}
}

func TestTerminal(t *testing.T) {
	for name, style := range map[string]report.Style{
		"result-terminal.txt": {Terminal: true, Width: 120},
		"result-colour.txt":   {Terminal: true, Color: true, Width: 120},
		"result-pipe.txt":     {},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := report.Terminal(&b, full(), style); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			if !style.Color && strings.Contains(b.String(), "\x1b") {
				t.Error("an escape sequence was written without colour")
			}
		})
	}
}

func TestTerminalOfAlmostNothing(t *testing.T) {
	var b bytes.Buffer
	r := &eval.Result{Metrics: eval.Metrics{{Name: "map", Metric: eval.Metric{Why: "no case has a value"}}}}
	if err := report.Terminal(&b, r, report.Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "result-empty.txt", b.Bytes())
}

func TestTable(t *testing.T) {
	table := report.NewTable("name", ">cases", "text")
	table.Columns[2].Max = 12
	table.Add("handbook", "200", "short")
	table.Add("a\tb", "7", "世界 is a word that is too long")
	table.Add("only a name")
	for name, style := range map[string]report.Style{
		"table-terminal.txt": {Terminal: true}, "table-pipe.txt": {}, "table-narrow.txt": {Terminal: true, Width: 20},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := table.Write(&b, style); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

// A terminal that is too narrow costs no column: text wraps, numbers follow in
// another block.
func TestTableThatIsWiderThanTheTerminal(t *testing.T) {
	scores := report.NewTable("retriever", "query type", ">n", ">recall@1", ">recall@10", ">ndcg@10")
	scores.Keys = 3
	scores.Add("bm25", "factual", "30", "0.833 [0.69, 0.98]", "1.000 [1.00, 1.00]", "0.938 [0.89, 0.99]")
	scores.Add("bm25", "all", "60", "0.850 [0.76, 0.94]", "1.000 [1.00, 1.00]", "0.942 [0.91, 0.98]")
	doctor := report.NewTable("part", "state", "detail", "do")
	doctor.Add("judge", "warn", "provider builtin: no model; shows the pipeline, not quality", "set judge: {provider: ollama, model: ...} in goldgen.yaml")
	for name, table := range map[string]*report.Table{"table-blocks.txt": scores, "table-wrapped.txt": doctor} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := table.Write(&b, report.Style{Terminal: true, Width: 72}); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 72 {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
		})
	}
}

// full disk, closed pipe.
type broken struct{}

var errBroken = errors.New("no space left")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorsAreReturned(t *testing.T) {
	for name, write := range map[string]func() error{
		"terminal": func() error { return report.Terminal(broken{}, full(), report.Style{Terminal: true}) },
		"pipe":     func() error { return report.Terminal(broken{}, full(), report.Style{}) },
		"table":    func() error { return report.NewTable("a").Write(broken{}, report.Style{}) },
	} {
		if err := write(); !errors.Is(err, errBroken) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestEscape(t *testing.T) {
	tests := map[string]string{
		"plain text, ünï and 世界": "plain text, ünï and 世界",
		"\x1b]0;title\x07":       `\x1b]0;title\x07`,
		"one\ntwo\tthree\r":      `one\ntwo\tthree\r`,
		"\u009b31mred":           `\x9b31mred`,
		"evil\u202egnp.exe":      `evil\u202egnp.exe`,
		"a\u2028b\ufeff":         `a\u2028b\ufeff`,
		"tag\U000e0041":          `tag\U000e0041`,
		"broken \xff":            `broken \xff`,
		"family 👩\u200d👩\u200d👧": "family 👩\u200d👩\u200d👧",
	}
	for in, want := range tests {
		if got := report.Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEscapeJSON(t *testing.T) {
	text := "evil\u202egnp \u009b31m \x7f \U000e0041 世界 👩\u200d👧"
	doc, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	escaped := report.EscapeJSON(string(doc))
	if got := report.Escape(escaped); got != escaped {
		t.Errorf("%q is not safe to print", escaped)
	}
	var back string
	if err := json.Unmarshal([]byte(escaped), &back); err != nil || back != text {
		t.Errorf("%q reads as %q, %v; want %q", escaped, back, err, text)
	}
}

func TestEscapeIsAlwaysSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		for _, r := range report.Escape(in) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' {
				t.Fatalf("Escape(%q) holds %U", in, r)
			}
		}
	})
}
