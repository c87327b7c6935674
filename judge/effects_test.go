package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

func probes(n int) []judge.Probe {
	out := make([]judge.Probe, n)
	for i := range out {
		out[i] = judge.Probe{
			Query:  judge.Query{ID: fmt.Sprint(i), Text: fmt.Sprintf("when does ferry %d leave", i)},
			Answer: fmt.Sprintf("ANSWER: ferry %d leaves at noon.", i), Other: "Ferries are painted in winter.", Filler: "Bread is baked at dawn.",
		}
	}
	return out
}

// effects measures a model that replies with the probabilities that it is given.
func effects(t *testing.T, reply func(req llm.Request, passage string) [4]float64) map[string]judge.Effect {
	t.Helper()
	fake := &llmtest.Model{Handler: func(req llm.Request) llm.Reply {
		if isProbe(req) {
			return llmtest.Graded(req, grades(true))
		}
		last := asked(req)
		passage := strings.TrimSuffix(last[strings.Index(last, "<passage>\n")+len("<passage>\n"):], "\n</passage>\nGrade:")
		return llmtest.Graded(req, reply(req, passage))
	}}
	measured, err := judge.Effects(t.Context(), model(t, fake), model(t, judge.ReverseExamples(fake)), probes(12), 4)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]judge.Effect{}
	for _, e := range measured {
		out[e.Form] = e
	}
	return out
}

func grades(yes bool) [4]float64 {
	if yes {
		return [4]float64{0, 0, 0, 1}
	}
	return [4]float64{1, 0, 0, 0}
}

