package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

// beside makes cases with and without something relevant in the top k, so many
// of each with a right answer.
func beside(retrieved, right, missed, rightAnyway int) eval.AnswersBeside {
	out := eval.AnswersBeside{}
	for i := range retrieved + missed {
		c := eval.AnswerBeside{Retrieved: i < retrieved, Right: i < right}
		if !c.Retrieved {
			c.Right = i-retrieved < rightAnyway
		}
		out[fmt.Sprint(i)] = c
	}
	return out
}

func TestAnswerHints(t *testing.T) {
	const (
		poor  = "16 of 20 cases have something relevant in the top k, and only 9 of these a right answer: try larger chunks, or a window around each"
		worse = "5 answers got worse and 0 better over 50 cases, and retrieval did not change: look behind it (context, prompt, model)"
	)
	for name, tt := range map[string]struct {
		now, before eval.AnswersBeside
		want        string
	}{
		"retrieval good, answers poor":           {beside(16, 9, 4, 4), nil, poor},
		"answers not poor":                       {beside(16, 10, 4, 0), nil, ""},
		"retrieval not good":                     {beside(15, 3, 5, 0), nil, ""},
		"too few cases":                          {beside(19, 3, 0, 0), nil, ""},
		"retrieval stable, answers worse":        {beside(50, 40, 0, 0), beside(50, 45, 0, 0), worse},
		"retrieval stable within its tolerance":  {beside(49, 40, 1, 0), beside(50, 45, 0, 0), worse},
		"retrieval fell too":                     {beside(48, 40, 2, 0), beside(50, 45, 0, 0), ""},
		"answers worse by what may be chance":    {beside(50, 41, 0, 0), beside(50, 45, 0, 0), ""},
		"answers better":                         {beside(50, 45, 0, 0), beside(50, 40, 0, 0), ""},
		"too few cases that both results answer": {beside(50, 40, 0, 0), beside(19, 19, 0, 0), ""},
	} {
		if got := strings.Join(eval.AnswerHints(tt.now, tt.before), "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestLayAnswers(t *testing.T) {
	in := crowd()
	in.Cases[3].Abstain = true
	correct := func(x float64) eval.Values { return eval.Values{{Name: eval.Correctness, Value: x}} }
	values := eval.AnswerBaseline{
		"c1": correct(1), "c2": correct(0.5), "c3": correct(0.4), "c4": correct(1), "c5": {{Name: eval.Faithfulness, Value: 1}}, "other": correct(1),
	}
	want := eval.AnswersBeside{"c1": {Right: true}, "c2": {Retrieved: true, Right: true}, "c3": {Retrieved: true}}
	if diff := cmp.Diff(want, eval.LayAnswers(in.Cases, values, 3, 2)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBesideOfAJoin(t *testing.T) {
	cell := func(ids ...string) eval.AnswerCell { return eval.AnswerCell{N: len(ids), Cases: ids} }
	j := eval.AnswerJoin{
		RetrievedAnswered: cell("a"), RetrievedNotAnswered: cell("b", "c"), NotRetrievedAnswered: cell("d"), Neither: cell("e"), Unknown: cell("f"),
	}
	want := eval.AnswersBeside{"a": {true, true}, "b": {true, false}, "c": {true, false}, "d": {false, true}, "e": {false, false}}
	if diff := cmp.Diff(want, j.Beside()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
