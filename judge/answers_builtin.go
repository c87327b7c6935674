package judge

import (
	"context"
	"math"

	"github.com/goldgen/goldgen/retrieve"
)

// LexicalName is the builtin assessor's name.
const LexicalName = "builtin lexical"

// LexicalNote says what the builtin assessor is.
const LexicalNote = "the builtin assessor has no model: support is the share of a claim's content words that stand in the context, correctness the share of the reference's that stand in the answer; it knows no negation and no numbers out of place, and cannot tell relevance"

// Lexical assesses by shared words. It shows that the pipeline works: an
// answer that turns a sentence of its context into the opposite scores 1.
type Lexical struct{}

// NewLexical is the assessor without a model.
func NewLexical() AnswerJudge {
	return AnswerJudge{Assessor: Lexical{}, Name: LexicalName, Builtin: true}
}

// Window implements Assessor: any context fits.
func (Lexical) Window(Question) int { return math.MaxInt }

// Ask implements Assessor.
func (Lexical) Ask(_ context.Context, q Question) (Finding, error) {
	switch q.Kind {
	case Supported:
		return shareFinding(q.Text, q.Against), nil
	case Correct:
		return shareFinding(q.Against, q.Text), nil
	}
	return Finding{Unknown: UnknownNoModel}, nil
}

func shareFinding(of, in string) Finding {
	share, ok := termShare(of, in)
	if !ok {
		return Finding{Unknown: UnknownNoModel}
	}
	return found(share)
}

// termShare is the share of the distinct index terms of one text that stand in
// another; false where the first has none.
func termShare(of, in string) (float64, bool) {
	there := map[string]bool{}
	for _, t := range retrieve.Terms(in) {
		there[t] = true
	}
	wanted := map[string]bool{}
	held := 0
	for _, t := range retrieve.Terms(of) {
		if wanted[t] {
			continue
		}
		wanted[t] = true
		if there[t] {
			held++
		}
	}
	if len(wanted) == 0 {
		return 0, false
	}
	return float64(held) / float64(len(wanted)), true
}
