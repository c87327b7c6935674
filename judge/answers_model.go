package judge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/prompts"
)

// leastYesNoMass is the least probability of yes and no together at which
// their shares are read as an answer.
const leastYesNoMass = 0.1

// answerPrompts names the prompt of each kind of question.
var answerPrompts = map[QuestionKind]string{
	Supported: "answer-supported", Relevant: "answer-relevant", Correct: "answer-correct", Declined: "answer-declined",
}

// AnswerModel assesses answers with a language model. It asks for one word and
// reads P(yes) from the log-probabilities of its first token; where the server
// gives none, it asks for JSON under an enum schema instead.
type AnswerModel struct {
	m       *Model // calls, options, and what becomes of errors
	prompts map[QuestionKind]*prompts.Prompt
	schemas map[QuestionKind]*llm.Schema
}

// NewAnswerModel makes an assessor.
func NewAnswerModel(client llm.Client, o ModelOptions) (*AnswerModel, error) {
	m, err := NewModel(client, o)
	if err != nil {
		return nil, err
	}
	a := &AnswerModel{m: m, prompts: map[QuestionKind]*prompts.Prompt{}, schemas: map[QuestionKind]*llm.Schema{}}
	for kind, id := range answerPrompts {
		p, err := o.Prompts.Get(id)
		if err != nil {
			return nil, err
		}
		if a.schemas[kind], err = llm.CompileSchema(p.Schema); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", p.Where(), err)
		}
		a.prompts[kind] = p
	}
	return a, nil
}

// Name is "provider/model answer-supported@version".
func (a *AnswerModel) Name() string {
	return fmt.Sprintf("%s/%s %s", a.m.o.Model.Provider, a.m.o.Model.Name, a.prompts[Supported].Ref())
}

// Prompts are the references and digests of what the assessor asks.
func (a *AnswerModel) Prompts() map[string]string {
	out := map[string]string{}
	for _, p := range a.prompts {
		out[p.Ref()] = p.Digest
	}
	return out
}

// Window implements Assessor.
func (a *AnswerModel) Window(q Question) int {
	return a.m.room(a.prompts[q.Kind], Query{Text: q.Query + q.Text})
}

// Ask implements Assessor.
func (a *AnswerModel) Ask(ctx context.Context, q Question) (Finding, error) {
	mode, err := a.m.probe(ctx)
	if err != nil {
		return a.outcome(ctx, Finding{}, err)
	}
	prompt := a.prompts[q.Kind]
	messages, err := prompt.Render(variables(q))
	if err != nil {
		return Finding{}, err
	}
	req, parse := a.m.tokenRequest(messages), YesFromLogprobs
	if mode == modeEnum {
		req, parse = a.enumRequest(q.Kind, messages), verdictReader(a.schemas[q.Kind])
	}
	f, cost, err := llm.AskWith(ctx, a.m.client, req, parse, llm.AskOptions{RetryUnknown: a.m.o.RetryUnknown})
	f.Calls = cost.Attempts
	return a.outcome(ctx, f, prompt.Blame(err))
}

func variables(q Question) map[string]string {
	switch q.Kind {
	case Supported:
		return map[string]string{"context": q.Against, "question": q.Query, "claim": q.Text}
	case Correct:
		return map[string]string{"question": q.Query, "reference": q.Against, "answer": q.Text}
	}
	return map[string]string{"question": q.Query, "answer": q.Text}
}

// outcome turns what became of a question into a finding, and keeps as an error
// only what the whole run would meet again.
func (a *AnswerModel) outcome(ctx context.Context, f Finding, err error) (Finding, error) {
	if errors.Is(err, llm.KindPromptTooLong) {
		f.Value, f.Unknown = nil, UnknownTooLong
		return f, nil
	}
	grade, err := a.m.outcome(ctx, Grade{}, err)
	if grade.Unknown != "" {
		f.Value, f.Unknown = nil, grade.Unknown
	}
	return f, err
}

func (a *AnswerModel) enumRequest(kind QuestionKind, messages []llm.Message) llm.Request {
	req := a.m.request(messages)
	req.Options.NumPredict, req.Schema = enumPredict, a.prompts[kind].Schema
	return req
}

// verdictReader reads a reply under the schema, or the bare word of a server that
// does not enforce it.
func verdictReader(schema *llm.Schema) func(llm.Reply) (Finding, error) {
	return func(r llm.Reply) (Finding, error) {
		v, err := llm.ParseWith[struct {
			Verdict string `json:"verdict"`
		}](r, schema)
		if err == nil {
			return verdictOf(v.Verdict == "yes"), nil
		}
		switch llm.KindOf(err) {
		case llm.KindEmpty, llm.KindRefusal, llm.KindCutOff:
			return Finding{}, err
		}
		if yes, ok := ParseYesNo(r.Text); ok {
			return verdictOf(yes), nil
		}
		return Finding{}, err
	}
}

func verdictOf(yes bool) Finding {
	if yes {
		return found(1)
	}
	return found(0)
}

var bareYesNo = regexp.MustCompile(`(?i)^[\s"'*_` + "`" + `(\[{]*(yes|no)[\s"'*_` + "`" + `)\]}.!]*$`)

// ParseYesNo reads a reply that is yes or no and nothing else. A word within a
// sentence is no verdict: "no doubt about it" would be the wrong one.
func ParseYesNo(text string) (yes, ok bool) {
	m := bareYesNo.FindStringSubmatch(text)
	if m == nil {
		return false, false
	}
	return strings.EqualFold(m[1], "yes"), true
}

// YesFromLogprobs reads P(yes) from the first token of a reply that is not
// blank: the probabilities of yes and no, in whatever case and white space,
// made to sum to 1. From one half on it is a yes. A reply in which the two
// together have less than a tenth of the probability holds no verdict.
func YesFromLogprobs(r llm.Reply) (Finding, error) {
	yes, no := 0.0, 0.0
	if first, ok := firstToken(r.Logprobs); ok {
		yes, no = yesNoProbs(first)
	}
	if !(yes+no >= leastYesNoMass) {
		return Finding{}, noVerdict(r, yes+no)
	}
	p := yes / (yes + no)
	f := verdictOf(p >= 0.5)
	f.P = &p
	return f, nil
}

func yesNoProbs(t llm.TokenLogprob) (yes, no float64) {
	top := t.Top
	if len(top) == 0 {
		top = []llm.TopLogprob{{Token: t.Token, Logprob: t.Logprob}}
	}
	for _, alt := range top {
		if !(alt.Logprob <= 1e-6) {
			continue
		}
		switch strings.ToLower(trimToken(alt.Token)) {
		case "yes":
			yes += math.Exp(alt.Logprob)
		case "no":
			no += math.Exp(alt.Logprob)
		}
	}
	return yes, no
}

func noVerdict(r llm.Reply, mass float64) error {
	text, err := llm.ParseText(r)
	switch kind := llm.KindOf(err); {
	case kind == llm.KindEmpty || kind == llm.KindRefusal, kind == llm.KindCutOff && strings.TrimSpace(r.Text) == "":
		return err
	}
	return &llm.Error{Kind: llm.KindNotJSON, Detail: fmt.Sprintf("yes and no have probability %.3f in %q", mass, clip.Bytes(text+r.Text, 60))}
}
