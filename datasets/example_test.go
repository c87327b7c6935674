package datasets_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/goldgen/goldgen/datasets"
)

// A golden set from a team's own list of queries, and how its labels are read.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	queries := filepath.Join(dir, "queries.jsonl")
	line := `{"case_id": "q1", "query": "when do keys expire", "relevant_chunk_ids": ["a.md#0"]}`
	if err := os.WriteFile(queries, []byte(line), 0o644); err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	draft, report, err := datasets.Import(ctx, datasets.ImportOptions{Format: datasets.FormatJSONL, Queries: queries}, handbook())
	if err != nil {
		fmt.Println(err)
		return
	}
	store := &datasets.Store{Root: filepath.Join(dir, "golden"), Locks: filepath.Join(dir, "locks"), Now: time.Now}
	ref, changed, err := store.Write(ctx, "team", draft)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := store.Load("team")
	if err != nil {
		fmt.Println(err)
		return
	}
	label := datasets.EffectiveLabel(set.Case("q1"), "a.md#0", datasets.SourceIn)
	fmt.Println(ref, changed, report.Cases, *label.Grade, label.Human)
	// Output: team@v1 true 1 1 true
}

// Two people change a set at once, and both changes are kept.
func ExampleExport() {
	two := 2
	set := &datasets.Set{Manifest: datasets.Manifest{Name: "team", Version: 1, RelevantGrade: 2}, Cases: []datasets.Case{{
		ID: "q1", Query: "when do keys expire", Status: datasets.Active, Language: "en",
		Judgments: []datasets.Judgment{{ChunkID: "a.md#0", Grade: &two, By: datasets.ByHuman}},
	}}}
	stdout := func(_ string, write func(io.Writer) error) error { return write(os.Stdout) }
	report, err := datasets.Export(set, handbook(), datasets.ExportOptions{Format: datasets.FormatRagas}, stdout)
	fmt.Println(report.Lost, err)
	// Output:
	// {"case_id":"q1","user_input":"when do keys expire","reference_contexts":["Keys expire. Rotate them. "],"reference_context_ids":["a.md#0"]}
	// [{slices 1} {judges 1}] <nil>
}

func ExampleMerge() {
	base := &datasets.Set{Manifest: datasets.Manifest{Name: "team", Version: 1}, Cases: []datasets.Case{
		{ID: "q1", Query: "when do keys expire", Status: datasets.Active},
		{ID: "q2", Query: "who may see logs", Status: datasets.Active},
	}}
	ours, theirs := datasets.Derive(base, ""), datasets.Derive(base, "")
	ours.Cases[0].Tags = []string{"critical"}
	theirs.Cases[1].Status, theirs.Cases[1].Reason = datasets.Retired, "asked for twice"
	merged, report, err := datasets.Merge(base,
		&datasets.Set{Manifest: ours.Manifest, Cases: ours.Cases}, &datasets.Set{Manifest: theirs.Manifest, Cases: theirs.Cases}, "")
	if err != nil {
		fmt.Println(err, report.Conflicts)
		return
	}
	fmt.Println(merged.Cases[0].Tags, merged.Cases[1].Status, merged.Cases[1].Reason)
	// Output: [critical] retired asked for twice
}
