package generate

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/goldgen/goldgen/llm"
)

// question is one call in the making: a prompt with its variables, what its
// options have of their own, and how the reply is read.
type question[T any] struct {
	prompt *compiled
	vars   map[string]string
	shape  func(*llm.Options) // nil changes nothing
	parse  func(llm.Reply) (T, error)
}

// ask asks until a reply can be read. A unit that has none gets a refusal; an
// error ends the run.
func ask[T any](ctx context.Context, w *writing, q question[T]) (T, *refusal, error) {
	var none T
	messages, err := q.prompt.Render(q.vars)
	if err != nil {
		return none, nil, err
	}
	options := w.m.options.Options
	options.TopLogprobs = 0
	if q.shape != nil {
		q.shape(&options)
	}
	req := llm.Request{Model: w.m.options.Model, Messages: messages, Schema: q.prompt.Schema, Options: options}
	value, asked, err := llm.AskWith(ctx, w.m.client, req, q.parse, w.m.options.Ask)
	w.calls += asked.Attempts
	if err != nil {
		r, err := w.failed(ctx, q.prompt, err)
		return none, r, err
	}
	return value, nil, nil
}

// failed tells what ends the run from what ends this unit.
func (w *writing) failed(ctx context.Context, p *compiled, err error) (*refusal, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, llm.ErrDryRun) {
		return refuse(ReasonDryRun, "prompt %s: not asked yet", p.Ref()), nil
	}
	if errors.Is(err, llm.ErrBudget) || llm.EndsRun(err) {
		return nil, p.Blame(err)
	}
	if unusable, ok := errors.AsType[*llm.Unusable](err); ok {
		w.check("parsed", false, float64(unusable.Attempts))
		reason := string(llm.KindOf(err))
		if reason == "" {
			reason = ReasonUnreadable
		}
		return refuse(reason, "prompt %s: %v", p.Ref(), err), nil
	}
	if errors.Is(err, llm.KindPromptTooLong) {
		return refuse(ReasonPromptTooLong, "prompt %s: %v", p.Ref(), err), nil
	}
	return refuse(ReasonCallFailed, "prompt %s: %v", p.Ref(), err), nil
}

// maxAnswerTokens bounds replies that hold one query; a quote needs more.
const maxAnswerTokens = 96

// pick has a query written about the evidence that goldgen picked.
func (w *writing) pick(ctx context.Context) (query string, r *refusal, err error) {
	vars, r := w.kind.choose(w)
	if r != nil {
		return "", r, nil
	}
	w.addWording(vars)
	query, r, err = ask(ctx, w, question[string]{w.prompt, vars, upTo(maxAnswerTokens), w.parseQuery})
	if r == nil && err == nil {
		w.check("parsed", true, 1)
	}
	return query, r, err
}

func upTo(tokens int) func(*llm.Options) {
	return func(o *llm.Options) { o.NumPredict = min(o.NumPredict, tokens) }
}

// written is a reply of any writing prompt.
type written struct {
	Question string   `json:"question"`
	Keywords []string `json:"keywords"`
	Quotes   []string `json:"quotes"`
}

func (w *writing) parseQuery(reply llm.Reply) (string, error) {
	v, err := llm.ParseWith[written](reply, w.prompt.schema)
	if err != nil {
		return "", err
	}
	return queryOf(v)
}

// queryOf reads the query. White space is the only thing that is put right:
// what the gates see is what is kept.
func queryOf(v written) (string, error) {
	if v.Question != "" {
		return strings.Join(strings.Fields(v.Question), " "), nil
	}
	var list []string
	seen := map[string]bool{}
	for _, k := range v.Keywords {
		k = strings.Join(strings.Fields(k), " ")
		if folded := strings.ToLower(k); k != "" && !seen[folded] {
			seen[folded] = true
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return "", &llm.Error{Kind: llm.KindEmpty, Detail: "the reply holds no query"}
	}
	return strings.Join(list, " "), nil
}

// title names what the chunk stands under: a query can be self-contained only
// when its writer knows.
func title(u Unit) string {
	parts := append([]string{u.Doc.Title}, u.Chunks[0].HeadingPath...)
	var list []string
	for _, p := range parts {
		p = strings.Join(strings.Fields(p), " ")
		if p != "" && (len(list) == 0 || list[len(list)-1] != p) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return u.Doc.ID
	}
	return shorten(strings.Join(list, " > "), 200)
}

func shorten(s string, runes int) string {
	r := []rune(s)
	if len(r) <= runes {
		return s
	}
	return string(r[:runes])
}

func oneToken(o *llm.Options) {
	o.NumPredict, o.Temperature, o.TopLogprobs = 1, 0, 20
}

// parseYesNo returns P(yes): from the first token's log-probabilities where the
// reply has them, renormalised over yes and no; else 1 or 0 by the word itself.
func parseYesNo(reply llm.Reply) (float64, error) {
	if len(reply.Logprobs) > 0 {
		yes, no := 0.0, 0.0
		for _, top := range reply.Logprobs[0].Top {
			switch answerWord(top.Token) {
			case "yes":
				yes += math.Exp(top.Logprob)
			case "no":
				no += math.Exp(top.Logprob)
			}
		}
		if yes+no > 0.05 {
			return yes / (yes + no), nil
		}
	}
	switch answerWord(reply.Text) {
	case "yes":
		return 1, nil
	case "no":
		return 0, nil
	}
	if strings.TrimSpace(reply.Text) == "" {
		return 0, &llm.Error{Kind: llm.KindEmpty}
	}
	return 0, &llm.Error{Kind: llm.KindNotJSON, Detail: "neither yes nor no: " + reply.Text}
}

// answerWord lowers the first word of an answer.
func answerWord(s string) string {
	fields := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !('a' <= r && r <= 'z') })
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}
