//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/internal/bucket/buckettest"
)

// TestExamples runs every example of every command's help, in the order of the
// stages, in a copy of examples/quickstart: what help shows works.
func TestExamples(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	examplesFolder(t)
	for _, assignment := range buckettest.New(t).Environ() {
		name, value, _ := strings.Cut(assignment, "=")
		t.Setenv(name, value)
	}
	order := []string{"doctor", "init", "run", "snapshot", "sample", "generate", "judge", "eval", "datasets tag", "datasets push"}
	var commands []*cobra.Command
	for _, name := range order {
		cmd, _, err := newRoot(&app{}).Find(strings.Fields(name))
		if err != nil {
			t.Fatal(err)
		}
		commands = append(commands, cmd)
	}
	var rest func(cmd *cobra.Command)
	rest = func(cmd *cobra.Command) {
		if !strings.Contains(strings.Join(order, " "), cmd.Name()) {
			commands = append(commands, cmd)
		}
		for _, child := range cmd.Commands() {
			rest(child)
		}
	}
	rest(newRoot(&app{}))
	for _, cmd := range commands {
		if cmd.Example == "" && !cmd.HasSubCommands() {
			t.Errorf("%s: its help has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			runExample(t, strings.TrimSpace(line))
		}
	}
}

// runExample gives a line to a shell that finds this goldgen.
func runExample(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// examplesFolder makes the folder that examples speak of and goes there.
func examplesFolder(t *testing.T) {
	t.Helper()
	quickstart, err := filepath.Abs("../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	project := filepath.Join("examples", "quickstart")
	for _, docs := range []string{filepath.Join(project, "docs"), filepath.Join("handbook", "docs")} {
		if err := os.CopyFS(docs, os.DirFS(filepath.Join(quickstart, "docs"))); err != nil {
			t.Fatal(err)
		}
	}
	config, err := os.ReadFile(filepath.Join(quickstart, "goldgen.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	search := `#!/bin/sh
while read -r line; do
	id=${line#*\"id\":\"}
	echo "{\"id\":\"${id%%\"*}\",\"hits\":[]}"
done
`
	for name, content := range map[string]string{
		filepath.Join(project, "goldgen.yaml"):  string(config),
		filepath.Join(project, "my-search"):     search,
		filepath.Join(project, "cases.jsonl"):   `{"case_id": "paid", "query": "how is an invoice paid?", "relevant_chunk_ids": ["billing/invoices.md#0"]}` + "\n",
		filepath.Join(project, "answers.jsonl"): `{"case_id": "paid", "answer": "By direct debit [1].", "contexts": [{"chunk_id": "billing/invoices.md#0"}]}` + "\n",
		"qrels.txt":                             "q1 0 d1 1\nq1 0 d2 0\n",
		"run.txt":                               "q1 Q0 d1 1 2.5 mine\nq1 Q0 d2 2 1.5 mine\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
