package generate_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/retrieve"
)

var types = []string{datasets.Factual, datasets.Keyword, datasets.Reformulated}

func TestBuiltinIsSeeded(t *testing.T) {
	u := whole("d", pumpText, datasets.Factual)
	stats := statsOf(strings.SplitAfter(pumpText, "\n")...)
	first := write(t, generate.NewBuiltin(stats, 1), u)
	if diff := cmp.Diff(first, write(t, generate.NewBuiltin(stats, 1), u)); diff != "" {
		t.Errorf("the same seed gave another case:\n%s", diff)
	}
	queries := map[string]bool{}
	for seed := range int64(10) {
		if o := write(t, generate.NewBuiltin(stats, seed), u); o.Case != nil {
			queries[o.Case.Query] = true
		}
	}
	if len(queries) < 3 {
		t.Errorf("10 seeds gave %d queries", len(queries))
	}
}

func TestBuiltinTypesLookDifferent(t *testing.T) {
	stats := statsOf(strings.SplitAfter(pumpText, "\n")...)
	for queryType, want := range map[string]func(string) bool{
		datasets.Factual:      func(q string) bool { return strings.HasPrefix(q, "What ") && strings.HasSuffix(q, "?") },
		datasets.Keyword:      func(q string) bool { n := len(strings.Fields(q)); return n >= 2 && n <= 4 },
		datasets.Reformulated: func(q string) bool { return strings.HasPrefix(q, "looking for help with ") },
	} {
		o := write(t, generate.NewBuiltin(stats, 1), whole("d", pumpText, queryType))
		if o.Case == nil || !want(o.Case.Query) {
			t.Errorf("%s: %+v %+v", queryType, o.Case, o.Reject)
		}
	}
}

func TestBuiltinCase(t *testing.T) {
	stats := statsOf(strings.SplitAfter(pumpText, "\n")...)
	o := write(t, generate.NewBuiltin(stats, 5), whole("d", pumpText, datasets.Keyword))
	if o.Case == nil {
		t.Fatalf("rejected: %+v", o.Reject)
	}
	want := datasets.Provenance{Generator: "builtin", Seed: 5, Stratum: "all"}
	if diff := cmp.Diff(want, o.Case.Provenance); diff != "" || o.Case.Judgments[0].Judge != "builtin" {
		t.Errorf("provenance (-want +got):\n%s", diff)
	}
	in := map[string]bool{}
	for _, term := range retrieve.Terms(pumpText) {
		in[term] = true
	}
	for _, term := range retrieve.Terms(o.Case.Query) {
		if !in[term] {
			t.Errorf("%q is no term of the chunk", term)
		}
	}
}

// Tables, code and one-line chunks are asked about as well: there is no model
// that could do better.
func TestBuiltinTakesWhatThereIs(t *testing.T) {
	for name, text := range map[string]string{
		"table":   "| part | price |\n|---|---|\n| ceramic seal | 12 euros |\n| hose clamp | 3 euros |\n",
		"code":    "```go\nfunc OpenValve(pump Pump) error { return pump.relief.open() }\n```\n",
		"German":  "Das Überdruckventil der Pumpe schließt bei sechs Bar und schützt den Schlauch.\n",
		"Chinese": "这个泵的安全阀在压力超过六巴时会自动关闭以保护软管。\n",
		"slot 5":  "Pump seals last long.\n",
	} {
		for _, queryType := range types {
			u := whole("d", text, queryType)
			u.Row.Slot = len(name) // any slot
			o := write(t, generate.NewBuiltin(statsOf(text, "pump and valve", "other"), 1), u)
			if o.Case == nil || len(o.Case.Evidence) != 1 {
				t.Errorf("%s, %s: %+v", name, queryType, o.Reject)
			}
		}
	}
	if o := write(t, generate.NewBuiltin(statsOf(), 1), whole("d", "12 34 -- !\n", datasets.Factual)); o.Reject == nil || o.Reject.Reason != generate.ReasonNoTarget {
		t.Errorf("a chunk without words: %+v", o)
	}
}

func TestTypesThatNobodyWrites(t *testing.T) {
	u := whole("d", pumpText, datasets.MultiHop)
	for name, w := range map[string]generate.Writer{
		"model": newModel(t, says("", 1), options()), "builtin": generate.NewBuiltin(statsOf(pumpText), 1),
	} {
		if o := write(t, w, u); o.Reject == nil || o.Reject.Reason != generate.ReasonTypeUnknown {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// Nine in ten chunks of the quickstart must give a case with evidence.
func TestBuiltinOnTheQuickstart(t *testing.T) {
	dir := filepath.Join("..", "examples", "quickstart", "docs")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("no documents in " + dir)
		}
		t.Skip("no documents in " + dir)
	}
	var texts []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	w := generate.NewBuiltin(statsOf(texts...), 7)
	asked, kept := 0, 0
	for i, text := range texts {
		doc := corpus.Document{ID: files[i], Text: text}
		for _, cut := range paragraphs(text) {
			for _, queryType := range types {
				o, err := w.Write(context.Background(), unit(doc, cut[0], cut[1], queryType, 0))
				if err != nil {
					t.Fatal(err)
				}
				asked++
				if o.Case != nil && len(o.Case.Evidence) == 1 {
					kept++
				}
			}
		}
	}
	if asked == 0 || float64(kept) < .9*float64(asked) {
		t.Errorf("%d of %d rows gave a case with evidence", kept, asked)
	}
}

// paragraphs cuts a text into chunks of at least 200 bytes at blank lines.
func paragraphs(text string) [][2]int {
	var cuts [][2]int
	start := 0
	for i := range text {
		if i-start >= 200 && strings.HasPrefix(text[i:], "\n\n") {
			cuts = append(cuts, [2]int{start, i})
			start = i
		}
	}
	return slices.Clip(cuts)
}
