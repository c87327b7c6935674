package judge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/judge"
)

// assessor answers by a function, and notes what it was asked.
type assessor struct {
	answer func(q judge.Question) judge.Finding
	window int

	mu    sync.Mutex
	asked []judge.Question
}

func (a *assessor) Ask(_ context.Context, q judge.Question) (judge.Finding, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, q)
	return a.answer(q), nil
}

func (a *assessor) Window(judge.Question) int {
	if a.window == 0 {
		return 1 << 20
	}
	return a.window
}

func verdict(yes bool) judge.Finding {
	v, p := 0.0, 0.1
	if yes {
		v, p = 1, 0.9
	}
	return judge.Finding{Value: &v, P: &p, Calls: 1}
}

// literal says yes where the text stands in what it is held against; an answer
// is relevant when it says "pump", and declines when it says "sorry".
func literal(q judge.Question) judge.Finding {
	switch q.Kind {
	case judge.Relevant:
		return verdict(strings.Contains(q.Text, "pump"))
	case judge.Declined:
		return verdict(strings.Contains(q.Text, "sorry"))
	}
	return verdict(strings.Contains(q.Against, strings.TrimSuffix(q.Text, ".")))
}

func runOne(t *testing.T, a judge.Answer, by *assessor, chunks map[string]string) judge.JudgedAnswer {
	t.Helper()
	r, err := judge.RunAnswers(t.Context(), []judge.Answer{a}, judge.AnswerJudge{Assessor: by, Builtin: true}, judge.AnswerOptions{
		Lookup: func(id string) (string, bool) { text, ok := chunks[id]; return text, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Answers[0]
}

// short is what a claim and its citations came to: "text <cited> support/well".
func short(a judge.JudgedAnswer) (claims, citations []string) {
	word := func(f judge.Finding) string {
		switch {
		case f.Unknown != "":
			return f.Unknown
		case f.Value == nil:
			return "-"
		case *f.Value == 1:
			return "yes"
		}
		return "no"
	}
	for _, c := range a.Claims {
		claims = append(claims, fmt.Sprintf("%s %v %s/%s", c.Text, c.Citations, word(c.Support), word(c.CitedWell)))
	}
	for _, c := range a.Citations {
		what := c.Ref + "=" + c.ChunkID
		for _, mark := range []struct {
			is   bool
			name string
		}{{c.Whole, " whole"}, {!c.InContext && !c.Missing, " outside"}, {c.Missing, " missing"}} {
			if mark.is {
				what += mark.name
			}
		}
		citations = append(citations, what+" "+word(c.Supports))
	}
	return claims, citations
}

// claimTest is an answer with its claims and citations as short writes them.
type claimTest struct {
	name      string
	answer    judge.Answer
	claims    []string
	citations []string
}

// Passages that answers are given, or cite from the corpus.
func pump() judge.Passage {
	return judge.Passage{ChunkID: "pump#0", Text: "The pump runs for 40 minutes. It is blue."}
}

func valve() judge.Passage { return judge.Passage{ChunkID: "valve#1", Text: "The valve is red."} }

func claimed(t *testing.T, tests []claimTest) {
	t.Helper()
	chunks := map[string]string{"pump#0": pump().Text, "valve#1": valve().Text, "lid#2": "The lid is round."}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			claims, citations := short(runOne(t, tt.answer, &assessor{answer: literal}, chunks))
			if diff := cmp.Diff(tt.claims, claims); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.citations, citations); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarkersCiteForTheirSentence(t *testing.T) {
	claimed(t, []claimTest{
		{
			"numbers count in the context, and belong to their sentence",
			judge.Answer{Text: "The pump runs for 40 minutes [1]. The valve is red.[2] The lid is round [1, 2].", Contexts: []judge.Passage{pump(), valve()}},
			[]string{"The pump runs for 40 minutes. [0] yes/yes", "The valve is red. [1] yes/yes", "The lid is round. [2 3] no/no"},
			[]string{"1=pump#0 yes", "2=valve#1 yes", "1=pump#0 no", "2=valve#1 no"},
		},
		{
			"a marker behind the full stop belongs to what it follows",
			judge.Answer{Text: "The valve is red. [2] The pump runs for 40 minutes. [^1]", Contexts: []judge.Passage{pump(), valve()}},
			[]string{"The valve is red. [0] yes/yes", "The pump runs for 40 minutes. [1] yes/yes"},
			[]string{"2=valve#1 yes", "1=pump#0 yes"},
		},
		{
			"ids in brackets, in the context or in the corpus alone",
			judge.Answer{Text: "The valve is red [valve#1]. The lid is round [lid#2; pump#0].", Contexts: []judge.Passage{pump(), valve()}},
			[]string{"The valve is red. [0] yes/yes", "The lid is round. [1 2] no/yes"},
			[]string{"valve#1=valve#1 yes", "lid#2=lid#2 outside yes", "pump#0=pump#0 no"},
		},
		{
			"years, links and other brackets are no citations",
			judge.Answer{Text: "The valve is red [see the manual](https://example.org) since [2024], array[i] too.", Contexts: []judge.Passage{valve()}},
			[]string{"The valve is red [see the manual](https://example.org) since [2024], array[i] too. [] no/-"},
			nil,
		},
	})
}

func TestListsOfCitations(t *testing.T) {
	claimed(t, []claimTest{
		{
			"numbers count in the list of citations where that holds ids",
			judge.Answer{Text: "The valve is red [1].", Contexts: []judge.Passage{pump(), valve()}, Citations: []string{"valve#1"}},
			[]string{"The valve is red. [0] yes/yes"},
			[]string{"1=valve#1 yes"},
		},
		{
			"citations without a marker are for the whole answer",
			judge.Answer{Text: "The valve is red. It is blue.", Contexts: []judge.Passage{pump(), valve()}, Citations: []string{"valve#1"}},
			[]string{"The valve is red. [0] yes/yes", "It is blue. [0] yes/no"},
			[]string{"valve#1=valve#1 whole yes"},
		},
		{
			"what is not there supports nothing",
			judge.Answer{Text: "The valve is red [7]. It is blue.", Contexts: []judge.Passage{pump(), valve()}, Citations: []string{"ghost#9"}},
			[]string{"The valve is red. [0 1] yes/no", "It is blue. [1] yes/no"},
			[]string{"7= missing no", "ghost#9= whole missing no"},
		},
		{
			"a missing id that the list numbers is counted once",
			judge.Answer{Text: "The valve is red [1].", Contexts: []judge.Passage{valve()}, Citations: []string{"ghost#9"}},
			[]string{"The valve is red. [0] yes/no"},
			[]string{"1= missing no"},
		},
	})
}

// What cannot be held against anything is no claim, or unknown.
func TestWhatIsNoClaim(t *testing.T) {
	claimed(t, []claimTest{
		{
			"questions, lead-ins and ornaments are no claims",
			judge.Answer{Text: "Here is what I found:\n\n- The valve is red.\n\n---\n\nDoes that help?", Contexts: []judge.Passage{valve()}},
			[]string{"The valve is red. [] yes/-"},
			nil,
		},
		{
			"without a context citations are still held against their chunks",
			judge.Answer{Text: "The lid is round [lid#2].", Citations: []string{"lid#2"}},
			[]string{"The lid is round. [0] -/yes"},
			[]string{"lid#2=lid#2 outside yes"},
		},
		{
			"a context that cannot be read makes claims, and what cites it, unknown",
			judge.Answer{Text: "The valve is red [1]. It is blue [2][gone#0].", Contexts: []judge.Passage{{ChunkID: "gone#0"}, pump()}, ContextProblem: judge.UnknownContext},
			[]string{"The valve is red. [0] context_missing/context_missing", "It is blue. [1 2] context_missing/yes"},
			[]string{"1=gone#0 context_missing", "2=pump#0 yes", "gone#0=gone#0 context_missing"},
		},
	})
}

// Two chunks that support a claim only together are both good citations.
func TestCitationsThatSupportTogether(t *testing.T) {
	both := func(q judge.Question) judge.Finding {
		return verdict(strings.Contains(q.Against, "Ann") && strings.Contains(q.Against, "Bob"))
	}
	a := judge.Answer{Text: "Ann and Bob are siblings [1][2].", Contexts: []judge.Passage{{Text: "Ann is a daughter of Eve."}, {Text: "Bob is a son of Eve."}}}
	claims, citations := short(runOne(t, a, &assessor{answer: both}, nil))
	if diff := cmp.Diff([]string{"Ann and Bob are siblings. [0 1] yes/yes"}, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1= yes", "2= yes"}, citations); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
}

func TestAbstention(t *testing.T) {
	given := func(b bool) *bool { return &b }
	for _, tt := range []struct {
		name   string
		answer judge.Answer
		by     string
		value  float64
		claims int
	}{
		{"as the system says", judge.Answer{Text: "I am sorry.", Abstained: given(false)}, judge.ByGiven, 0, 1},
		{"an empty answer", judge.Answer{Text: " \n"}, judge.ByEmpty, 1, 0},
		{"a reply that declines", judge.Answer{Text: "I am sorry, I do not know."}, judge.ByJudge, 1, 0},
		{"an answer", judge.Answer{Text: "The pump is blue."}, judge.ByJudge, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.answer.Contexts = []judge.Passage{{Text: "The pump is blue."}}
			got := runOne(t, tt.answer, &assessor{answer: literal}, nil)
			if got.AbstainedBy != tt.by || *got.Abstained.Value != tt.value || len(got.Claims) != tt.claims {
				t.Errorf("%s, %v, claims %v; want %s, %v, %d claims", got.AbstainedBy, *got.Abstained.Value, got.Claims, tt.by, tt.value, tt.claims)
			}
		})
	}
}

// A context longer than the window is asked about in parts, none of it left
// out; the sentence in the last one is found.
func TestLongContextsAreAskedAboutInParts(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "Sentence number %d is about nothing much. ", i)
	}
	text := b.String() + "The pump runs for 40 minutes."
	by := &assessor{answer: literal, window: 500}
	a := judge.Answer{Text: "The pump runs for 40 minutes. The pump is blue.", Abstained: new(bool), Contexts: []judge.Passage{{Text: text}, {Text: "A second passage."}}}
	claims, _ := short(runOne(t, a, by, nil))
	want := []string{"The pump runs for 40 minutes. [] yes/-", "The pump is blue. [] no/-"}
	if diff := cmp.Diff(want, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	joined := ""
	for _, q := range by.asked {
		if q.Kind == judge.Supported && q.Text == "The pump is blue." {
			joined += q.Against + " "
			if len(q.Against) > 500 {
				t.Errorf("a part of %d bytes", len(q.Against))
			}
		}
	}
	words := strings.Join(strings.Fields(joined), " ")
	if wanted := strings.Join(strings.Fields(text+" A second passage."), " "); words != wanted {
		t.Errorf("the parts together are %d bytes of words, want the %d of the context", len(words), len(wanted))
	}
}

// A part that the server still finds too long is halved; one that stays too
// long makes the claim unknown, and not unsupported.
func TestPartsThatAreTooLong(t *testing.T) {
	limit := func(most int) *assessor {
		return &assessor{answer: func(q judge.Question) judge.Finding {
			if len(q.Against) > most {
				return judge.Finding{Unknown: judge.UnknownTooLong, Calls: 1}
			}
			return literal(q)
		}}
	}
	text := strings.Repeat("Nothing to see here at all. ", 100) + "The pump is blue."
	a := judge.Answer{Text: "The pump is blue.", Abstained: new(bool), Contexts: []judge.Passage{{Text: text}}}
	if claims, _ := short(runOne(t, a, limit(800), nil)); claims[0] != "The pump is blue. [] yes/-" {
		t.Errorf("halved: %v", claims)
	}
	if claims, _ := short(runOne(t, a, limit(10), nil)); claims[0] != "The pump is blue. [] too_long/-" {
		t.Errorf("too long for good: %v", claims)
	}
}

func TestAnswersThatAreTooLongAreUnknown(t *testing.T) {
	by := &assessor{answer: literal}
	a := judge.Answer{Text: strings.Repeat("The pump is blue. ", 300_000), Abstained: new(bool), Reference: "blue", Contexts: []judge.Passage{{Text: "x"}}}
	got := runOne(t, a, by, nil)
	if got.Relevance.Unknown != judge.UnknownAnswerTooLong || got.Correctness.Unknown != judge.UnknownAnswerTooLong || len(got.Claims) != 0 || len(by.asked) != 0 {
		t.Errorf("relevance %+v, correctness %+v, %d claims, %d questions", got.Relevance, got.Correctness, len(got.Claims), len(by.asked))
	}
	long := judge.Answer{Text: "The pump is blue.", Abstained: new(bool), Contexts: []judge.Passage{{Text: strings.Repeat("x ", judge.MaxContextBytes)}}}
	if claims, _ := short(runOne(t, long, by, nil)); claims[0] != "The pump is blue. [] context_too_long/-" {
		t.Errorf("a context too long: %v", claims)
	}
}

func TestLexicalShares(t *testing.T) {
	a := judge.Answer{
		CaseID: "c", Query: "how long does the pump run", Text: "The pump runs for 90 minutes.", Reference: "The pump runs for 40 minutes.",
		Contexts: []judge.Passage{{Text: "The pump runs for 40 minutes a day."}},
	}
	r, err := judge.RunAnswers(t.Context(), []judge.Answer{a}, judge.NewLexical(), judge.AnswerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Answers[0]
	if *got.Claims[0].Support.Value != .75 || *got.Correctness.Value != .75 || got.Relevance.Unknown != judge.UnknownNoModel || len(r.Verdicts) != 0 {
		t.Errorf("claims %+v, correctness %v, relevance %+v", got.Claims, *got.Correctness.Value, got.Relevance)
	}
}

// No text makes the splitting panic, lose a citation twice, or point outside.
func TestClaimsOfAnyText(t *testing.T) {
	pieces := []string{"The pump is blue", ". ", "[1]", "[2, 3]", "[p#0]", "[", "]", "\n\n", "- ", "? ", ": ", "[^1]", "é", "```\n", "(x)", "[999]", "# "}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(rt, "pieces"), "")
		a := judge.Answer{Text: text, Abstained: new(bool), Contexts: []judge.Passage{{ChunkID: "p#0", Text: "The pump is blue."}}}
		a.Citations = rapid.SliceOfN(rapid.SampledFrom([]string{"p#0", "1", "[2]", "ghost"}), 0, 3).Draw(rt, "citations")
		r, err := judge.RunAnswers(context.Background(), []judge.Answer{a}, judge.NewLexical(), judge.AnswerOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		got := r.Answers[0]
		for _, c := range got.Claims {
			sorted := slices.Clone(c.Citations)
			slices.Sort(sorted)
			if len(slices.Compact(sorted)) != len(c.Citations) {
				rt.Fatalf("claim %q cites %v", c.Text, c.Citations)
			}
			for _, at := range c.Citations {
				if at < 0 || at >= len(got.Citations) {
					rt.Fatalf("claim %q cites %d of %d", c.Text, at, len(got.Citations))
				}
			}
		}
	})
}
