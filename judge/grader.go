package judge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/prompts"
)

// Prompts that a model judge uses.
const (
	TokenPrompt = "judge-token" // one digit, read from log-probabilities
	EnumPrompt  = "judge-grade" // JSON under a schema
	YesPrompt   = "judge-yes"   // yes or no, read in either way
)

// What a model judge is asked for.
const (
	AskGrade = "grade" // a grade of 0 to 3
	AskYes   = "yes"   // whether the passage answers: yes is grade 2, no grade 0
)

const (
	// topLogprobs is how many alternatives of the first token are asked for.
	topLogprobs = 20
	// enumPredict is enough for {"grade": 3} in any tokenizer.
	enumPredict = 24
	// minDigitMass is the least probability of the four digits together at
	// which their shares are read as grades.
	minDigitMass = 0.1
	// bytesPerToken is a guess on the safe side for the first try: English has
	// about 4.5. A passage that is still too long is shortened further.
	bytesPerToken = 3
	// shortenings is how often a passage is shortened before it is given up.
	shortenings = 6
)

// ModelOptions configure a model judge.
type ModelOptions struct {
	Model        llm.Model
	NumCtx       int
	NumThread    int
	Seed         int64
	Temperature  float64
	RetryUnknown bool             // make new attempts for pairs that were unknown before
	Ask          string           // AskGrade or AskYes; "" AskGrade
	Prompts      *prompts.Library // nil: the embedded ones
}

// Validate names the first value that makes no sense.
func (o ModelOptions) Validate() error {
	switch {
	case o.Model.Name == "":
		return errors.New("judge.model: no model named")
	case o.NumCtx < 1024:
		return fmt.Errorf("judge.num_ctx: %d is too small, the prompt alone needs 1024", o.NumCtx)
	case o.Temperature < 0:
		return fmt.Errorf("judge.temperature: %g is negative", o.Temperature)
	case o.Ask != "" && o.Ask != AskGrade && o.Ask != AskYes:
		return fmt.Errorf("judge.ask: %q, valid are %s, %s", o.Ask, AskGrade, AskYes)
	}
	return nil
}

// mode is how a server is asked.
type mode int

const (
	modeUnknown mode = iota
	modeToken        // it gives log-probabilities
	modeEnum         // it does not
)

// Model grades with a language model. It asks for one digit, or for yes or no, and
// reads the expected grade from the log-probabilities of its first token; where
// the server gives none, it asks for JSON under an enum schema instead.
type Model struct {
	client llm.Client
	o      ModelOptions
	token  *prompts.Prompt
	enum   *prompts.Prompt
	schema *llm.Schema

	mu   sync.Mutex
	mode mode
}

// NewModel makes a model judge.
func NewModel(client llm.Client, o ModelOptions) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	ids := [2]string{TokenPrompt, EnumPrompt}
	if o.Ask == AskYes {
		ids = [2]string{YesPrompt, YesPrompt}
	}
	token, err := o.Prompts.Get(ids[0])
	if err != nil {
		return nil, err
	}
	enum, err := o.Prompts.Get(ids[1])
	if err != nil {
		return nil, err
	}
	schema, err := llm.CompileSchema(enum.Schema)
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", enum.Where(), err)
	}
	return &Model{client: client, o: o, token: token, enum: enum, schema: schema}, nil
}

// Name is "provider/model prompt@version", as judgments bear it.
func (m *Model) Name() string {
	return fmt.Sprintf("%s/%s %s", m.o.Model.Provider, m.o.Model.Name, m.token.Ref())
}

// Prompts are the references and digests of what the judge asks.
func (m *Model) Prompts() map[string]string {
	return map[string]string{m.token.Ref(): m.token.Digest, m.enum.Ref(): m.enum.Digest}
}

// Grade asks about one pair.
func (m *Model) Grade(ctx context.Context, q Query, chunk *corpus.Chunk) (Grade, error) {
	mode, err := m.probe(ctx)
	switch {
	case err != nil:
		return m.outcome(ctx, Grade{}, err)
	case mode == modeEnum:
		return m.fitted(ctx, form{m.enum, m.askEnum}, q, chunk)
	}
	return m.fitted(ctx, form{m.token, m.askToken}, q, chunk)
}

