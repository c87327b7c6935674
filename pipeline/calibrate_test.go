package pipeline_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
)

// calibrate runs a calibration that must work.
func (b *bench) calibrate(t testing.TB, o pipeline.CalibrateOptions) *pipeline.Calibrated {
	t.Helper()
	c, err := b.Calibrate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// labelFile writes label lines under a header.
func (b *bench) labelFile(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(b.Dir, "labels.csv")
	write(t, path, "case_id,chunk_id,grade,by,inclusion\n"+strings.Join(lines, "\n")+"\n")
	return path
}

// mixedLabels are one relevant and two other pairs of each of n cases.
func mixedLabels(n int) []string {
	var lines []string
	for i := range n {
		for j := range 3 {
			lines = append(lines, fmt.Sprintf("%s,%s,%d,ann,1", caseID(i), document((i+j)%36), 2-2*min(j, 1)))
		}
	}
	return lines
}

func TestCalibrateReadsWhatPeopleWrote(t *testing.T) {
	b := newBench(t, nil)
	path := b.labelFile(t, append(mixedLabels(10),
		"q00,d00,3,ann,1",    // again: the last counts
		"q01,d01,0,bob,1",    // another person: the lower of 2 and 0
		"q02,d05,,ann,1",     // not labelled yet
		"q99,d00,1,ann,1",    // no such case
		"q03,nosuch,1,ann,1", // no such chunk
		"q03,d03,7,ann,1",    // no grade
		"q03,d03,good,ann,1",
		"q03,d03,1,ann,2", // no probability
	)...)
	got := b.calibrate(t, pipeline.CalibrateOptions{Labels: path})
	want := pipeline.LabelReport{
		Read: 37, Used: 30, Empty: 1, Replaced: 1, Joined: 1, MinGrade: 1,
		Left: []pipeline.LabelFault{
			{Where: "line 37", CaseID: "q03", ChunkID: "d03", Why: "grade 7 is outside of 0 to 3"},
			{Where: "line 38", CaseID: "q03", ChunkID: "d03", Why: `grade "good" is no whole number`},
			{Where: "line 39", CaseID: "q03", ChunkID: "d03", Why: "inclusion 2 is not above 0 and at most 1"},
			{Where: "line 35", CaseID: "q99", ChunkID: "d00", Why: "no such case in records@v1"},
			{Where: "line 36", CaseID: "q03", ChunkID: "nosuch", Why: "no such chunk, or a document of several, in the snapshot"},
		},
	}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Error(diff)
	}
	if p := got.Calibration.Profile; p.Training.Relevant != 9 || cmp.Diff([]string{"labels.csv"}, p.Training.From) != "" {
		t.Errorf("fitted on %+v", p.Training)
	}
}

// TestCalibrateKeepsWhoLabelled: by the column by or who, else by the file's name.
func TestCalibrateKeepsWhoLabelled(t *testing.T) {
	for column, want := range map[string]string{",by": "ann", ",who": "ann", ",note": "labels.csv"} {
		b := newBench(t, func(d *datasets.Draft) {
			for i := range d.Cases {
				d.Cases[i].Judgments = []datasets.Judgment{datasets.SourceJudgment(document(i), document(i))}
			}
		})
		path := filepath.Join(b.Dir, "labels.csv")
		write(t, path, "case_id,chunk_id,grade"+column+"\nq00,d00,2,ann\nq00,d01,0,ann\n")
		b.calibrate(t, pipeline.CalibrateOptions{Labels: path, Apply: true})
		set, err := b.Store().Load("records")
		if err != nil {
			t.Fatal(err)
		}
		who := map[string]int{}
		for _, j := range set.Cases[0].Judgments {
			if j.By == datasets.ByHuman {
				who[j.Judge]++
			}
		}
		if diff := cmp.Diff(map[string]int{want: 2}, who); diff != "" {
			t.Errorf("%s: %s", column, diff)
		}
	}
}

