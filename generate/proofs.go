package generate

import (
	"context"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// askYes asks a yes/no prompt about a text and the query. It returns P(yes).
func (w *writing) askYes(ctx context.Context, prompt, evidence string) (float64, *refusal, error) {
	vars := map[string]string{"evidence": evidence, "query": w.query}
	return ask(ctx, w, question[float64]{w.m.prompts[prompt], vars, oneToken, parseYesNo})
}

// unlikely is the P(yes) from which a text that must not answer a query may do
// so. It lies far below what the evidence itself must reach.
const unlikely = .5

// askTogether has the model look at both pieces of evidence together, which must
// answer the query, and at each alone, which must not.
func (w *writing) askTogether(ctx context.Context) (*refusal, error) {
	first, second := w.placed(0), w.placed(1)
	together, r, err := w.askYes(ctx, promptAnswered, first+"\n"+second)
	if r != nil || err != nil {
		return r, err
	}
	passed := together >= w.m.options.MinAnswered
	w.check("answered", passed, together)
	if !passed {
		return refuse("answered", "P(both together answer it) %.2f, less than %.2f", together, w.m.options.MinAnswered), nil
	}
	for i, alone := range []string{first, second} {
		yes, r, err := w.askYes(ctx, promptAnswered, alone)
		if r != nil || err != nil {
			return r, err
		}
		w.check("needs_both", yes < unlikely, yes)
		if yes >= unlikely {
			return refuse("one_hop", "P(chunk %s alone answers it) %.2f", w.evidence[i].ChunkID, yes), nil
		}
	}
	return nil, nil
}

// askEachReading has the model look at each reading's evidence: all must be what
// the query may ask for.
func (w *writing) askEachReading(ctx context.Context) (*refusal, error) {
	for i := range w.evidence {
		yes, r, err := w.askYes(ctx, promptReading, w.placed(i))
		if r != nil || err != nil {
			return r, err
		}
		passed := yes >= w.m.options.MinAnswered
		w.check("reading", passed, yes)
		if !passed {
			return refuse("one_reading", "P(it may ask for chunk %s) %.2f, less than %.2f", w.evidence[i].ChunkID, yes, w.m.options.MinAnswered), nil
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
	yes, r, err := w.askYes(ctx, promptAnswered, text)
	if r != nil || err != nil {
		return r, err
	}
	w.check("unanswered", yes < unlikely, yes)
	if yes >= unlikely {
		return refuse("answered_in_source", "P(chunk %s answers it) %.2f", chunk.ID, yes), nil
	}
	return nil, nil
}

// shown is the evidence as the check of the answer sees it: with its place where
// that is what tells it from its rivals.
func (w *writing) shown() string {
	if len(w.u.Rivals) == 0 || w.u.Row.QueryType == datasets.PermissionSensitive {
		return w.candidate().quotes()
	}
	var list []string
	for i := range w.evidence {
		list = append(list, w.placed(i))
	}
	return strings.Join(list, "\n")
}
