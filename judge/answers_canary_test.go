package judge_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/judge"
)

// library is n answers to questions about n devices, each with a context of
// its own, faithful to it.
func library(n int) []judge.Answer {
	var out []judge.Answer
	for i := range n {
		name := fmt.Sprintf("%c%c%cdevice", 'a'+i%26, 'a'+i/26, 'k'+i%13)
		sentence := func(verb string, k int) string {
			return fmt.Sprintf("The %s %s %d %[1]sparts beside %[1]sbelts under %[1]slamps.", name, verb, k+20)
		}
		text := sentence("grinds", i) + " " + sentence("polishes", i+1) + " " + sentence("sorts", i+2)
		out = append(out, judge.Answer{
			CaseID: fmt.Sprint(i), Query: "what does the " + name + " do", Text: sentence("grinds", i), Abstained: new(bool),
			Contexts: []judge.Passage{{ChunkID: name + "#0", Text: text}}, Reference: sentence("grinds", i), Groups: []string{name},
		})
	}
	return out
}

func runAll(t *testing.T, answers []judge.Answer, answer func(judge.Question) judge.Finding, concurrency int) judge.AnswerReport {
	t.Helper()
	r, err := judge.RunAnswers(t.Context(), answers, judge.AnswerJudge{Assessor: &assessor{answer: answer}, Name: "fake"}, judge.AnswerOptions{Seed: 3, Concurrency: concurrency})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sharpEye says yes to what stands in the text, to references of the own
// device, and no else.
func sharpEye(q judge.Question) judge.Finding {
	if q.Kind == judge.Relevant {
		name := strings.TrimSuffix(strings.TrimPrefix(q.Query, "what does the "), " do")
		return verdict(strings.Contains(q.Text, name))
	}
	return literal(q)
}

func TestAGoodJudgePassesItsCanaries(t *testing.T) {
	r := runAll(t, library(50), sharpEye, 4)
	for _, kind := range []judge.QuestionKind{judge.Supported, judge.Relevant, judge.Correct} {
		v := r.Verdicts[kind]
		if v.State != judge.Passed || v.Own != 40 || v.OwnYes != 40 || v.Foreign < judge.MinCanaries || v.ForeignYes != 0 || v.AUC != 1 {
			t.Errorf("%s: %+v", kind, v)
		}
	}
	if r.Altered.Asked != 30 || r.Altered.Supported != 0 {
		t.Errorf("altered %+v", r.Altered)
	}
	if r.Unknown[judge.UnknownBlind] != 0 || *r.Answers[0].Claims[0].Support.Value != 1 {
		t.Errorf("unknown %v, first claim %+v", r.Unknown, r.Answers[0].Claims[0])
	}
}

// A judge that calls everything supported is blind: what it said of claims and
// citations is unknown, and what it said of other things stands.
func TestABlindJudgeKnowsNothing(t *testing.T) {
	r := runAll(t, library(50), func(q judge.Question) judge.Finding {
		if q.Kind == judge.Supported {
			return verdict(true)
		}
		return sharpEye(q)
	}, 4)
	if v := r.Verdicts[judge.Supported]; v.State != judge.Blind || v.ForeignYes != v.Foreign || !strings.Contains(v.Why, "yes to 40 of 40 own texts") {
		t.Errorf("supported: %+v", v)
	}
	if got := r.Answers[0].Claims[0].Support; got.Value != nil || got.Unknown != judge.UnknownBlind || got.P == nil {
		t.Errorf("a claim's support %+v, want unknown with its P", got)
	}
	if r.Unknown[judge.UnknownBlind] != 50 || r.Altered.Supported != 30 {
		t.Errorf("unknown %v, altered %+v", r.Unknown, r.Altered)
	}
	if got := r.Answers[0].Correctness; r.Verdicts[judge.Correct].State != judge.Passed || got.Value == nil {
		t.Errorf("correctness %+v", got)
	}
}

// A judge that no log-probability tells apart, but that says no to everything
// or cannot be read, is blind too.
func TestOtherWaysToBeBlind(t *testing.T) {
	for name, answer := range map[string]func(judge.Question) judge.Finding{
		"no to everything": func(judge.Question) judge.Finding { return verdict(false) },
		"unreadable":       func(judge.Question) judge.Finding { return judge.Finding{Unknown: judge.UnknownUnreadable, Calls: 3} },
		"the wrong way round": func(q judge.Question) judge.Finding {
			return verdict(*sharpEye(q).Value == 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := runAll(t, library(50), answer, 2)
			for kind, v := range r.Verdicts {
				if v.State != judge.Blind {
					t.Errorf("%s: %+v", kind, v)
				}
			}
		})
	}
}

func TestFewAnswersLeaveTheJudgeUntested(t *testing.T) {
	r := runAll(t, library(7), sharpEye, 1)
	if v := r.Verdicts[judge.Supported]; v.State != judge.Untested || v.Own != 21 {
		t.Errorf("supported: %+v, want 3 sentences of 7 contexts", v)
	}
	if got := r.Answers[0].Claims[0].Support; got.Value == nil {
		t.Errorf("support %+v: what an untested judge says is kept", got)
	}
}

// Own canaries stand in the context word for word; foreign ones come from
// unrelated cases and do not; altered ones differ from a sentence of the
// context in one digit.
func TestCanariesAreWhatTheyClaim(t *testing.T) {
	by := &assessor{answer: sharpEye}
	answers := library(50)
	for i := range answers {
		answers[i].Text, answers[i].Abstained = "", nil // canaries alone
	}
	answers[1].Groups = answers[0].Groups
	_, err := judge.RunAnswers(t.Context(), answers, judge.AnswerJudge{Assessor: by}, judge.AnswerOptions{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	digits := regexp.MustCompile(`[0-9]+`)
	n := map[string]int{}
	for _, q := range by.asked {
		switch {
		case q.Kind != judge.Supported: // held against nothing, or the reference
			n["reference"]++
		case strings.Contains(q.Against, q.Text):
			n["own"]++
		case strings.Contains(digits.ReplaceAllString(q.Against, "#"), digits.ReplaceAllString(q.Text, "#")):
			n["altered"]++
			if strings.Contains(q.Against, digits.FindString(q.Text)) {
				t.Errorf("the context holds the changed number: %q in %q", q.Text, q.Against)
			}
		default:
			n["foreign"]++
		}
	}
	if n["own"] != 40 || n["altered"] != 30 || n["foreign"] < 30 {
		t.Errorf("canaries %v", n)
	}
}

// Copies of one text give no claims that must not be supported: the lexical
// rule keeps them out where nobody knows that they are copies.
func TestCopiesGiveNoForeignCanaries(t *testing.T) {
	answers := library(40)
	for i := range answers {
		answers[i].Contexts[0].Text, answers[i].Reference = answers[0].Contexts[0].Text, answers[0].Reference
	}
	r := runAll(t, answers, sharpEye, 2)
	for kind, v := range r.Verdicts {
		if v.Own != 40 || v.Foreign != 0 || v.State != judge.Untested {
			t.Errorf("%s: %+v, want 40 own, no foreign canaries, untested", kind, v)
		}
	}
}

func TestAnswersDoNotDependOnConcurrency(t *testing.T) {
	one, four := runAll(t, library(40), sharpEye, 1), runAll(t, library(40), sharpEye, 4)
	if diff := cmp.Diff(one, four, cmpopts.IgnoreUnexported(judge.Citation{})); diff != "" {
		t.Errorf("one at a time and four at once differ:\n%s", diff)
	}
}

func TestAnswersEndWithAnAssessorThatSaysNothing(t *testing.T) {
	by := &assessor{answer: func(judge.Question) judge.Finding { return judge.Finding{} }}
	_, err := judge.RunAnswers(t.Context(), library(1), judge.AnswerJudge{Assessor: by, Builtin: true}, judge.AnswerOptions{})
	if err == nil || !strings.Contains(err.Error(), "case 0") {
		t.Errorf("error %v", err)
	}
}

func TestAnswersEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	_, err := judge.RunAnswers(ctx, library(3), judge.AnswerJudge{Assessor: &assessor{answer: sharpEye}}, judge.AnswerOptions{})
	if !errors.Is(err, stop) {
		t.Errorf("error %v, want %v", err, stop)
	}
}