func TestCalibrateRefusesFilesThatAreNotWhole(t *testing.T) {
	b := newBench(t, nil)
	for text, want := range map[string]string{
		"":                                      "no header",
		"case_id,chunk_id\nq,c\n":               "no column grade",
		"case_id,chunk_id,grade\nq00,d00,1":     "ends in the middle of a line",
		"case_id,chunk_id,grade\nq00,d00\n":     "wrong number of fields",
		"case_id,chunk_id,grade\nq00,d00,\n":    "none in it; 1 row has no grade yet",
		"case_id,chunk_id,grade\nq98,d00,1\n":   "none of 1 can be used for records@v1: line 2: no such case in records@v1",
		"case_id,chunk_id,grade\nq00,d00,7\n":   "none of 1 can be used for records@v1: line 2: grade 7 is outside of 0 to 3",
		"case_id,chunk_id,grade\n\"q00,d00,1\n": "extraneous or missing",
	} {
		path := filepath.Join(b.Dir, "labels.csv")
		write(t, path, text)
		if _, err := b.Calibrate(t.Context(), pipeline.CalibrateOptions{Labels: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestCalibrateRefusesQrelsThatAreBeingWritten(t *testing.T) {
	b := newBench(t, nil)
	path := filepath.Join(b.Dir, "labels.qrels")
	write(t, path, "q00 0 d00 1\nq01 0 d01 1")
	_, err := b.Calibrate(t.Context(), pipeline.CalibrateOptions{Labels: path})
	if err == nil || !strings.Contains(err.Error(), "labels.qrels: ends in the middle of a line") {
		t.Errorf("got %v", err)
	}
}

// TestCalibrateKeepsInclusionInTheSet: labels that were sampled weigh the same
// when they are read again from the set that they were written into.
func TestCalibrateKeepsInclusionInTheSet(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustSourceOnly, Why: "the label is the source chunk"}
		for i := range d.Cases {
			d.Cases[i].Source = []string{document(i)}
			d.Cases[i].Judgments = []datasets.Judgment{datasets.SourceJudgment(document(i), document(i))}
		}
	})
	lines := mixedLabels(10)
	for i := range lines {
		if i%3 == 2 {
			lines[i] = strings.TrimSuffix(lines[i], "1") + "0.05"
		}
	}
	want := b.calibrate(t, pipeline.CalibrateOptions{Labels: b.labelFile(t, lines...), Apply: true})
	got := b.calibrate(t, pipeline.CalibrateOptions{Labels: want.Written.Ref, Golden: want.Golden.Ref})
	if diff := cmp.Diff(want.Calibration.Prior, got.Calibration.Prior); diff != "" {
		t.Error(diff)
	}
	if got.Calibration.Prior.Share > 0.1 {
		t.Errorf("%.3f of the pairs are relevant: the sampled ones do not stand for 20 each", got.Calibration.Prior.Share)
	}
}

// TestCalibrateTakesQrelsAndSets: the same labels in three forms fit the same
// model.
func TestCalibrateTakesQrelsAndSets(t *testing.T) {
	b := newBench(t, nil)
	var qrels strings.Builder
	for i := range benchCases {
		for j := range 3 {
			fmt.Fprintf(&qrels, "%s 0 %s %d\n", caseID(i), document((i+j)%36), 2-2*min(j, 1))
		}
	}
	file := filepath.Join(b.Dir, "labels.qrels")
	write(t, file, qrels.String())
	csv := b.labelFile(t, mixedLabels(benchCases)...)
	want := b.calibrate(t, pipeline.CalibrateOptions{Labels: csv}).Calibration.Profile
	for name, labels := range map[string]string{"qrels": file, "set": "records"} {
		got := b.calibrate(t, pipeline.CalibrateOptions{Labels: labels}).Calibration.Profile
		if diff := cmp.Diff(want.Model, got.Model); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCalibrateOnOneClassWritesNothing(t *testing.T) {
	b := newBench(t, nil)
	path := b.labelFile(t, "q00,d00,2,ann,1", "q01,d01,3,ann,1")
	got := b.calibrate(t, pipeline.CalibrateOptions{Labels: path, Next: 3})
	if !got.Calibration.Kept || got.Path != "" || len(got.Texts) != 3 || !strings.HasPrefix(got.Texts[0].Passage, "Record d") {
		t.Errorf("kept %v, written %q, texts %+v", got.Calibration.Kept, got.Path, got.Texts)
	}
}

// TestCalibrateApplyKeepsPeoplesLabels: the new version reads a person's grade
// where there is one, and a probability elsewhere.
func TestCalibrateApplyKeepsPeoplesLabels(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustSourceOnly, Why: "the label is the source chunk"}
		for i := range d.Cases {
			d.Cases[i].Judgments = []datasets.Judgment{datasets.SourceJudgment(document(i), document(i))}
			d.Cases[i].Source = []string{document(i)}
		}
	})
	got := b.calibrate(t, pipeline.CalibrateOptions{Labels: b.labelFile(t, mixedLabels(12)...), Apply: true})
	if got.Written == nil || got.Written.Ref != "records@v2" {
		t.Fatalf("written: %+v", got.Written)
	}
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	if trust := set.Manifest.Trust; trust.Level != datasets.TrustFitted || trust.Figures["label_pairs"] == 0 {
		t.Errorf("trust %+v", trust)
	}
	grown := false
	for i := range set.Cases {
		labels := set.Cases[i].Labels(datasets.SourceJudged).Chunks
		first := labels[document(i)]
		if human := i < 12; first.Human != human || (first.P != nil) == human || !first.Known {
			t.Errorf("%s: %+v", caseID(i), first)
		}
		if len(labels) < 13 {
			t.Errorf("%s: %d labels", caseID(i), len(labels))
		}
		for _, id := range set.Cases[i].HardNegatives {
			if l := labels[id]; !(l.Human && *l.Grade == 0 || l.P != nil && *l.P < 0.1) {
				t.Errorf("%s: %s is no hard negative: %+v", caseID(i), id, l)
			}
			grown = grown || labels[id].Human
		}
	}
	for _, j := range set.Cases[3].Judgments {
		if j.By == datasets.ByHuman && j.Judge != "ann" {
			t.Errorf("labelled by %q: %+v", j.Judge, j)
		}
	}
	if !grown {
		t.Error("no chunk that a person found wrong is a hard negative")
	}
	if problems, err := datasets.Verify(t.Context(), got.Written.Path, nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
}

// TestCalibrateApplyLowersReviewed: where a label model's chances stand for pairs
// that nobody graded, people's judgments do not settle the set.
func TestCalibrateApplyLowersReviewed(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustReviewed, Why: "people's judgments, imported from labels.csv"}
	})
	b.calibrate(t, pipeline.CalibrateOptions{Labels: b.labelFile(t, mixedLabels(12)...), Apply: true})
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	trust := set.Manifest.Trust
	if trust.Level != datasets.TrustFitted || !strings.Contains(trust.Why, "that are known; people's judgments, imported from labels.csv; ") {
		t.Errorf("trust %s: %s", trust.Level, trust.Why)
	}
}