// probe finds out by one call of its own whether the server gives
// log-probabilities. Were it left to whichever pair comes first, a single odd
// reply would let the grades of the others depend on the order of arrival.
func (m *Model) probe(ctx context.Context) (mode, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode != modeUnknown {
		return m.mode, nil
	}
	messages, err := m.token.Render(map[string]string{"query": "what is a probe", "passage": "A probe is a small trial.", "asked_on": ""})
	if err != nil {
		return modeUnknown, err
	}
	reply, err := m.client.Complete(ctx, m.tokenRequest(messages))
	switch {
	case errors.Is(err, llm.ErrDryRun):
		m.mode = modeToken
	case errors.Is(err, llm.KindBadRequest): // there are servers that refuse to be asked for them
		m.mode = modeEnum
	case err != nil:
		return modeUnknown, err
	case len(reply.Logprobs) == 0:
		m.mode = modeEnum
	default:
		m.mode = modeToken
	}
	return m.mode, nil
}

// form is how a grade is asked for: a prompt, and the call that reads its reply.
type form struct {
	prompt *prompts.Prompt
	ask    func(ctx context.Context, messages []llm.Message) (Grade, llm.Asked, error)
}

// fitted asks with the whole passage, or with as much of it as the window takes.
func (m *Model) fitted(ctx context.Context, f form, q Query, chunk *corpus.Chunk) (Grade, error) {
	passage, cut := CutPassage(chunk.Text, m.room(f.prompt, q))
	for range shortenings {
		grade, err := f.grade(ctx, q, passage)
		grade.Cut = cut
		if !errors.Is(err, llm.KindPromptTooLong) {
			return m.outcome(ctx, grade, err)
		}
		passage, cut = shortened(passage), true
	}
	return Grade{Unknown: UnknownTooLong, Cut: true}, nil
}

// room is the number of passage bytes that surely leave space for the rest.
func (m *Model) room(p *prompts.Prompt, q Query) int {
	fixed := (len(p.Source) + len(q.Text)) / bytesPerToken
	return max(64, (m.o.NumCtx-fixed-enumPredict)*bytesPerToken)
}

func shortened(passage string) string {
	cut, _ := CutPassage(passage, max(16, len(passage)*2/3))
	return cut
}

func (f form) grade(ctx context.Context, q Query, passage string) (Grade, error) {
	asked := ""
	if q.AsOf != nil {
		asked = q.AsOf.UTC().Format("2006-01-02")
	}
	messages, err := f.prompt.Render(map[string]string{"query": q.Text, "passage": passage, "asked_on": asked})
	if err != nil {
		return Grade{}, err
	}
	grade, cost, err := f.ask(ctx, messages)
	grade.Calls = cost.Attempts
	return grade, f.prompt.Blame(err)
}

// outcome turns what became of a question into a grade, and keeps as an error
// only what the whole run would meet again.
func (m *Model) outcome(ctx context.Context, grade Grade, err error) (Grade, error) {
	unusable, isUnusable := errors.AsType[*llm.Unusable](err)
	switch {
	case err == nil:
		return grade, nil
	case isUnusable:
		grade.Grade, grade.Unknown = nil, unknownReason(unusable)
	case errors.Is(err, llm.ErrDryRun):
		grade.Unknown = UnknownCallFailed
	case ctx.Err() != nil:
		return grade, context.Cause(ctx)
	case llm.EndsRun(err) || errors.Is(err, llm.ErrBudget):
		return grade, err
	default:
		grade.Unknown = UnknownCallFailed
	}
	return grade, nil
}

func unknownReason(err error) string {
	switch llm.KindOf(err) {
	case llm.KindEmpty:
		return UnknownEmpty
	case llm.KindRefusal:
		return UnknownRefused
	case llm.KindCutOff:
		return UnknownCutOff
	}
	return UnknownUnreadable
}

func (m *Model) request(messages []llm.Message) llm.Request {
	return llm.Request{Model: m.o.Model, Messages: messages, Options: llm.Options{
		NumCtx: m.o.NumCtx, NumThread: m.o.NumThread, Temperature: m.o.Temperature, Seed: m.o.Seed,
	}}
}

func (m *Model) tokenRequest(messages []llm.Message) llm.Request {
	req := m.request(messages)
	req.Options.NumPredict, req.Options.TopLogprobs = 1, topLogprobs
	return req
}

func (m *Model) askToken(ctx context.Context, messages []llm.Message) (Grade, llm.Asked, error) {
	parse := FromLogprobs
	if m.o.Ask == AskYes {
		parse = func(r llm.Reply) (Grade, error) { return gradeOfVerdict(YesFromLogprobs(r)) }
	}
	return llm.AskWith(ctx, m.client, m.tokenRequest(messages), parse, llm.AskOptions{RetryUnknown: m.o.RetryUnknown})
}