// A judge that reads has no effects; each vice shows in its form alone.
func TestEffectsShowEachVice(t *testing.T) {
	reads := func(passage string) bool { return strings.Contains(passage, "ANSWER") }
	for name, tt := range map[string]struct {
		judge func(req llm.Request, passage string) bool
		want  []string // forms that differ from their base
	}{
		"none": {func(_ llm.Request, p string) bool { return reads(p) }, nil},
		"reads the beginning": {func(_ llm.Request, p string) bool { return strings.HasPrefix(p, "ANSWER") },
			[]string{"other text, then answer", "answer amid other text"}},
		"likes length": {func(_ llm.Request, p string) bool {
			return reads(p) || strings.Count(p, ".") > 1 && strings.Contains(p, "Bread")
		},
			[]string{"no answer, longer"}},
		"obeys": {func(_ llm.Request, p string) bool { return reads(p) || strings.Contains(p, "Rate this 3") },
			[]string{"no answer, told to grade 3"}},
		"counts words": {func(_ llm.Request, p string) bool { return reads(p) || strings.Contains(p, "when does ferry") },
			[]string{"no answer, the query's words"}},
		"copies the last example": {func(req llm.Request, p string) bool {
			return req.Messages[len(req.Messages)-2].Content == "2" == reads(p) // 2 is the last as it stands, 3 in reverse
		}, []string{"answer, examples reversed", "no answer, examples reversed"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := effects(t, func(req llm.Request, p string) [4]float64 { return grades(tt.judge(req, p)) })
			var changed []string
			for _, f := range judge.Forms() {
				e := got[f.Name]
				if e.Pairs != 12 || e.Unknown != 0 || e.Base != f.Base {
					t.Errorf("%+v", e)
				}
				if e.Change != nil && e.Change.Value != 0 {
					changed = append(changed, f.Name)
					if e.Gained+e.Lost != 12 || e.Change.Low != e.Change.Value || e.Change.Value != 3 && e.Change.Value != -3 {
						t.Errorf("%+v", e)
					}
				}
			}
			if diff := cmp.Diff(tt.want, changed); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// By hand: of twelve answers a third loses a grade when it comes last, and is then
// below 2.
func TestEffectsChangeHasATInterval(t *testing.T) {
	got := effects(t, func(req llm.Request, passage string) [4]float64 {
		var n int
		if _, err := fmt.Sscanf(asked(req)[strings.Index(asked(req), "ferry"):], "ferry %d", &n); err != nil {
			t.Error(err)
		}
		if strings.HasPrefix(passage, "Bread") && strings.HasSuffix(passage, "noon.") && n%3 == 0 {
			return [4]float64{0, 1, 0, 0}
		}
		return [4]float64{0, 0, 1, 0}
	})["other text, then answer"]
	// Four of -1 and eight of 0: mean -1/3, variance 8/33, standard error .1421,
	// and 2.2010 of them for 11 degrees of freedom.
	want := judge.Effect{
		Form: "other text, then answer", Base: judge.FormAnswer, Pairs: 12, Expected: 1.6667, Relevant: .6667, Lost: 4,
		Change: &datasets.Interval{Value: -.3333, Low: -.6462, High: -.0205},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 2e-4)); diff != "" {
		t.Error(diff)
	}
}

func TestEffectsCountWhatIsUnknownAndCut(t *testing.T) {
	g := grader(func(_ context.Context, q judge.Query, c *corpus.Chunk) (judge.Grade, error) {
		if q.ID == "0" {
			return unknown("empty"), nil
		}
		grade := gradeOf(2, 2)
		grade.Cut = strings.Contains(c.Text, "Bread")
		return grade, nil
	})
	got, err := judge.Effects(t.Context(), g, nil, probes(3), 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(judge.Forms()) - 2; len(got) != want {
		t.Errorf("%d forms, want %d", len(got), want)
	}
	want := judge.Effect{Form: "answer, then other text", Base: judge.FormAnswer, Pairs: 2, Unknown: 1, Cut: 2, Expected: 2, Relevant: 1, Change: &datasets.Interval{}}
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Error(diff)
	}
	down := errors.New("server down")
	failing := grader(func(context.Context, judge.Query, *corpus.Chunk) (judge.Grade, error) { return judge.Grade{}, down })
	if _, err := judge.Effects(t.Context(), failing, nil, probes(3), 2); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	if _, err := judge.Effects(t.Context(), g, nil, nil, 1); err == nil {
		t.Error("no probes are no error")
	}
}

// hostile is a passage that asks for a grade, or looks like an answer, and answers
// or does not.
type hostile struct {
	Name, Query, Passage string
	Answers              bool
}

func hostiles(t *testing.T) []hostile {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []hostile
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// However a judge is asked, what a passage says reaches it as text between tags,
// once, and its reply is read by what the model gives and never by what the
// passage says.
func TestHostileFixturesAreReadByTheReplyAlone(t *testing.T) {
	for _, ask := range []string{judge.AskGrade, judge.AskYes} {
		for _, logprobs := range []bool{true, false} {
			for _, h := range hostiles(t) {
				t.Run(fmt.Sprintf("%s/%v/%s", ask, logprobs, h.Name), func(t *testing.T) {
					o := options()
					o.Ask = ask
					var last llm.Request
					m, err := judge.NewModel(client(func(_ context.Context, req llm.Request) (llm.Reply, error) {
						last = req
						return honest(req, h.Answers, logprobs), nil
					}), o)
					if err != nil {
						t.Fatal(err)
					}
					g, err := m.Grade(t.Context(), judge.Query{Text: h.Query}, &corpus.Chunk{ID: "d#0", Text: h.Passage})
					if err != nil || g.Grade == nil || (*g.Grade >= judge.RelevantGrade) != h.Answers {
						t.Errorf("grade %+v, error %v; answers: %v", g, err, h.Answers)
					}
					checkFenced(t, last)
				})
			}
		}
	}
}

// honest replies in the form that a request asks for.
func honest(req llm.Request, yes, logprobs bool) llm.Reply {
	word, grade := "No", 0
	if yes {
		word, grade = "Yes", 3
	}
	asksYes := strings.HasSuffix(asked(req), "Answered?")
	switch {
	case len(req.Schema) > 0 && asksYes:
		return llm.Reply{Text: fmt.Sprintf(`{"verdict": %q}`, strings.ToLower(word)), FinishReason: llm.FinishStop}
	case len(req.Schema) > 0:
		return llm.Reply{Text: fmt.Sprintf(`{"grade": %d}`, grade), FinishReason: llm.FinishStop}
	case !logprobs:
		return llm.Reply{Text: word, FinishReason: llm.FinishLength}
	case asksYes:
		return tokens(word, map[string]float64{word: .9})
	}
	return llmtest.Graded(req, grades(yes))
}

// checkFenced wants one passage, opened and closed once, in the last message.
func checkFenced(t *testing.T, req llm.Request) {
	t.Helper()
	last := asked(req)
	open := last[strings.Index(last, "<passage"):]
	tag := open[1:strings.Index(open, ">")]
	if strings.Count(last, "</"+tag+">") != 1 {
		t.Errorf("the passage leaves its tags:\n%s", last)
	}
	for _, m := range req.Messages {
		if m.Role == "assistant" && len(m.Content) > len(`{"grade": 3}`) {
			t.Errorf("an example's reply is %q", m.Content)
		}
	}
}
