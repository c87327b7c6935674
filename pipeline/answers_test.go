package pipeline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/pipeline"
)

// answered is a bench whose cases have reference answers, and an answers file
// that says of each case what its chunk says.
func answered(t *testing.T, change func(i int, line map[string]any)) (*bench, string) {
	t.Helper()
	b := newBench(t, func(d *datasets.Draft) {
		for i := range d.Cases {
			reference := fmt.Sprintf("Record %s holds the rules of procedure number %d.", document(i), i)
			d.Cases[i].ReferenceAnswer = &reference
		}
	})
	b.Config.Judge.Provider = pipeline.ProviderBuiltin
	return b, answersFile(t, b, "answers.jsonl", change)
}

func answersFile(t *testing.T, b *bench, name string, change func(i int, line map[string]any)) string {
	t.Helper()
	var out strings.Builder
	for i := range benchCases {
		line := map[string]any{
			"case_id": caseID(i), "answer": fmt.Sprintf("Record %s holds the rules of procedure number %d [1].", document(i), i),
			"contexts": []any{map[string]any{"chunk_id": document(i)}}, "abstained": false,
		}
		if change != nil {
			change(i, line)
		}
		data, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(data, '\n'))
	}
	path := filepath.Join(b.Dir, name)
	write(t, path, out.String())
	return path
}

