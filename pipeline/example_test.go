package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/pipeline"
)

// A project folder goes from documents to a golden set and scores in one call.
// Without a model in goldgen.yaml the set shows how the stages work and says
// that it is worth nothing.
func ExampleProject_Run() {
	dir, err := handbookProject()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	p, err := pipeline.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	done, err := p.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.Summary.Golden.Ref, done.Summary.Active, "active cases, trust", done.Summary.Trust.Level)
	for _, e := range done.Evaluations {
		fmt.Println(e.Result.Retriever.Name, "over", e.Result.Counts.Scored, "cases")
	}
	// Output:
	// handbook@v1 2 active cases, trust none
	// bm25 over 2 cases
}

// Each stage can be called alone; what one gives is what the next takes.
func ExampleProject_Generate() {
	dir, err := handbookProject()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	p, err := pipeline.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	if _, _, err := p.MakeSnapshot(ctx, ""); err != nil {
		fmt.Println(err)
		return
	}
	plan, rows, err := p.Sample(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	candidates, err := p.Generate(ctx, plan, rows)
	if err != nil {
		fmt.Println(err)
		return
	}
	committed, err := p.Judge(ctx, candidates.Header, candidates.Records)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Cases, "cases planned,", candidates.Summary.Spare, "spare query,", committed.Manifest.Counts.Active, "cases in", committed.Ref)
	// Output: 2 cases planned, 1 spare query, 2 cases in handbook@v1
}

// handbookProject makes a folder with a goldgen.yaml and three documents.
func handbookProject() (string, error) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"goldgen.yaml":  "version: 1\nname: handbook\ncorpus: {source: docs}\nsample: {cases: 2, mix: {factual: 1}, strata: []}\n",
		"docs/pump.md":  "# Pump\n\nThe relief valve of the pump closes at six bar and protects the hose from bursting.\n",
		"docs/kiln.md":  "# Kiln\n\nGlazed tiles are fired in the kiln for nine hours before they cool on the rack.\n",
		"docs/hours.md": "# Opening hours\n\nThe studio opens at nine on weekdays and closes at six after the last class.\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}
