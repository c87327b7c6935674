package judge_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/llm"
)

func TestParseGrade(t *testing.T) {
	const none = -1
	for _, tt := range []struct {
		text string
		want int
	}{
		{"2", 2},
		{" 0\n", 0},
		{"**3**", 3},
		{"[1]", 1},
		{`{"grade": 2}`, 2},
		{"```json\n{\"grade\": 1}\n```", 1},
		{`{"grade": 7}`, none},
		{`{"grade": "2"}`, 2},
		{"The passage relates to 3 of the topics. final score: 0", 0},
		{"According to 1 study. Score: 3", 3},
		{"Score: 2. On reflection, final score: 1.", 1},
		{"Score: 2. Score: 1.", none},
		{"Relevance: 2/3", 2},
		{"score: 3 out of 3", 3},
		{"score: 3/10", none},
		{"Score: 2.5", none},
		{"Score: 10", none},
		{"Score: -1", none},
		{"Grade is 1", 1},
		{"The grade of steel is 316.", none},
		{"The passage names 3 bridges.", none},
		{"two", none},
		{"", none},
		{"   ", none},
		{"I'm sorry, but I can't assist with that request.", none},
		{"4", none},
		{"23", none},
	} {
		got, ok := judge.ParseGrade(tt.text, "")
		if !ok {
			got = none
		}
		if got != tt.want {
			t.Errorf("ParseGrade(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

func FuzzParseGrade(f *testing.F) {
	for _, s := range []string{"2", "final score: 0", `{"grade":3}`, "```", "Score: 2/3", "\x00score:\xff3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if g, ok := judge.ParseGrade(text, ""); ok && (g < 0 || g > 3) {
			t.Errorf("ParseGrade(%q) = %d", text, g)
		}
	})
}

// tokens makes a reply of one token with the probabilities of its alternatives.
func tokens(text string, probs map[string]float64) llm.Reply {
	var top []llm.TopLogprob
	for tok, p := range probs {
		top = append(top, llm.TopLogprob{Token: tok, Logprob: math.Log(p)})
	}
	return llm.Reply{Text: text, FinishReason: llm.FinishLength, OutputTokens: 1, Logprobs: []llm.TokenLogprob{{Token: text, Top: top}}}
}

func TestFromLogprobs(t *testing.T) {
	for _, tt := range []struct {
		name     string
		reply    llm.Reply
		grade    int
		expected float64
		yes      float64
	}{
		{"digits renormalised", tokens("3", map[string]float64{"0": .1, "3": .3, "x": .6}), 2, 2.25, .75},
		{"variants of one digit add up", tokens(" 2", map[string]float64{" 2": .2, "2": .1, "▁2": .1, "2\n": .1, "1": .5}), 2, 1.5, .5},
		{"the expected grade, not the likeliest", tokens("0", map[string]float64{"0": .4, "3": .35, "2": .25}), 2, 1.55, .6},
		{"other numbers are no grades", tokens("0", map[string]float64{"0": .5, "4": .3, "30": .1, "03": .1}), 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := judge.FromLogprobs(tt.reply)
			if err != nil {
				t.Fatal(err)
			}
			if *g.Grade != tt.grade || math.Abs(*g.Expected-tt.expected) > 1e-9 || math.Abs(*g.PYes-tt.yes) > 1e-9 {
				t.Errorf("grade %d expected %g yes %g, want %d %g %g", *g.Grade, *g.Expected, *g.PYes, tt.grade, tt.expected, tt.yes)
			}
			if sum := g.Probs[0] + g.Probs[1] + g.Probs[2] + g.Probs[3]; math.Abs(sum-1) > 1e-9 {
				t.Errorf("probabilities sum to %g", sum)
			}
		})
	}
}

func TestFromLogprobsSkipsBlankTokens(t *testing.T) {
	r := tokens(" ", map[string]float64{" ": 1})
	r.Logprobs = append(r.Logprobs, tokens("1", map[string]float64{"1": 1}).Logprobs...)
	g, err := judge.FromLogprobs(r)
	if err != nil || *g.Grade != 1 {
		t.Errorf("grade %v, error %v, want 1", g.Grade, err)
	}
}

func TestFromLogprobsWithoutGrade(t *testing.T) {
	nan := llm.Reply{Text: "2", Logprobs: []llm.TokenLogprob{{Token: "2", Logprob: math.NaN()}}}
	for _, tt := range []struct {
		name  string
		reply llm.Reply
		want  llm.Kind
	}{
		{"digits hardly possible", tokens("The", map[string]float64{"The": .95, "2": .05}), llm.KindNotJSON},
		{"not a number", nan, llm.KindNotJSON},
		{"empty", llm.Reply{FinishReason: llm.FinishStop}, llm.KindEmpty},
		{"refused by the service", llm.Reply{Text: "No", FinishReason: llm.FinishRefusal}, llm.KindRefusal},
		{"only thinking", llm.Reply{Thinking: "hm", FinishReason: llm.FinishLength}, llm.KindCutOff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := judge.FromLogprobs(tt.reply)
			if diff := cmp.Diff(tt.want, llm.KindOf(err)); diff != "" || g.Grade != nil {
				t.Errorf("grade %v, kind (-want +got):\n%s", g.Grade, diff)
			}
		})
	}
}
