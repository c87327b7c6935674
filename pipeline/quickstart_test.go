package pipeline_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/pipeline"
)

// TestQuickstartYieldsASet holds what the quickstart promises without a model:
// at least 30 active cases, nine in ten of them with evidence and a relevant
// chunk, for both versions of its corpus.
func TestQuickstartYieldsASet(t *testing.T) {
	for _, source := range []string{"docs", "docs-v2"} {
		t.Run(source, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", "quickstart"))); err != nil {
				t.Fatal(err)
			}
			p, err := pipeline.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			p.Config.Corpus.Source = source
			done, err := p.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			set, err := p.Store().Load(done.Summary.Golden.Ref)
			if err != nil {
				t.Fatal(err)
			}
			active, proven := proven(set)
			if active < 30 || float64(proven) < 0.9*float64(active) {
				t.Errorf("%d active cases, %d of them with evidence and a relevant chunk", active, proven)
			}
			if len(done.Evaluations) != len(p.Config.Eval.Retrievers) {
				t.Errorf("%d results for %d retrievers", len(done.Evaluations), len(p.Config.Eval.Retrievers))
			}
		})
	}
}

func proven(set *datasets.Set) (active, proven int) {
	for i := range set.Cases {
		c := &set.Cases[i]
		if c.Status != datasets.Active {
			continue
		}
		active++
		relevant := false
		for _, l := range c.Labels(datasets.SourceIn).Chunks {
			relevant = relevant || l.Grade != nil && *l.Grade >= set.Manifest.RelevantGrade
		}
		if relevant && len(c.Evidence) > 0 {
			proven++
		}
	}
	return active, proven
}