func (m *Model) askEnum(ctx context.Context, messages []llm.Message) (Grade, llm.Asked, error) {
	req := m.request(messages)
	req.Options.NumPredict, req.Schema = enumPredict, m.enum.Schema
	parse := m.enumReader(messages[len(messages)-1].Content)
	if m.o.Ask == AskYes {
		read := verdictReader(m.schema)
		parse = func(r llm.Reply) (Grade, error) { return gradeOfVerdict(read(r)) }
	}
	return llm.AskWith(ctx, m.client, req, parse, llm.AskOptions{RetryUnknown: m.o.RetryUnknown})
}

// enumReader reads a reply under the schema. A server that does not enforce it may
// answer in words: what they repeat of the pair that was asked about is no grade.
func (m *Model) enumReader(asked string) func(llm.Reply) (Grade, error) {
	return func(r llm.Reply) (Grade, error) {
		v, err := llm.ParseWith[struct {
			Grade int `json:"grade"`
		}](r, m.schema)
		if err == nil {
			return Grade{Grade: &v.Grade}, nil
		}
		switch llm.KindOf(err) {
		case llm.KindEmpty, llm.KindRefusal, llm.KindCutOff:
			return Grade{}, err
		}
		if g, ok := ParseGrade(r.Text, asked); ok {
			return Grade{Grade: &g}, nil
		}
		return Grade{}, err
	}
}

// gradeOfVerdict is a yes or no as a grade: of P(yes), the expected grade is
// twice that.
func gradeOfVerdict(f Finding, err error) (Grade, error) {
	if err != nil {
		return Grade{}, err
	}
	out, grade := Grade{PYes: f.P}, 0
	if f.yes() {
		grade = RelevantGrade
	}
	out.Grade = &grade
	if f.P != nil {
		expected := RelevantGrade * *f.P
		out.Expected, out.Probs = &expected, [4]float64{0: 1 - *f.P, RelevantGrade: *f.P}
	}
	return out, nil
}

// FromLogprobs reads a grade from the first token of a reply that is not blank:
// the probabilities of the digits 0 to 3, in whatever white space, made to sum
// to 1. The grade is the expected grade, rounded half up. A reply in which the
// digits together have less than a tenth of the probability holds no grade.
func FromLogprobs(r llm.Reply) (Grade, error) {
	var probs [4]float64
	if first, ok := firstToken(r.Logprobs); ok {
		probs = digitProbs(first)
	}
	mass := probs[0] + probs[1] + probs[2] + probs[3]
	if !(mass >= minDigitMass) {
		return Grade{}, noDigit(r, mass)
	}
	expected := 0.0
	for g := range probs {
		probs[g] /= mass
		expected += float64(float64(g) * probs[g])
	}
	grade, yes := int(math.Floor(expected+0.5)), probs[2]+probs[3]
	return Grade{Grade: &grade, Expected: &expected, PYes: &yes, Probs: probs}, nil
}

func noDigit(r llm.Reply, mass float64) error {
	text, err := llm.ParseText(r)
	switch kind := llm.KindOf(err); {
	case kind == llm.KindEmpty || kind == llm.KindRefusal, kind == llm.KindCutOff && strings.TrimSpace(r.Text) == "":
		return err
	}
	return &llm.Error{Kind: llm.KindNotJSON, Detail: fmt.Sprintf("grades have probability %.3f in %q", mass, clip.Bytes(text+r.Text, 60))}
}

// firstToken skips what a tokenizer puts before the digit.
func firstToken(tokens []llm.TokenLogprob) (llm.TokenLogprob, bool) {
	for _, t := range tokens {
		if trimToken(t.Token) != "" {
			return t, true
		}
	}
	return llm.TokenLogprob{}, false
}

// trimToken drops white space and the marks that tokenizers write for a space.
func trimToken(s string) string { return strings.Trim(s, " \t\r\n▁Ġ") }

func digitProbs(t llm.TokenLogprob) [4]float64 {
	top := t.Top
	if len(top) == 0 {
		top = []llm.TopLogprob{{Token: t.Token, Logprob: t.Logprob}}
	}
	var probs [4]float64
	for _, alt := range top {
		if s := trimToken(alt.Token); len(s) == 1 && s[0] >= '0' && s[0] <= '3' && alt.Logprob <= 1e-6 {
			probs[s[0]-'0'] += math.Exp(alt.Logprob)
		}
	}
	return probs
}
