//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// ciScript is the commands of an example of examples/ci in their order. What
// installs goldgen or posts to a forge is left out.
func ciScript(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "ci", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Jobs struct {
			Gate struct {
				Steps []struct {
					Run string
					If  string
				}
			}
		}
		Retrieval struct{ Script []string }
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	lines := file.Retrieval.Script
	for _, step := range file.Jobs.Gate.Steps {
		lines = append(lines, step.Run)
	}
	var script []string
	for _, line := range lines {
		if line != "" && !strings.Contains(line, "go install") && !strings.Contains(line, "gh pr") {
			script = append(script, line)
		}
	}
	return strings.Join(script, "\n")
}

// TestCIExamples runs what the examples tell a CI to run: a branch that
// retrieves as before passes, one that finds nothing ends with the gate's exit
// code, and both leave the report, the test report and the comment.
func TestCIExamples(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, example := range []string{"github-actions.yml", "gitlab-ci.yml"} {
		for retriever, code := range map[string]int{"bm25": 0, "exec:sh nothing.sh": 4} {
			t.Run(example+"/"+retriever, func(t *testing.T) {
				dir := ciProject(t)
				cmd := exec.Command("bash", "-e", "-c", ciScript(t, example))
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "RETRIEVER="+retriever, "GOLDGEN_ACCEPT_UNTRUSTED=true",
					"GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md"), "PAGE=https://ci.example.com/1", "CI_JOB_URL=https://ci.example.com/1")
				out, err := cmd.CombinedOutput()
				if err != nil && cmd.ProcessState == nil {
					t.Fatal(err)
				}
				if got := cmd.ProcessState.ExitCode(); got != code {
					t.Errorf("exit code %d, want %d\n%s", got, code, out)
				}
				for file, want := range map[string]string{"report.html": "<!doctype html>", "junit.xml": "recall@10 drop", "comment.md": "https://ci.example.com/1"} {
					if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), want) {
						t.Errorf("%s does not hold %q (%v)\n%s", file, want, err, out)
					}
				}
			})
		}
	}
}

// findsNothing answers every query with an empty ranking.
const findsNothing = `while read -r line; do
  printf '{"id":"%s","hits":[]}\n' "$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')"
done
`

// ciProject is a checkout as the examples expect it: a golden set, gates and
// the result of the main branch.
func ciProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	quickstart := filepath.Join("..", "..", "examples", "quickstart")
	if err := os.CopyFS(filepath.Join(dir, "docs"), os.DirFS(filepath.Join(quickstart, "docs", "billing"))); err != nil {
		t.Fatal(err)
	}
	yaml := "version: 1\nname: handbook\ncorpus: {source: docs}\nsample: {cases: 12}\n" +
		"eval: {k: [1, 10], retrievers: [bm25], gates: [\"recall@10 drop <= 0.05\"]}\n"
	for name, text := range map[string]string{"goldgen.yaml": yaml, "nothing.sh": findsNothing} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"run", "-q"}, {"eval", "-q", "--retriever", "bm25", "--out", "results/main"}} {
		cmd := exec.Command("goldgen", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("goldgen %v: %v\n%s", args, err, out)
		}
	}
	return dir
}
