package pipeline_test

import (
	"strings"
	"testing"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/pipeline"
)

// A set that people graded whole is theirs no more once a judge has graded what they
// did not. The builtin judge knows that chunks without a word of the query are not
// relevant, and of all others nothing.
func TestExtendingASetThatPeopleGradedIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		query string
		want  datasets.Trust
	}{
		"the judge graded some": {"zebra", datasets.Trust{
			Level: datasets.TrustSourceOnly, Judge: "untested",
			Why: "people graded 72 of the 74 pairs that have a grade, and the judge builtin, which is untested, the others",
		}},
		"the judge knew nothing": {"procedure number 0", datasets.Trust{Level: datasets.TrustReviewed, Why: "people's judgments"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(d *datasets.Draft) { d.Cases[0].Query = tt.query })
			e := b.score(t, b.run(t, "other", func(int) int { return 1 }), pipeline.EvalOptions{})
			committed, err := b.Extend(t.Context(), pipeline.ExtendOptions{Golden: "records", From: []string{e.Path}})
			if err != nil {
				t.Fatal(err)
			}
			if got := committed.Manifest.Trust; got.Level != tt.want.Level || got.Judge != tt.want.Judge || !strings.HasPrefix(got.Why, tt.want.Why) {
				t.Errorf("trust %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Probabilities of a label model for what people did not grade lower it likewise.
func TestExtendingASetThatPeopleGradedByALabelModel(t *testing.T) {
	b := newBench(t, nil)
	b.Config.Judge.Provider, b.Config.Judge.Labels = pipeline.ProviderNone, "prior"
	e := b.score(t, b.run(t, "other", func(int) int { return 1 }), pipeline.EvalOptions{})
	committed, err := b.Extend(t.Context(), pipeline.ExtendOptions{Golden: "records", From: []string{e.Path}})
	if err != nil {
		t.Fatal(err)
	}
	if got := committed.Manifest.Trust; got.Level != datasets.TrustPrior {
		t.Errorf("trust %+v", got)
	}
}
