package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
)

// verdictFile writes verdict lines under a header.
func (b *bench) verdictFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(b.Dir, "verdicts.csv")
	write(t, path, "case_id,question,claim,verdict,by,inclusion\n"+strings.Join(lines, "\n")+"\n")
	return path
}

func TestCalibrateAnswersReadsWhatPeopleWrote(t *testing.T) {
	b, file := answered(t, nil)
	result := judged(t, b, pipeline.AnswersOptions{Answers: file}).Path
	got, err := b.CalibrateAnswers(pipeline.CalibrateAnswersOptions{Result: result, Next: 3, Labels: b.verdictFile(t,
		"q00,supported,1,yes,ann,1",
		"q01,supported,1,no,ann,0.5",
		"q00,correct,,YES,ann,1",
		"q01,correct,,no,ann,1",
		"q01,correct,,yes,ann,1", // again: the last counts
		"q02,correct,,yes,ann,1",
		"q02,correct,,no,bob,1", // even: no
		"q03,correct,,,ann,1",   // not decided yet
		"q00,supported,2,yes,ann,1",
		"q00,color,,yes,ann,1",
		"q99,correct,,yes,ann,1",
		"q04,correct,,maybe,ann,1",
		"q04,correct,,yes,ann,0",
		"q04,correct,,yes,ann,often",
	)})
	if err != nil {
		t.Fatal(err)
	}
	want := pipeline.AnswerLabelReport{Read: 13, Used: 5, Empty: 1, Replaced: 1, Joined: 1, Left: []pipeline.AnswerLabelFault{
		{Where: "line 13", CaseID: "q04", Question: "correct", Why: `verdict "maybe": want yes or no`},
		{Where: "line 14", CaseID: "q04", Question: "correct", Why: "inclusion 0 is not above 0 and at most 1"},
		{Where: "line 15", CaseID: "q04", Question: "correct", Why: `inclusion "often" is no number`},
		{Where: "line 10", CaseID: "q00", Question: "supported 2", Why: "the judge was not asked that"},
		{Where: "line 11", CaseID: "q00", Question: "color", Why: "the judge was not asked that"},
		{Where: "line 12", CaseID: "q99", Question: "correct", Why: "the judge was not asked that"},
	}}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Error(diff)
	}
	confusion := map[judge.QuestionKind][2][2]int{}
	for _, k := range got.Calibration.Kinds {
		confusion[k.Kind] = k.Confusion
	}
	if diff := cmp.Diff(map[judge.QuestionKind][2][2]int{judge.Supported: {{0, 1}, {0, 1}}, judge.Correct: {{0, 1}, {0, 2}}}, confusion); diff != "" {
		t.Error(diff)
	}
	for i, q := range got.Calibration.Next {
		text := got.Texts[i]
		if !strings.HasPrefix(text.Query, "procedure number") || !strings.HasPrefix(text.Text, "Record d") || !strings.HasPrefix(text.Against, "Record d") {
			t.Errorf("%+v: %+v", q, text)
		}
	}
	if len(got.Texts) != 3 || got.NoContext != "" {
		t.Errorf("%d texts, %q", len(got.Texts), got.NoContext)
	}
}

func TestCalibrateAnswersRefusesFilesThatAreNotWhole(t *testing.T) {
	b, file := answered(t, nil)
	result := judged(t, b, pipeline.AnswersOptions{Answers: file}).Path
	path := filepath.Join(b.Dir, "verdicts.csv")
	for text, want := range map[string]string{
		"": "no header",
		"case_id,question,claim,verdict\nq00,correct,,ye":   "ends in the middle of a line",
		"case_id,question,verdict\nq00,correct,yes\n":       "no column claim",
		"case_id,question,claim,verdict\nq00,correct,,\n":   "none in it; 1 rows have no verdict yet",
		"case_id,question,claim,verdict\nq9,correct,,yes\n": "none of 1 is about a question of",
	} {
		write(t, path, text)
		_, err := b.CalibrateAnswers(pipeline.CalibrateAnswersOptions{Result: result, Labels: path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
