package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
)

// TestComparisonIsAFunctionOfFolders holds that nothing but the two folders
// matters: moved elsewhere, without the project, they give the comparison that
// the inputs themselves give.
func TestComparisonIsAFunctionOfFolders(t *testing.T) {
	for name, change := range map[string]func(*datasets.Draft){"certain labels": nil, "uncertain labels": uncertainLabels} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, change)
			base := b.score(t, b.run(t, "base", func(i int) int { return 1 + i%2 }), pipeline.EvalOptions{}).Path
			candidate := b.score(t, b.run(t, "candidate", func(i int) int { return 1 + i%4 }), pipeline.EvalOptions{}).Path
			gate, err := eval.ParseGate("ndcg@5 drop <= 0.05")
			if err != nil {
				t.Fatal(err)
			}
			want, err := eval.Compare(eval.CompareInput{
				Base: read(t, base).Input, Candidate: read(t, candidate).Input,
				GateOptions: eval.GateOptions{Gates: []eval.Gate{gate}, Alpha: 0.05},
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := pipeline.Compare(nil, pipeline.CompareOptions{
				Base: moved(t, base), Candidate: moved(t, candidate),
				GateChoice: pipeline.GateChoice{Gates: []string{"ndcg@5 drop <= 0.05"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(comparisonJSON(t, want), comparisonJSON(t, got)); diff != "" {
				t.Error(diff)
			}
			if len(got.Metrics) == 0 || !got.Comparable {
				t.Errorf("nothing was compared: %v", got.Differs)
			}
		})
	}
}

// TestUncertainLabelsReachTheVerdict holds that probabilities that a result
// keeps widen the comparison's intervals, as they do at scoring.
func TestUncertainLabelsReachTheVerdict(t *testing.T) {
	b := newBench(t, uncertainLabels)
	base := b.score(t, b.run(t, "base", func(int) int { return 1 }), pipeline.EvalOptions{}).Path
	candidate := b.score(t, b.run(t, "candidate", func(i int) int { return i % 6 }), pipeline.EvalOptions{}).Path
	c, err := pipeline.Compare(nil, pipeline.CompareOptions{Base: base, Candidate: candidate})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(c.Method, "uncertain labels") {
		t.Errorf("method is %q", c.Method)
	}
	for _, d := range c.Metrics {
		if d.Name == "recall@5" && (d.LabelShare == nil || *d.LabelShare <= 0) {
			t.Errorf("recall@5 has no share of label variance: %+v", d)
		}
	}
}

// TestCompareUnderAnotherVersion holds that rankings are scored under the
// labels of the version that is named, whichever they were made under.
func TestCompareUnderAnotherVersion(t *testing.T) {
	b := newBench(t, nil)
	base := b.score(t, b.run(t, "base", func(int) int { return 1 }), pipeline.EvalOptions{}).Path
	snapshot, _, err := b.MakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	b.commit(t, snapshot, func(d *datasets.Draft) { // document i+1 is what case i asks for, and two cases are new or reworded
		for i := range d.Cases {
			wrong, right := 0, 2
			d.Cases[i].Judgments[0].Grade, d.Cases[i].Judgments[1].Grade = &wrong, &right
			d.Cases[i].Judgments[0].Label, d.Cases[i].Judgments[1].Label = datasets.LabelIrrelevant, datasets.LabelRelevant
		}
		d.Cases[0].ID, d.Cases[1].Query = "new", "another question"
	})
	candidate := b.score(t, b.run(t, "candidate", func(int) int { return 2 }), pipeline.EvalOptions{}).Path
	c, err := pipeline.Compare(b.Project, pipeline.CompareOptions{Base: base, Candidate: candidate, Golden: b.set.String(), Common: true})
	if err != nil {
		t.Fatal(err)
	}
	if c.Golden.Digest != b.set.Digest || c.Cases != benchCases-2 {
		t.Errorf("compared %d cases of %s, want %d of %s", c.Cases, c.Golden.Ref, benchCases-2, b.set)
	}
	for _, d := range c.Metrics {
		if d.Name == "recall@1" && (*d.Base != 0 || *d.Candidate != 1) {
			t.Errorf("recall@1 is %v and %v, want 0 and 1", *d.Base, *d.Candidate)
		}
	}
	notes := strings.Join(c.Notes, "\n")
	for _, want := range []string{"base: 1 case of records@v2 was not asked", "base: 1 case of records@v2 was asked with another query"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
}

// moved copies a folder to where no project is.
func moved(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "result")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func comparisonJSON(t *testing.T, c *eval.Comparison) string {
	t.Helper()
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
