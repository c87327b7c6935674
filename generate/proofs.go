package generate

import (
	"context"
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// DefaultMinAnswered is the least P(yes) for a query to count as answered. A
// 1.5B model says yes with .3 to .8 to questions about the same subject that the
// evidence does not answer, and mostly with more than .8 to those that it does
// (12 pairs, AUC .94).
const DefaultMinAnswered = .8

// unlikely is the P(yes) from which a text that must not answer a query may do
// so. It lies far below what the evidence itself must reach.
const unlikely = .5

// askSelfContained has the model look at queries of which the rule is not sure,
// with nothing but the query, as it was written.
func (w *writing) askSelfContained(ctx context.Context) (*refusal, error) {
	if !unsureSelfContained(w.candidate) {
		return nil, nil
	}
	p := w.m.prompts[promptSelfContained]
	yes, r, err := ask(ctx, w, question[float64]{p, map[string]string{"query": w.candidate.clean()}, oneToken, parseYesNo})
	if r != nil || err != nil {
		return r, err
	}
	passed := yes >= .5
	w.check("self_contained_model", passed, yes)
	if !passed {
		return refuse("self_contained", "P(says what it is about) %.2f", yes), nil
	}
	return nil, nil
}

// claim is what a yes/no prompt asks about a text and the query.
type claim struct {
	prompt, text string
	check        string // records P(yes)
	reason       string // of the reject where P(yes) is not what it must be
	says         string // the claim in words, for its detail
}

// mustHold asks about a claim that must be likely to hold.
func (w *writing) mustHold(ctx context.Context, c claim) (*refusal, error) {
	yes, r, err := w.askYes(ctx, c)
	if r != nil || err != nil {
		return r, err
	}
	least := w.m.options.MinAnswered
	passed := yes >= least
	w.check(c.check, passed, yes)
	if !passed {
		return refuse(c.reason, "P(%s) %.2f, less than %.2f", c.says, yes, least), nil
	}
	return nil, nil
}

// mustNotHold asks about a claim that must be unlikely to hold.
func (w *writing) mustNotHold(ctx context.Context, c claim) (*refusal, error) {
	yes, r, err := w.askYes(ctx, c)
	if r != nil || err != nil {
		return r, err
	}
	passed := yes < unlikely
	w.check(c.check, passed, yes)
	if !passed {
		return refuse(c.reason, "P(%s) %.2f", c.says, yes), nil
	}
	return nil, nil
}

// askYes returns P(yes).
func (w *writing) askYes(ctx context.Context, c claim) (float64, *refusal, error) {
	vars := map[string]string{"evidence": c.text, "query": w.candidate.Query}
	return ask(ctx, w, question[float64]{w.m.prompts[c.prompt], vars, oneToken, parseYesNo})
}

// askAnswered has the model look at the evidence and the query alone.
func (w *writing) askAnswered(ctx context.Context) (*refusal, error) {
	return w.mustHold(ctx, answeredBy(w.proof()))
}

// proof is the evidence as it is shown to a model that must find the answer in it.
// What code says of itself is shown under its name: a developer who asks how to do
// something has the answer once that is known.
func (w *writing) proof() string {
	if w.u.Chunks[0].Unit == corpus.UnitCodeSymbol {
		return w.allPlaced()
	}
	return w.candidate.quotes()
}

// allPlaced is all the evidence, each piece under what it stands under.
func (w *writing) allPlaced() string {
	var list []string
	for i := range w.evidence {
		list = append(list, w.placed(i))
	}
	return strings.Join(list, "\n")
}

// askAnsweredKeywords does so for a query of bare words.
func (w *writing) askAnsweredKeywords(ctx context.Context) (*refusal, error) {
	c := answeredBy(w.proof())
	c.prompt = promptAnsweredKeywords
	return w.mustHold(ctx, c)
}

// askAnsweredInPlace shows the evidence with its place where that is what tells
// it from its rivals.
func (w *writing) askAnsweredInPlace(ctx context.Context) (*refusal, error) {
	if len(w.u.Rivals) == 0 {
		return w.askAnswered(ctx)
	}
	return w.mustHold(ctx, answeredBy(w.allPlaced()))
}

func answeredBy(evidence string) claim {
	return claim{promptAnswered, evidence, "answered", "answered", "the evidence answers it"}
}

// askTogether has the model look at both pieces of evidence together, which must
// answer the query, and at each alone, which must not.
func (w *writing) askTogether(ctx context.Context) (*refusal, error) {
	first, second := w.placed(0), w.placed(1)
	r, err := w.mustHold(ctx, claim{promptAnswered, first + "\n" + second, "answered", "answered", "both together answer it"})
	if r != nil || err != nil {
		return r, err
	}
	for i, alone := range []string{first, second} {
		says := fmt.Sprintf("chunk %s alone answers it", w.evidence[i].ChunkID)
		if r, err := w.mustNotHold(ctx, claim{promptAnswered, alone, "needs_both", "one_hop", says}); r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// askEachReading has the model look at each reading's evidence: all must be what
// the query may ask for.
func (w *writing) askEachReading(ctx context.Context) (*refusal, error) {
	for i := range w.evidence {
		says := fmt.Sprintf("it may ask for chunk %s", w.evidence[i].ChunkID)
		if r, err := w.mustHold(ctx, claim{promptReading, w.placed(i), "reading", "one_reading", says}); r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// askUnanswered has the model look at the chunk that the query sounds like, which
// must not answer it. That no other chunk does is the judge's to show.
func (w *writing) askUnanswered(ctx context.Context) (*refusal, error) {
	chunk := w.u.Chunks[0]
	text, r := w.window(chunk.Start, chunk.Start)
	if r != nil {
		return r, nil
	}
	return w.mustNotHold(ctx, claim{promptAnswered, text, "unanswered", "answered_in_source", fmt.Sprintf("chunk %s answers it", chunk.ID)})
}