func TestJudgeLabelsIsOneOfFour(t *testing.T) {
	_, err := pipeline.ParseConfig([]byte("version: 1\nname: x\ncorpus: {source: docs}\njudge: {labels: best}\n"), "goldgen.yaml")
	if err == nil || !strings.Contains(err.Error(), `judge: labels: "best", valid are auto, none, prior, fitted`) {
		t.Errorf("got %v", err)
	}
}

// TestCompareTakesInTheShiftVariance: results over a set that a label model
// labelled keep its shift variances, and their comparison is the wider for it.
func TestCompareTakesInTheShiftVariance(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) {
		d.Manifest.Trust = datasets.Trust{Level: datasets.TrustSourceOnly, Why: "the label is the source chunk"}
		for i := range d.Cases {
			d.Cases[i].Source = []string{document(i)}
			d.Cases[i].Judgments = []datasets.Judgment{datasets.SourceJudgment(document(i), document(i))}
		}
	})
	b.calibrate(t, pipeline.CalibrateOptions{Labels: b.labelFile(t, mixedLabels(8)...), Apply: true})
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	o := pipeline.EvalOptions{Measures: "ndcg@10", Source: "in"}
	base := b.score(t, b.run(t, "base", func(i int) int { return 2 + i%3 }), o)
	candidate := b.score(t, b.run(t, "candidate", func(i int) int { return 1 + i%2 }), o)
	kept := make([]*pipeline.Kept, 2)
	for i, e := range []*pipeline.Evaluation{base, candidate} {
		r, err := pipeline.ReadResult(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(judge.ShiftsIn(set.Manifest.Trust.Figures, datasets.SourceIn), r.Scoring.Shift); diff != "" || len(r.Scoring.Shift) == 0 {
			t.Errorf("shift variances of %s: %s", e.Path, diff)
		}
		if kept[i], err = r.Read(); err != nil {
			t.Fatal(err)
		}
	}
	with, err := pipeline.Compare(nil, pipeline.CompareOptions{Base: base.Path, Candidate: candidate.Path})
	if err != nil {
		t.Fatal(err)
	}
	without, err := eval.Compare(eval.CompareInput{Base: kept[0].Input, Candidate: kept[1].Input})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := width(t, with), width(t, without); !(a > b) {
		t.Errorf("the interval is %.4f wide with the shift variance, %.4f without", a, b)
	}
}

func width(t testing.TB, c *eval.Comparison) float64 {
	t.Helper()
	d, ok := c.Metrics.Get("ndcg@10")
	if !ok || d.Low == nil || d.High == nil {
		t.Fatalf("no interval: %+v", c)
	}
	return *d.High - *d.Low
}
