package generate

import (
	"context"

	"github.com/goldgen/goldgen/datasets"
)

// kind says how the cases of one query type are written: a row of the table that
// kindOf is.
type kind struct {
	// choose picks the evidence and gives the variables of the writing prompt.
	choose func(*writing) (map[string]string, *refusal)
	// quotes says that the type also has a prompt by which the model quotes its
	// evidence; without one, goldgen picks in either mode.
	quotes bool
	gates  []Gate                     // beside Gates
	proofs []step                     // that ask the model, in order
	asks   []string                   // prompts of the proofs that no other type has
	fill   func(*datasets.Case, Unit) // what the case has besides; nil adds nothing
}

// kindOf is the table of query types.
func kindOf(queryType string) (kind, bool) {
	answered := []step{(*writing).askSelfContained, (*writing).askAnswered}
	inPlace := []step{(*writing).askSelfContained, (*writing).askAnsweredInPlace}
	switch queryType {
	case datasets.Factual, datasets.Reformulated:
		return kind{choose: (*writing).chooseSentence, quotes: true, proofs: answered}, true
	case datasets.Keyword:
		return kind{
			choose: (*writing).chooseSentence, quotes: true, gates: []Gate{asWritten(BareWords)},
			proofs: []step{(*writing).askSelfContained, (*writing).askAnsweredKeywords},
		}, true
	case datasets.NearDuplicate:
		return kind{choose: (*writing).chooseDifferent, gates: []Gate{inBothForms(NamesTerm), inBothForms(NamesRival)}, proofs: inPlace, fill: addRivals(datasets.LabelIrrelevant)}, true
	case datasets.RareTerm:
		return kind{choose: (*writing).chooseWithTerm, gates: []Gate{inBothForms(NamesTerm)}, proofs: answered}, true
	case datasets.PermissionSensitive:
		return kind{choose: (*writing).chooseFirst, proofs: answered, fill: fillForbidden}, true
	case datasets.TimeSensitive:
		return kind{choose: (*writing).chooseChanged, gates: []Gate{inBothForms(NamesRival), inBothForms(OtherTime)}, proofs: inPlace, fill: addRivals(datasets.LabelStale)}, true
	case datasets.MultiHop:
		return kind{choose: (*writing).chooseHops, proofs: []step{(*writing).askSelfContained, (*writing).askTogether}}, true
	case datasets.Ambiguous:
		return kind{
			choose: (*writing).chooseReadings, gates: []Gate{inBothForms(NamesTerm), inBothForms(Undecided)},
			proofs: []step{(*writing).askEachReading}, asks: []string{promptReading},
		}, true
	case datasets.OutOfScope:
		return kind{
			choose: (*writing).chooseSubject, proofs: []step{(*writing).askSelfContained, (*writing).askUnanswered},
			fill: func(c *datasets.Case, _ Unit) { expectAbstention(c) },
		}, true
	}
	return kind{}, false
}

// proof is the step that makes each unit's n-th proof, where its type has one.
func proof(n int) step {
	return func(w *writing, ctx context.Context) (*refusal, error) {
		if n >= len(w.kind.proofs) {
			return nil, nil
		}
		return w.kind.proofs[n](w, ctx)
	}
}

// finish gives a case what its type adds, and its judgments their maker.
func (k kind) finish(c *datasets.Case, u Unit, maker string) {
	if k.fill != nil {
		k.fill(c, u)
	}
	for i := range c.Judgments {
		c.Judgments[i].Judge = maker
	}
}

// addRivals gives a case its rivals: grade 0 under the label, and hard negatives.
func addRivals(label string) func(*datasets.Case, Unit) {
	return func(c *datasets.Case, u Unit) {
		for _, r := range u.Rivals {
			j := datasets.RivalJudgment(r.ID, r.DocID, label)
			j.Features, j.Spans = map[string]float64{}, []datasets.Span{}
			c.Judgments = append(c.Judgments, j)
			c.HardNegatives = append(c.HardNegatives, r.ID)
		}
	}
}

// fillForbidden makes the case of an asker who must not see the evidence: it
// expects abstention, and the evidence and its copies are forbidden.
func fillForbidden(c *datasets.Case, u Unit) {
	if !u.Row.Forbidden {
		return
	}
	expectAbstention(c)
	c.Forbidden = append(c.Forbidden, u.Row.ChunkIDs...)
	c.Forbidden = append(c.Forbidden, u.Row.Rivals...)
}

// expectAbstention takes from a case what only an answer has.
func expectAbstention(c *datasets.Case) {
	c.ExpectedAbstention = true
	c.Source, c.Judgments, c.Evidence = []string{}, []datasets.Judgment{}, []datasets.Evidence{}
}
