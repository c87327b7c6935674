package datasets_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// full is a draft in which every nested column holds something.
func full() datasets.Draft {
	d := handbookDraft()
	grade, rank, p, answer := 1, 4, 0.25, "after a day"
	asOf := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	c := &d.Cases[0]
	c.Tags, c.AsOf, c.ReferenceAnswer = []string{"critical", "é"}, &asOf, &answer
	c.Scope = corpus.Scope{"team": {"ops", "dev"}, "tenant": {"a"}}
	c.Filters = []corpus.Filter{{Field: "language", Op: "in", Values: []string{"en", "de"}}}
	c.Difficulty = datasets.Difficulty{SourceRankBM25: &rank, Overlap: 0.5}
	c.Checks = []datasets.Check{{Name: "length", Passed: true, Value: 4}}
	c.Judgments = append(c.Judgments,
		datasets.Judgment{ChunkID: "a.md#0", DocID: "a.md", By: datasets.ByLLM, Grade: &grade, Inclusion: 1, Features: map[string]float64{"expected_grade": 1.2, "rank_bm25": 4}},
		datasets.Judgment{ChunkID: "a.md#1", DocID: "a.md", By: datasets.ByLabelModel, P: &p, PDraws: []float64{0.2, 0.3}, Inclusion: 0.5, Spans: []datasets.Span{{Start: 26, End: 38}}},
		datasets.Judgment{ChunkID: "b.md#0", DocID: "b.md", By: datasets.ByLLM, Inclusion: 1},
	)
	bare := *c
	bare.ID, bare.Judgments, bare.Source, bare.Evidence, bare.Scope, bare.AsOf = fmt.Sprintf("%016x", 2), nil, nil, nil, nil, nil
	d.Cases = append(d.Cases, bare)
	return d
}

// Other programs read the nested columns. GOLDGEN_PYTHON names an interpreter
// with duckdb, pyarrow and pandas; CI sets it.
func TestDuckDBAndPyarrow(t *testing.T) {
	python := os.Getenv("GOLDGEN_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("GOLDGEN_PYTHON is not set")
		}
		t.Skip("set GOLDGEN_PYTHON to a python with duckdb, pyarrow and pandas")
	}
	ref := write(t, newStore(t), "set", full())
	script := filepath.Join("testdata", "read_parquet.py")
	out, err := exec.Command(python, script, ref.Path).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	// a set without rows has its columns too
	none := full()
	none.Cases, none.Rejects = nil, nil
	ref = write(t, newStore(t), "none", none)
	if out, err := exec.Command(python, script, ref.Path).CombinedOutput(); err != nil {
		t.Fatalf("no rows: %v: %s", err, out)
	}
}
