package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/review"
)

// drawnOutside makes a set whose judge graded, beside each case's own document,
// two random ones of the forty, as not relevant.
func drawnOutside(state string) func(*datasets.Draft) {
	return func(d *datasets.Draft) {
		d.Manifest.RelevantGrade = judge.RelevantGrade
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustJudged, Judge: state, Why: "a judge"}
		for i := range d.Cases {
			c := &d.Cases[i]
			c.Source = []string{document(i)}
			c.Judgments = []datasets.Judgment{datasets.SourceJudgment(document(i), document(i))}
			for _, at := range []int{(i + 7) % 36, (i + 13) % 36} {
				j := datasets.Judgment{
					ChunkID: document(at), DocID: document(at), By: datasets.ByLLM, Judge: "m",
					Features: map[string]float64{"random": 1}, Inclusion: .05,
				}
				if state == judge.Passed {
					j.Grade, j.Label = new(int), datasets.LabelIrrelevant
				}
				c.Judgments = append(c.Judgments, j)
			}
		}
		d.Manifest.Missed = judge.MissedIn(d.Cases, judge.RelevantGrade, state == judge.Passed)
	}
}

// missed is what the newest version says of chunks outside the pools.
func (b *bench) missed(t *testing.T) *datasets.Interval {
	t.Helper()
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	return set.Manifest.Missed
}

// Two chunks of 40 were drawn for each case, so each stands for twenty: one that a
// person finds relevant is 20 chunks over 24 cases.
func TestWhatPeopleSayOfRandomChunksIsInMissedPerQuery(t *testing.T) {
	for name, finish := range map[string]func(*testing.T, *bench){
		"review": func(t *testing.T, b *bench) {
			r := b.review(t, pipeline.ReviewOptions{Sample: review.SampleRandom, N: 200})
			for n, pair := range r.Sample.Pairs {
				if pair.CaseID == "q04" && pair.ChunkID == "d11" {
					three := 3
					if _, err := r.Label(t.Context(), n, review.Said{Grade: &three}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := r.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"calibrate": func(t *testing.T, b *bench) {
			labels := b.labelFile(t, "q04,d11,3,ann,1", "q05,d01,0,ann,1", "q06,d06,2,ann,1")
			b.calibrate(t, pipeline.CalibrateOptions{Labels: labels, Apply: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, drawnOutside(judge.Passed))
			before := b.missed(t)
			finish(t, b)
			now := b.missed(t)
			if before == nil || before.Value != 0 || now == nil || !near(now.Value, datasets.Round(20./benchCases)) || now.Low <= 0 || now.High <= before.High {
				t.Errorf("from %+v to %+v", before, now)
			}
		})
	}
}

// Where the judge is blind, the sample speaks once people have labelled some of it.
func TestPeopleAloneSayWhatWasMissed(t *testing.T) {
	b := newBench(t, drawnOutside(judge.Blind))
	if m := b.missed(t); m != nil {
		t.Errorf("missed %+v by a blind judge", m)
	}
	b.calibrate(t, pipeline.CalibrateOptions{Labels: b.labelFile(t,
		"q04,d11,3,ann,1", "q05,d12,0,ann,1", "q06,d13,0,ann,1", "q07,d14,0,ann,1", "q06,d06,2,ann,1"), Apply: true})
	// one of four labelled: 10 of the 40 chunks that two draws stand for; Wilson's interval of 1 in 4
	if diff := cmp.Diff(&datasets.Interval{Value: 10, Low: 1.8235, High: 27.9743}, b.missed(t)); diff != "" {
		t.Error(diff)
	}
}