func judged(t *testing.T, b *bench, o pipeline.AnswersOptions) *pipeline.AnswersReport {
	t.Helper()
	r, err := b.Answers(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func meanOf(t *testing.T, r *pipeline.AnswersReport, name string) float64 {
	t.Helper()
	m, ok := r.Metrics.Get(name)
	if !ok || m.Mean == nil {
		t.Fatalf("%s: %+v", name, m)
	}
	return *m.Mean
}

func TestAnswersAreJudgedWithoutAModel(t *testing.T) {
	b, file := answered(t, nil)
	r := judged(t, b, pipeline.AnswersOptions{Answers: file, SliceBy: []string{"query_type"}})
	for _, name := range []string{eval.Faithfulness, eval.CitationPrecision, eval.CitationRecall, eval.Correctness, eval.RightAbstention} {
		if got := meanOf(t, r, name); got != 1 {
			t.Errorf("%s: %v, want 1", name, got)
		}
	}
	if m, _ := r.Metrics.Get(eval.AnswerRelevance); m.Mean != nil || m.Unknown != 0 {
		t.Errorf("relevance %+v: the builtin judge cannot tell, and was not asked", m)
	}
	if r.Trust != datasets.TrustNone || r.TrustDetail != judge.LexicalNote || len(r.Slices["query_type"]) != 2 {
		t.Errorf("trust %s (%s), slices %v", r.Trust, r.TrustDetail, r.Slices)
	}
	if diff := cmp.Diff(map[string]int{judge.ReferenceAnswer: benchCases}, r.Counts.References); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

// The same answers give the same bytes of cases.parquet, in whatever order the
// file has them.
func TestAnswersResultIsAFunctionOfItsInput(t *testing.T) {
	b, file := answered(t, nil)
	lines := strings.SplitAfter(strings.TrimSpace(textOf(t, file))+"\n", "\n")
	other := filepath.Join(b.Dir, "other.jsonl")
	var reversed strings.Builder
	for i := range lines {
		reversed.WriteString(lines[len(lines)-1-i])
	}
	write(t, other, reversed.String())
	one := judged(t, b, pipeline.AnswersOptions{Answers: file, Out: filepath.Join(b.Dir, "one")})
	two := judged(t, b, pipeline.AnswersOptions{Answers: other, Out: filepath.Join(b.Dir, "two")})
	if textOf(t, filepath.Join(one.Path, "cases.parquet")) != textOf(t, filepath.Join(two.Path, "cases.parquet")) {
		t.Error("the cases differ")
	}
	if history := textOf(t, filepath.Join(b.Dir, pipeline.AnswersHistoryFile)); strings.Count(history, "\n") != 2 {
		t.Errorf("the history has %d lines, want 2", strings.Count(history, "\n"))
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// An answer of 5 MB is not judged, and is listed; the others are.
func TestAnswerOfFiveMegabytes(t *testing.T) {
	b, file := answered(t, func(i int, line map[string]any) {
		if i == 3 {
			line["answer"] = strings.Repeat("All work and no play. ", 5<<20/22)
		}
	})
	r := judged(t, b, pipeline.AnswersOptions{Answers: file})
	want := []pipeline.AnswerProblem{{Kind: pipeline.ProblemTooLong, CaseID: caseID(3), Line: 4, Detail: "an answer of 5242864 bytes, at most 65536 are judged"}}
	if diff := cmp.Diff(want, r.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	m, _ := r.Metrics.Get(eval.Correctness)
	if m.Unknown != 1 || m.N != benchCases-1 || *m.Mean != 1 {
		t.Errorf("correctness %+v, want one unknown and the rest right", m)
	}
}

func TestAnswersBaseline(t *testing.T) {
	b, file := answered(t, nil)
	base := judged(t, b, pipeline.AnswersOptions{Answers: file, Out: filepath.Join(b.Dir, "base")})
	worse := answersFile(t, b, "worse.jsonl", func(_ int, line map[string]any) { line["answer"] = "Pigs fly." })
	gate := pipeline.AnswersOptions{Answers: worse, Baseline: base.Path, Gates: []string{"correctness drop <= 0.02"}, AcceptUntrusted: true}
	if r := judged(t, b, gate); r.Verdict != eval.Fail {
		t.Errorf("verdict %s, gates %+v", r.Verdict, r.Gates)
	}
	floor := pipeline.AnswersOptions{Answers: file, Gates: []string{"correctness >= 0.5"}, AcceptUntrusted: true}
	b.Config.Golden.MinActive = benchCases + 1
	if r := judged(t, b, floor); r.Verdict != eval.Fail || r.Gates[0].Verdict != eval.Fail || r.Gates[1].Verdict != eval.Pass {
		t.Errorf("a set that is too small: verdict %s, gates %+v", r.Verdict, r.Gates)
	}

	t.Run("cut short", func(t *testing.T) {
		cases := filepath.Join(base.Path, "cases.parquet")
		whole := textOf(t, cases)
		write(t, cases, whole[:len(whole)/2])
		defer write(t, cases, whole)
		if _, err := b.Answers(t.Context(), gate); !errors.Is(err, pipeline.ErrDamaged) {
			t.Errorf("error %v, want ErrDamaged", err)
		}
	})
	t.Run("another version of the set", func(t *testing.T) {
		s, _, err := b.MakeSnapshot(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		b.commit(t, s, func(d *datasets.Draft) { d.Cases[0].Query += " again" })
		if _, err := b.Answers(t.Context(), gate); !errors.Is(err, pipeline.ErrNotComparable) {
			t.Errorf("error %v, want ErrNotComparable", err)
		}
	})
}

// A file with many bad lines names ten of them, counts the others, and leaves
// nothing behind.
func TestManyBadAnswers(t *testing.T) {
	b, _ := answered(t, nil)
	file := filepath.Join(b.Dir, "bad.jsonl")
	write(t, file, "\ufeff"+strings.Repeat(`{"case_id": "q00", "answer": 7}`+"\r\n", 30)+"\xff\n")
	_, err := b.Answers(t.Context(), pipeline.AnswersOptions{Answers: file})
	if err == nil || !strings.Contains(err.Error(), "bad.jsonl:10: ") || strings.Contains(err.Error(), "bad.jsonl:11: ") || !strings.Contains(err.Error(), "and 21 more lines") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, pipeline.AnswersHistoryFile)); err == nil {
		t.Error("there is a history")
	}
}

// A torn last line of the history does not swallow the next one.
func TestAnswersHistoryAfterATornLine(t *testing.T) {
	b, file := answered(t, nil)
	path := filepath.Join(b.Dir, pipeline.AnswersHistoryFile)
	write(t, path, `{"format":1,"time":"20`)
	judged(t, b, pipeline.AnswersOptions{Answers: file})
	lines := bytes.Split(bytes.TrimSpace([]byte(textOf(t, path))), []byte("\n"))
	if len(lines) != 2 || !json.Valid(lines[1]) {
		t.Errorf("history:\n%s", textOf(t, path))
	}
}
